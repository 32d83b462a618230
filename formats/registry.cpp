#include "formats/registry.hpp"

#include <array>

namespace feedbench::formats {

std::span<const Format* const> all_formats() {
    static const std::array table{
        &npz_format(),  &npy_format(),     &tfrecord_format(),       &raw_format(),
        &hdf5_format(), &parquet_format(), &indexed_binary_format(), &jpeg_format(),
        &png_format(),  &csv_format(),
    };
    return table;
}

Expected<const Format*> find_format(std::string_view name) {
    std::string known;
    for (const Format* format : all_formats()) {
        if (format->name() == name) return format;
        known += (known.empty() ? "" : ", ") + std::string(format->name());
    }
    return config_error("unknown format '" + std::string(name) + "'; known are " + known);
}

} // namespace feedbench::formats
