// Makes a file's metadata through the library on a driver that drops sample bytes, and asks the library where each unit
// lies.
#include <algorithm>

#include "formats/hdf5_driver.hpp"
#include "formats/hdf5_layout.hpp"
#include "formats/hdf5_locate.hpp"

namespace feedbench::formats::hdf5 {

namespace {

hid_t element_type(std::uint32_t bytes) {
    switch (bytes) {
    case 1:
        return H5T_STD_U8LE;
    case 2:
        return H5T_STD_U16LE;
    case 4:
        return H5T_STD_U32LE;
    default:
        return H5T_STD_U64LE;
    }
}

std::vector<hsize_t> as_hsize(const std::vector<std::uint64_t>& values) { return {values.begin(), values.end()}; }

// Space is taken at once and never filled: its bytes come from the encoder. Compressed chunks get their space when
// their sizes are told, one after another.
Handle creation_list(const FileShape& shape, const std::vector<std::uint64_t>& chunk_dims) {
    const bool is_compressed = shape.compression == FileShape::Compression::gzip;
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    // Without the time of making: the same dataset is the same bytes whenever and by whomever it is written.
    bool ok = list.is_valid() && H5Pset_obj_track_times(list.get(), false) >= 0 &&
              H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER) >= 0 &&
              H5Pset_alloc_time(list.get(), is_compressed ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY) >= 0;
    if (ok && !chunk_dims.empty())
        ok = H5Pset_chunk(list.get(), static_cast<int>(chunk_dims.size()), as_hsize(chunk_dims).data()) >= 0;
    if (ok && is_compressed) ok = H5Pset_deflate(list.get(), static_cast<unsigned>(shape.compression_level)) >= 0;
    if (!ok) return {};
    return list;
}

struct DatasetRequest {
    std::string name;
    hid_t type;
    const std::vector<std::uint64_t>& dims;
    const std::vector<std::uint64_t>& limits;
    hid_t creation;
};

Handle create_dataset(const Handle& file, const DatasetRequest& request) {
    const std::vector<hsize_t> dims = as_hsize(request.dims), limits = as_hsize(request.limits);
    Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), limits.data()), H5Sclose);
    if (!space.is_valid()) return {};
    return {H5Dcreate2(file.get(), request.name.c_str(), request.type, space.get(), H5P_DEFAULT, request.creation,
                       H5P_DEFAULT),
            H5Dclose};
}

struct Maker {
    Template result;
    Medium medium;
    std::vector<std::uint64_t> dims, limits;
    std::vector<std::byte> scratch; // stands for compressed bytes, which the driver does not look at

    // Tells the library the size of each compressed chunk, so that it gives it a place.
    bool place_chunks(const Handle& dataset, std::uint32_t index, const StoredBytes& stored_bytes) {
        Layout& layout = result.layout;
        std::vector<Unit>& chunks = layout.chunks[index];
        for (std::uint64_t i = 0; i < layout.unit_count; ++i) {
            const std::uint32_t bytes = stored_bytes(index, i);
            if (scratch.size() < bytes) scratch.resize(bytes);
            const std::vector<hsize_t> corner = chunk_corner(layout, i);
            if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, corner.data(), bytes, scratch.data()) < 0) return false;
            chunks.push_back({medium.raw_offset, bytes});
        }
        return true;
    }

    bool add_records(const Handle& file, const Handle& creation, std::uint32_t index, const StoredBytes& stored_bytes) {
        Layout& layout = result.layout;
        Handle dataset = create_dataset(file, {"records_" + std::to_string(index),
                                               element_type(layout.shape.element_bytes), dims, limits, creation.get()});
        if (!dataset.is_valid()) return false;
        if (!layout.is_chunked) {
            const haddr_t offset = H5Dget_offset(dataset.get());
            layout.first_offsets.push_back(offset);
            return offset != HADDR_UNDEF;
        }
        layout.chunks.emplace_back().reserve(layout.unit_count);
        if (layout.is_compressed) return place_chunks(dataset, index, stored_bytes) && dataset.close();
        return locate_chunks(dataset, medium, layout, layout.chunks.back()) && dataset.close();
    }

    bool add_all(const StoredBytes& stored_bytes) {
        Handle file = create_on(medium, true);
        Handle creation = creation_list(result.layout.shape, result.layout.shape.chunk_dims);
        Handle plain = creation_list({}, {});
        if (!file.is_valid() || !creation.is_valid() || !plain.is_valid()) return false;
        for (std::uint32_t i = 0; i < result.layout.dataset_count(); ++i)
            if (!add_records(file, creation, i, stored_bytes)) return false;
        const std::vector<std::uint64_t> label_dims{result.layout.shape.sample_count};
        Handle labels = create_dataset(file, {"labels", H5T_STD_I64LE, label_dims, label_dims, plain.get()});
        return labels.is_valid() && labels.close() && file.close();
    }
};

// Pages hold metadata where the library wrote it; units between are cut out.
void collect_literals(const Medium& medium, Template& result) {
    std::vector<Unit> units;
    const Layout& layout = result.layout;
    if (layout.is_chunked)
        for (const std::vector<Unit>& chunks : layout.chunks) units.insert(units.end(), chunks.begin(), chunks.end());
    else
        for (const std::uint64_t first : layout.first_offsets)
            units.push_back({first, layout.unit_bytes * layout.unit_count});
    std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.offset < b.offset; });
    for (const auto& [number, page] : medium.pages) {
        const std::uint64_t begin = number * Medium::kPageBytes;
        const std::uint64_t end = std::min(begin + Medium::kPageBytes, layout.file_bytes);
        auto next = std::upper_bound(units.begin(), units.end(), begin,
                                     [](std::uint64_t at, const Unit& u) { return at < u.offset + u.stored_bytes; });
        for (std::uint64_t at = begin; at < end; ++next) {
            const std::uint64_t stop = next == units.end() ? end : std::min(end, next->offset);
            if (stop > at)
                result.literals.emplace(
                    at, std::vector<std::byte>(page.begin() + static_cast<std::ptrdiff_t>(at - begin),
                                               page.begin() + static_cast<std::ptrdiff_t>(stop - begin)));
            if (next == units.end()) break;
            at = std::max(at, next->offset + next->stored_bytes);
        }
    }
}

} // namespace

Expected<Template> make_template(const FileShape& shape, const StoredBytes& stored_bytes) {
    if (const Status checked = check_shape(shape); !checked) return checked.error();
    Maker maker;
    Layout& layout = maker.result.layout;
    layout.shape = shape;
    layout.shape.chunk_dims = chunk_dims_of(shape);
    layout.derive();
    maker.dims = {shape.sample_count};
    maker.dims.insert(maker.dims.end(), shape.dims.begin(), shape.dims.end());
    maker.limits = max_dims_of(shape);
    {
        const Library library;
        if (!maker.add_all(stored_bytes))
            return internal_error("libhdf5 could not lay out a file: " + library.message());
    }
    layout.file_bytes = maker.medium.file_bytes;
    collect_literals(maker.medium, maker.result);
    return std::move(maker.result);
}

} // namespace feedbench::formats::hdf5
