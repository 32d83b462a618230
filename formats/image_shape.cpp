#include "formats/image_shape.hpp"

namespace feedbench::formats {

namespace {

Status check_one_sample(std::string_view format, const FileShape& shape) {
    if (shape.sample_count == 1) return {};
    return config_error(std::string(format) + " file: 1 sample a file (it is an image), found " +
                        std::to_string(shape.sample_count));
}

} // namespace

Status check_image_shape(std::string_view format, const FileShape& shape, std::uint64_t most_pixels_each_way) {
    if (const Status status = check_plain_shape(format, shape); !status) return status;
    if (const Status status = check_one_sample(format, shape); !status) return status;
    const std::string who = std::string(format) + " file: ";
    if (shape.element_bytes != 1)
        return config_error(who + "elements of 1 byte (a grey pixel), found " + std::to_string(shape.element_bytes));
    if (shape.dims.size() != 2)
        return config_error(who + "2 dimensions (rows and pixels), found " + describe_dims(shape.dims));
    for (const std::uint64_t d : shape.dims)
        if (d > most_pixels_each_way)
            return config_error(who + "at most " + std::to_string(most_pixels_each_way) + " pixels each way, found " +
                                describe_dims(shape.dims));
    return {};
}

Status check_image_request(std::string_view format, const ReadRequest& request, std::uint64_t most_pixels_each_way) {
    return request.shape.dims.empty() ? check_one_sample(format, request.shape)
                                      : check_image_shape(format, request.shape, most_pixels_each_way);
}

} // namespace feedbench::formats
