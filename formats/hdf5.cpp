// HDF5: the layout of a file comes from libhdf5, sample bytes go through the storage backend, so the hot path has no
// library lock.
//
// A compressed file is read by extents as well, chunk by chunk as the library would, and decoded only where content is
// checked: decompression is the client's work, not the storage's. The library insists on a path of this host for its
// metadata.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>

#include "formats/hdf5_encoder.hpp"
#include "formats/hdf5_reader.hpp"
#include "formats/registry.hpp"

namespace feedbench::formats {

namespace {

using hdf5::Layout;
using hdf5::Template;

// A file of this host, read for its metadata.
class LocalFile {
  public:
    explicit LocalFile(const ReadRequest& request) : path_(request.path) {
        descriptor_ = ::open(request.local_path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) error_number_ = errno;
    }
    LocalFile(const LocalFile&) = delete;
    LocalFile& operator=(const LocalFile&) = delete;
    ~LocalFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    Expected<std::uint64_t> size_bytes() {
        if (descriptor_ < 0) return storage_error("open", path_, error_number_);
        struct stat facts {};
        if (::fstat(descriptor_, &facts) != 0) return storage_error("stat", path_, errno);
        if (!S_ISREG(facts.st_mode)) return format_error(path_, "is not a regular file");
        return static_cast<std::uint64_t>(facts.st_size);
    }

    // The library reads metadata in many small pieces, nearly all of them here: one read instead, outside its lock.
    Status load_head(std::uint64_t size_bytes) {
        head_.resize(std::min<std::uint64_t>(size_bytes, kHeadBytes));
        return read_direct(0, head_);
    }

    Status read(std::uint64_t offset, std::span<std::byte> out) const {
        if (offset > head_.size() || out.size() > head_.size() - offset) return read_direct(offset, out);
        std::memcpy(out.data(), head_.data() + offset, out.size());
        return {};
    }

  private:
    static constexpr std::uint64_t kHeadBytes = 8192;

    Status read_direct(std::uint64_t offset, std::span<std::byte> out) const {
        while (!out.empty()) {
            const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return storage_error("read", path_, errno, {}, static_cast<std::int64_t>(offset));
            if (got == 0) return format_error(path_, "ends early", static_cast<std::int64_t>(offset));
            out = out.subspan(static_cast<std::size_t>(got));
            offset += static_cast<std::uint64_t>(got);
        }
        return {};
    }

    std::string path_;
    int descriptor_ = -1, error_number_ = 0;
    std::vector<std::byte> head_;
};

bool is_same(const FileShape& a, const FileShape& b) {
    return a.dims == b.dims && a.sample_count == b.sample_count && a.element_bytes == b.element_bytes &&
           a.record_dataset_count == b.record_dataset_count && a.chunk_dims == b.chunk_dims &&
           a.max_shape == b.max_shape && a.compression == b.compression && a.compression_level == b.compression_level;
}

// Templates of the last shapes asked for: a dataset has one shape, or a size for each file, asked in order.
class TemplateCache {
  public:
    Expected<std::shared_ptr<const Template>> get(const FileShape& shape) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(recent_.begin(), recent_.end(),
                                            [&](const Entry& entry) { return is_same(entry.shape, shape); });
            if (found != recent_.end()) {
                recent_.splice(recent_.begin(), recent_, found);
                return found->made;
            }
        }
        auto made = hdf5::make_template(shape, [&](std::uint32_t, std::uint64_t) { return bound_of(shape); });
        if (!made) return made.error();
        Entry entry{shape, std::make_shared<const Template>(std::move(*made))};
        const std::lock_guard lock(mutex_);
        recent_.push_front(entry);
        if (recent_.size() > kEntriesMax) recent_.pop_back();
        return entry.made;
    }

  private:
    struct Entry {
        FileShape shape;
        std::shared_ptr<const Template> made;
    };
    static constexpr std::size_t kEntriesMax = 16;

    static std::uint32_t bound_of(const FileShape& shape) {
        std::uint64_t unit_bytes = shape.element_bytes;
        for (const std::uint64_t d : hdf5::chunk_dims_of(shape)) unit_bytes *= d;
        return hdf5::stored_bytes_bound(unit_bytes);
    }

    std::mutex mutex_;
    std::list<Entry> recent_;
};

class Hdf5 final : public Format {
  public:
    std::string_view name() const override { return "hdf5"; }
    bool has_checksum() const override { return false; } // only metadata has one, and the library looks at it
    bool open_may_block() const override { return true; }
    Status supports(const FileShape& shape) const override { return hdf5::check_shape(shape); }

    // Compressed: what incompressible content comes to at most; the encoder of a file knows its true size.
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        const auto made = templates_.get(shape);
        if (!made) return made.error();
        return (*made)->layout.file_bytes;
    }

    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (shape.compression != FileShape::Compression::none)
            return hdf5::make_compressing_encoder(shape, std::move(content));
        auto made = templates_.get(shape);
        if (!made) return made.error();
        return hdf5::make_encoder(std::move(*made), std::move(content));
    }

    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        auto layout = layout_of(request);
        if (!layout) return layout.error();
        return hdf5::make_sample_reader(std::move(*layout), request);
    }

    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        auto layout = layout_of(request);
        if (!layout) return layout.error();
        return hdf5::make_stream_reader(std::move(*layout), request);
    }

    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        auto layout = hdf5::read_layout({request.path, request.file_bytes, 0, read});
        if (!layout) return layout.error();
        return std::move(layout->shape);
    }

  private:
    Expected<std::shared_ptr<const Layout>> layout_of(const ReadRequest& request) const {
        if (!request.has_content) {
            auto made = templates_.get(request.shape);
            if (!made) return made.error();
            return std::shared_ptr<const Layout>(*made, &(*made)->layout);
        }
        if (request.local_path.empty())
            return format_error(
                request.path,
                "hdf5 files are opened by libhdf5, which needs a path on this host; this storage has none");
        LocalFile file(request);
        const auto size_bytes = file.size_bytes();
        if (!size_bytes) return size_bytes.error();
        if (*size_bytes != request.file_bytes)
            return format_error(request.path, "has " + std::to_string(*size_bytes) + " bytes, expected " +
                                                  std::to_string(request.file_bytes));
        if (Status loaded = file.load_head(*size_bytes); !loaded) return loaded.error();
        const std::uint32_t dataset_count = request.shape.dims.empty() ? 0 : request.shape.record_dataset_count;
        auto layout =
            hdf5::read_layout({request.path, *size_bytes, dataset_count,
                               [&](std::uint64_t offset, std::span<std::byte> out) { return file.read(offset, out); }});
        if (!layout) return layout.error();
        if (const Status checked = hdf5::check_expected(request.path, *layout, request.shape); !checked)
            return checked.error();
        return std::make_shared<const Layout>(std::move(*layout));
    }

    mutable TemplateCache templates_;
};

} // namespace

const Format& hdf5_format() {
    static const Hdf5 format;
    return format;
}

} // namespace feedbench::formats
