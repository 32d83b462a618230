#include "formats/shape_check.hpp"

namespace feedbench::formats {

std::string describe(const FileShape& shape) {
    std::string text = std::to_string(shape.sample_count) + (shape.sample_count == 1 ? " sample of " : " samples of ");
    for (const std::uint64_t d : shape.dims) text += std::to_string(d) + "x";
    return text + std::to_string(shape.element_bytes) + " bytes";
}

std::string describe_dims(const std::vector<std::uint64_t>& dims) {
    std::string text = "(";
    for (std::size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
    return text + (dims.size() == 1 ? ",)" : ")");
}

Status check_dims(std::string_view format, const FileShape& shape) {
    const std::string who = std::string(format) + " file: ";
    if (shape.sample_count == 0) return config_error(who + "at least 1 sample a file is needed, found 0");
    if (shape.element_bytes != 1 && shape.element_bytes != 2 && shape.element_bytes != 4 && shape.element_bytes != 8)
        return config_error(who + "elements have 1, 2, 4 or 8 bytes, found " + std::to_string(shape.element_bytes));
    if (shape.dims.empty()) return config_error(who + "the dimensions of a sample are not given");
    if (shape.dims.size() > 31)
        return config_error(who + "at most 31 dimensions, found " + std::to_string(shape.dims.size()));
    std::uint64_t bytes = std::uint64_t{shape.element_bytes} * shape.sample_count;
    for (const std::uint64_t d : shape.dims) {
        if (d == 0) return config_error(who + "every dimension is at least 1, found " + describe_dims(shape.dims));
        if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMaxPayloadBytes)
            return config_error(who + describe(shape) + " are more than 2^60 bytes");
    }
    return {};
}

Status check_plain_shape(std::string_view format, const FileShape& shape) {
    const std::string who = std::string(format) + " file: ";
    if (shape.record_dataset_count > 1 || !shape.chunk_dims.empty() || !shape.max_shape.empty())
        return config_error(who + "chunk_dims, max_shape and num_dset_per_record are for hdf5 only");
    if (shape.compression != FileShape::Compression::none)
        return config_error(who + "this format knows no compression");
    return check_dims(format, shape);
}

Status check_sample_index(const ReadRequest& request, std::uint32_t sample_index) {
    if (sample_index < request.shape.sample_count) return {};
    return format_error(request.path, "sample " + std::to_string(sample_index) + " asked for, the file holds " +
                                          std::to_string(request.shape.sample_count));
}

} // namespace feedbench::formats
