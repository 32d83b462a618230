// Parquet: a table in row groups, in each the columns one after another. A sample is a row; what is read of it are the
// columns that the plan names.
//
// Read from any file: footers and page headers, whatever the codec, the encoding and the nesting; bytes of pages are
// counted and, where they carry a CRC, checked, never decoded: that is the client's work. Content is compared in files
// of plain, uncompressed, REQUIRED columns of fixed width, which are those that are written here.
#include <list>
#include <mutex>

#include "formats/parquet_encoder.hpp"
#include "formats/parquet_reader.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats {

namespace {

using parquet::FileLayout;
using parquet::WrittenFile;

bool is_same_table(const FileShape& a, const FileShape& b) {
    const bool same_columns = a.columns == b.columns || (a.columns && b.columns && *a.columns == *b.columns);
    return same_columns && a.dims == b.dims && a.sample_count == b.sample_count && a.element_bytes == b.element_bytes &&
           a.row_group_rows == b.row_group_rows;
}

// The files of the last shapes asked for: a footer of many row groups is not free to lay out.
class WrittenFiles {
  public:
    struct Entry {
        FileShape shape;
        std::shared_ptr<const WrittenFile> file;
        std::shared_ptr<const FileLayout> layout;
    };
    Expected<Entry> get(const FileShape& shape) {
        {
            const std::lock_guard lock(mutex_);
            for (auto found = recent_.begin(); found != recent_.end(); ++found)
                if (is_same_table(found->shape, shape)) {
                    recent_.splice(recent_.begin(), recent_, found);
                    return *found;
                }
        }
        if (const Status status = parquet::check_shape(shape); !status) return status.error();
        Entry entry{.shape = shape, .file = std::make_shared<const WrittenFile>(shape), .layout = nullptr};
        entry.layout = std::make_shared<const FileLayout>(entry.file->layout());
        const std::lock_guard lock(mutex_);
        recent_.push_front(entry);
        if (recent_.size() > kEntriesMax) recent_.pop_back();
        return entry;
    }

  private:
    static constexpr std::size_t kEntriesMax = 8;
    std::mutex mutex_;
    std::list<Entry> recent_;
};

class ParquetFormat final : public Format {
  public:
    std::string_view name() const override { return "parquet"; }
    bool has_checksum() const override { return true; }
    bool is_kept_open() const override { return true; }
    std::uint32_t samples_together(const FileShape& shape) const override { return shape.row_group_rows; }
    // The footer twice, while it is put together, and what has been read from it.
    std::uint64_t reader_bytes(const FileShape& shape) const override {
        const auto written = written_.get(shape);
        if (!written) return 0; // an adopted file: nobody knows before it is opened
        return parquet::kTailBytes + 2 * (written->layout->file_bytes - written->layout->footer_begin) +
               written->layout->chunks.size() * sizeof(parquet::Chunk);
    }
    Status supports(const FileShape& shape) const override { return parquet::check_shape(shape); }

    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        const auto written = written_.get(shape);
        if (!written) return written.error();
        return parquet::make_encoder(written->file, std::move(content));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        const auto written = written_.get(shape);
        if (!written) return written.error();
        return written->file->file_bytes();
    }

    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        auto known = layout_of(request);
        if (!known) return known.error();
        return parquet::make_row_reader(request, std::move(*known), shelf_);
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        auto known = layout_of(request);
        if (!known) return known.error();
        return parquet::make_row_stream(request, std::move(*known), shelf_);
    }

    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_size(request); !status) return status.error();
        std::vector<std::byte> end(parquet::kEndBytes);
        if (const Status status = read(request.file_bytes - end.size(), end); !status) return status.error();
        const auto footer_begin = parquet::find_footer(end, request.file_bytes, request.path);
        if (!footer_begin) return footer_begin.error();
        std::vector<std::byte> footer(request.file_bytes - parquet::kEndBytes - *footer_begin);
        if (const Status status = read(*footer_begin, footer); !status) return status.error();
        parquet::FooterRequest asked{.path = request.path,
                                     .file_bytes = request.file_bytes,
                                     .footer_begin = *footer_begin,
                                     .footer = footer,
                                     .expected = request.shape};
        if (request.shape.dims.empty()) asked.expected.sample_count = 0; // adopted: the file says how many rows
        const auto layout = parquet::read_footer(asked);
        if (!layout) return layout.error();
        FileShape shape;
        shape.sample_count = layout->row_count();
        if (layout->row_bytes > 0) shape.dims = {layout->row_bytes};
        if (layout->group_count() > 0) shape.row_group_rows = layout->group_rows(0);
        return shape;
    }

  private:
    static Status check_size(const ReadRequest& request) {
        if (request.file_bytes >= parquet::kLeastFileBytes) return {};
        return format_error(request.path,
                            "a parquet file has at least " + std::to_string(parquet::kLeastFileBytes) +
                                " bytes, found " + std::to_string(request.file_bytes),
                            0);
    }
    // Where there is no content: the layout of a file that would be written. Else nothing, the file has it.
    Expected<std::shared_ptr<const FileLayout>> layout_of(const ReadRequest& request) const {
        if (const Status status = check_size(request); !status) return status.error();
        if (request.has_content) return std::shared_ptr<const FileLayout>();
        const auto written = written_.get(request.shape);
        if (!written) return written.error();
        return written->layout;
    }

    mutable WrittenFiles written_;
    mutable parquet::LayoutShelf shelf_;
};

} // namespace

const Format& parquet_format() {
    static const ParquetFormat format;
    return format;
}

} // namespace feedbench::formats
