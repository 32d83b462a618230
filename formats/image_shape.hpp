// What a FileShape must satisfy to be a grey image: one sample a file, rows x pixels of one byte.
//
// Thread: any. Owner: none. Units: pixels. Errors: config_error with the numbers.
// Source: reference.md section 1 (jpeg, png: grey images d1 x d2).
#pragma once

#include "formats/shape_check.hpp"

namespace feedbench::formats {

Status check_image_shape(std::string_view format, const FileShape& shape, std::uint64_t most_pixels_each_way);
// The same of what a reader is asked for, which may have no dims.
Status check_image_request(std::string_view format, const ReadRequest& request, std::uint64_t most_pixels_each_way);

} // namespace feedbench::formats
