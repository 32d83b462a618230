// A grey image as libjpeg-turbo's baseline encoder makes it at its default quality of 75, as the reference's images are
// made. The same pixels give the same bytes (integer DCT), so that a file can be checked by making it again.
//
// Thread: any. Owner: the caller. Units: pixels, bytes. Errors: config_error with the library's words.
// Source: libjpeg's libjpeg.txt. <jpeglib.h> is included in jpeg_encode.cpp alone.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

inline constexpr std::uint64_t kMaxJpegDimension = 65500; // of the library

struct JpegImage {
    std::uint32_t height = 0, width = 0;
};
Expected<std::vector<std::byte>> encode_jpeg(JpegImage image, const ContentSource& content);

} // namespace feedbench::formats
