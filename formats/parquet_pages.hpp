// The pages of a column chunk, looked at as their bytes pass by: headers, sizes, count of values, CRC.
//
// Thread: one user. Owner: the reader. Units: bytes, file offsets. Errors: format_error at the page's place.
// Source: parquet.thrift, PageHeader; README "Data Pages" (the CRC covers what follows the header, as it lies).
#pragma once

#include "formats/format.hpp"
#include "formats/parquet_layout.hpp"

namespace feedbench::formats::parquet {

class PageWalk {
  public:
    explicit PageWalk(const ReadRequest& request);
    // The next chunk; its bytes follow by feed(), all of them, in order.
    struct ChunkToCome {
        Chunk place;
        const ReadColumn* column = nullptr;
        std::uint32_t row_count = 0;
        std::uint64_t payload_offset = 0; // of its first value
        bool has_payload = false;         // values are plain: what lies in data pages is what was written
    };
    void begin(const ChunkToCome& chunk);
    Status feed(std::span<const std::byte> data);

  private:
    Status take_header(std::span<const std::byte>& data);
    Error placed(Error error, std::span<const std::byte> part) const;
    Status end_page();
    Status end_chunk() const;
    Error wrong(const std::string& what) const;

    std::string path_;
    bool checks_crc_;
    PayloadVisitor visitor_;
    ChunkToCome chunk_;
    std::uint64_t position_ = 0; // in the file
    std::vector<std::byte> header_;
    std::uint64_t page_begin_ = 0;
    std::uint64_t page_left_ = 0; // bytes of the page that are still to come
    bool in_page_ = false, is_data_ = false, has_crc_ = false;
    std::uint32_t expected_crc_ = 0, crc_ = 0;
    std::uint64_t values_ = 0, payload_ = 0;
};

} // namespace feedbench::formats::parquet
