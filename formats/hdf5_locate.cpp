#include "formats/hdf5_locate.hpp"

namespace feedbench::formats::hdf5 {

std::vector<hsize_t> chunk_corner(const Layout& layout, std::uint64_t index) {
    const FileShape& shape = layout.shape;
    std::vector<hsize_t> corner(shape.chunk_dims.size());
    for (std::size_t axis = corner.size(); axis-- > 0;) {
        const std::uint64_t length = axis == 0 ? shape.sample_count : shape.dims[axis - 1];
        const std::uint64_t count = (length - 1) / shape.chunk_dims[axis] + 1;
        corner[axis] = index % count * shape.chunk_dims[axis];
        index /= count;
    }
    return corner;
}

bool locate_chunks(const Handle& dataset, Medium& medium, const Layout& layout, std::vector<Unit>& chunks) {
    std::byte nothing{}; // the driver notes where sample bytes are and leaves the buffer alone
    for (std::uint64_t i = 0; i < layout.unit_count; ++i) {
        const std::vector<hsize_t> corner = chunk_corner(layout, i);
        std::uint32_t filter_mask = 0;
        medium.raw_offset = UINT64_MAX;
        if (H5Dread_chunk(dataset.get(), H5P_DEFAULT, corner.data(), &filter_mask, &nothing) < 0) return false;
        if (medium.raw_offset == UINT64_MAX) return false;
        // A chunk whose filter was skipped is stored as it is; the reader could not tell it from a compressed one.
        if (filter_mask != 0) return false;
        chunks.push_back({medium.raw_offset, medium.raw_bytes});
    }
    return true;
}

} // namespace feedbench::formats::hdf5
