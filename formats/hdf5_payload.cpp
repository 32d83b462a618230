#include "formats/hdf5_payload.hpp"

#include <zlib.h>

namespace feedbench::formats::hdf5 {

Status PayloadHandler::take(const UnitPart& part, std::span<const std::byte> data) {
    if (!visitor_) return {};
    if (!is_compressed_) return visitor_(part.payload_offset + part.within, data);
    if (part.within == 0) packed_.clear();
    packed_.insert(packed_.end(), data.begin(), data.end());
    return packed_.size() == part.unit.stored_bytes ? decompress(part) : Status{};
}

Status PayloadHandler::decompress(const UnitPart& part) {
    plain_.resize(unit_bytes_);
    uLongf bytes = plain_.size();
    const int code = uncompress(reinterpret_cast<Bytef*>(plain_.data()), &bytes,
                                reinterpret_cast<const Bytef*>(packed_.data()), packed_.size());
    if (code != Z_OK || bytes != unit_bytes_)
        return format_error(path_, "a gzip chunk does not decompress to its " + std::to_string(unit_bytes_) + " bytes",
                            static_cast<std::int64_t>(part.unit.offset));
    return visitor_(part.payload_offset, plain_);
}

} // namespace feedbench::formats::hdf5
