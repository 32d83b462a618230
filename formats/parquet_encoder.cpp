#include "formats/parquet_encoder.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"

namespace feedbench::formats::parquet {

namespace {

class TableEncoder final : public Encoder {
  public:
    TableEncoder(std::shared_ptr<const WrittenFile> file, ContentSource content)
        : file_(std::move(file)), content_(std::move(content)) {
        append_text(ready_, kMagic);
    }
    std::uint64_t file_bytes() const override { return file_->file_bytes(); }

    std::size_t fill(std::span<std::byte> out) override {
        std::size_t filled = 0;
        while (filled < out.size()) {
            const std::span<std::byte> rest = out.subspan(filled);
            if (given_ < ready_.size()) {
                const std::size_t size = std::min(rest.size(), ready_.size() - given_);
                std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(given_), size, rest.begin());
                given_ += size;
                filled += size;
            } else if (payload_left_ > 0) { // a row too large to be kept
                const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), payload_left_));
                content_(payload_, rest.first(size));
                payload_ += size;
                payload_left_ -= size;
                filled += size;
            } else if (!prepare()) {
                break;
            }
        }
        return filled;
    }

  private:
    // The next page, or the footer; false at the end.
    bool prepare() {
        given_ = 0;
        ready_.clear();
        if (is_done_) return false;
        if (group_ == file_->group_count()) {
            ready_ = file_->footer();
            is_done_ = true;
            return true;
        }
        const std::uint64_t width = row_bytes(file_->columns()[column_]);
        const std::uint32_t rows = std::min(rows_in_page(width), file_->group_rows(group_) - row_);
        const std::uint64_t bytes = rows * width;
        if (bytes <= kPageBytes) {
            page_.resize(bytes);
            content_(payload_, page_);
            ready_ = page_header(rows, width, crc32_zip(0, page_));
            append_bytes(ready_, page_);
            payload_ += bytes;
        } else { // its CRC comes before it: it is made twice
            ready_ = page_header(rows, width, crc_of(bytes));
            payload_left_ = bytes;
        }
        row_ += rows;
        if (row_ == file_->group_rows(group_)) {
            row_ = 0;
            if (++column_ == file_->columns().size()) {
                column_ = 0;
                ++group_;
            }
        }
        return true;
    }

    std::uint32_t crc_of(std::uint64_t bytes) {
        std::uint32_t crc = 0;
        for (std::uint64_t at = 0; at < bytes; at += page_.size()) {
            page_.resize(std::min(kPageBytes, bytes - at));
            content_(payload_ + at, page_);
            crc = crc32_zip(crc, page_);
        }
        return crc;
    }

    std::shared_ptr<const WrittenFile> file_;
    ContentSource content_;
    std::vector<std::byte> ready_, page_; // ready_: what fill() gives next
    std::size_t given_ = 0, column_ = 0;
    std::uint32_t group_ = 0, row_ = 0;
    std::uint64_t payload_ = 0, payload_left_ = 0;
    bool is_done_ = false;
};

} // namespace

std::unique_ptr<Encoder> make_encoder(std::shared_ptr<const WrittenFile> file, ContentSource content) {
    return std::make_unique<TableEncoder>(std::move(file), std::move(content));
}

} // namespace feedbench::formats::parquet
