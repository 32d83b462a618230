// Reads what an HDF5 file says about its record datasets, and nothing else: no attributes, no labels, no sample bytes.
#include "formats/hdf5_locate.hpp"

namespace feedbench::formats::hdf5 {

namespace {

constexpr std::uint32_t kDatasetCountMax = 4096;
constexpr int kRankMax = 32;

struct Reader {
    const MetadataRequest& request;
    const Library& library;
    Medium& medium;
    Layout layout{};

    Error fail(const std::string& message) const {
        if (!medium.failure) return medium.failure.error();
        const std::string cause = library.message();
        return format_error(request.path, message + (cause.empty() ? "" : " (libhdf5: " + cause + ")"));
    }

    // Older versions of the reference generator wrote one dataset called `records`.
    Expected<std::vector<std::string>> names(const Handle& file) const {
        std::vector<std::string> found;
        const std::uint32_t wanted = request.dataset_count == 0 ? kDatasetCountMax : request.dataset_count;
        while (found.size() < wanted) {
            const std::string name = "records_" + std::to_string(found.size());
            const htri_t is_there = H5Lexists(file.get(), name.c_str(), H5P_DEFAULT);
            if (is_there < 0) return fail("its root group cannot be read");
            if (is_there == 0) break;
            found.push_back(name);
        }
        if (found.empty() && H5Lexists(file.get(), "records", H5P_DEFAULT) > 0) found.push_back("records");
        if (found.empty()) return format_error(request.path, "holds no dataset records_0");
        if (request.dataset_count != 0 && found.size() != request.dataset_count)
            return format_error(request.path, "holds no dataset records_" + std::to_string(found.size()) +
                                                  "; expected " + std::to_string(request.dataset_count) + " of them");
        return found;
    }

    Status read_dims(const Handle& dataset, const std::string& name, FileShape& shape) const {
        Handle space(H5Dget_space(dataset.get()), H5Sclose);
        const int rank = space.is_valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
        if (rank < 0) return fail("the shape of " + name + " cannot be read");
        if (rank < 2 || rank > kRankMax)
            return format_error(request.path,
                                name + " has " + std::to_string(rank) + " dimensions; samples need at least 2");
        std::vector<hsize_t> dims(static_cast<std::size_t>(rank)), limits(dims.size());
        if (H5Sget_simple_extent_dims(space.get(), dims.data(), limits.data()) != rank)
            return fail("the shape of " + name + " cannot be read");
        if (dims[0] == 0 || dims[0] > UINT32_MAX)
            return format_error(request.path, name + " holds " + std::to_string(dims[0]) + " samples");
        shape.sample_count = static_cast<std::uint32_t>(dims[0]);
        shape.dims.assign(dims.begin() + 1, dims.end());
        if (limits != dims) shape.max_shape.assign(limits.begin(), limits.end());
        return {};
    }

    Status read_type(const Handle& dataset, const std::string& name, FileShape& shape) const {
        Handle type(H5Dget_type(dataset.get()), H5Tclose);
        if (!type.is_valid()) return fail("the element type of " + name + " cannot be read");
        const std::size_t bytes = H5Tget_size(type.get());
        if (H5Tget_class(type.get()) != H5T_INTEGER || H5Tget_sign(type.get()) != H5T_SGN_NONE || bytes == 0 ||
            bytes > 8)
            return format_error(request.path, name + " does not hold unsigned integers");
        shape.element_bytes = static_cast<std::uint32_t>(bytes);
        return {};
    }

    Status read_storage(const Handle& creation, const std::string& name, FileShape& shape) const {
        const H5D_layout_t kind = H5Pget_layout(creation.get());
        if (kind != H5D_CHUNKED && kind != H5D_CONTIGUOUS)
            return format_error(request.path, name + " is neither contiguous nor chunked");
        if (kind == H5D_CONTIGUOUS) return {};
        std::vector<hsize_t> chunk(shape.dims.size() + 1);
        if (H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) !=
            static_cast<int>(chunk.size()))
            return fail("the chunks of " + name + " cannot be read");
        shape.chunk_dims.assign(chunk.begin(), chunk.end());
        const int filters = H5Pget_nfilters(creation.get());
        if (filters < 0) return fail("the filters of " + name + " cannot be read");
        if (filters == 0) return {};
        unsigned flags = 0, level = 0;
        std::size_t value_count = 1;
        const H5Z_filter_t filter =
            H5Pget_filter2(creation.get(), 0, &flags, &value_count, &level, 0, nullptr, nullptr);
        if (filters != 1 || filter != H5Z_FILTER_DEFLATE)
            return format_error(request.path, name + " is stored through a filter other than gzip");
        shape.compression = FileShape::Compression::gzip;
        shape.compression_level = static_cast<int>(level);
        return {};
    }

    Status add_dataset(const Handle& file, const std::string& name) {
        Handle dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
        if (!dataset.is_valid()) return fail("dataset " + name + " cannot be opened");
        Handle creation(H5Dget_create_plist(dataset.get()), H5Pclose);
        if (!creation.is_valid()) return fail("dataset " + name + " cannot be read");
        FileShape shape;
        shape.record_dataset_count = layout.shape.record_dataset_count;
        if (Status status = read_dims(dataset, name, shape); !status) return status;
        if (Status status = read_type(dataset, name, shape); !status) return status;
        if (Status status = read_storage(creation, name, shape); !status) return status;
        // The shape of a damaged file may be anything: no arithmetic before this.
        if (Status status = check_shape(shape); !status)
            return format_error(request.path, name + ": " + status.error().message);
        if (layout.chunks.empty() && layout.first_offsets.empty()) {
            layout.shape = shape;
            layout.derive();
        } else if (shape.dims != layout.shape.dims || shape.sample_count != layout.shape.sample_count ||
                   shape.chunk_dims != layout.shape.chunk_dims || shape.element_bytes != layout.shape.element_bytes ||
                   shape.compression != layout.shape.compression) {
            return format_error(request.path, name + " is not of the same shape and storage as records_0");
        }
        return place(dataset, name);
    }

    Status place(const Handle& dataset, const std::string& name) {
        if (!layout.is_chunked) {
            const haddr_t offset = H5Dget_offset(dataset.get());
            if (offset == HADDR_UNDEF) return format_error(request.path, name + " has no data in this file");
            layout.first_offsets.push_back(offset);
            return check_inside({offset, layout.unit_bytes * layout.unit_count}, name);
        }
        // Uncompressed chunks that cannot all be there: said before memory is taken for them.
        if (!layout.is_compressed && layout.unit_count > request.file_bytes / layout.unit_bytes)
            return format_error(request.path, name + " needs more bytes than the file has");
        std::vector<Unit>& chunks = layout.chunks.emplace_back();
        if (!locate_chunks(dataset, medium, layout, chunks))
            return fail("chunk " + std::to_string(chunks.size()) + " of " + name + " has no data");
        for (const Unit& chunk : chunks) {
            if (chunk.stored_bytes == 0)
                return format_error(request.path, name + " has an empty chunk",
                                    static_cast<std::int64_t>(chunk.offset));
            if (!layout.is_compressed && chunk.stored_bytes != layout.unit_bytes)
                return format_error(request.path, name + " has a chunk of the wrong size",
                                    static_cast<std::int64_t>(chunk.offset));
            if (Status status = check_inside(chunk, name); !status) return status;
        }
        return {};
    }

    Status check_inside(const Unit& unit, const std::string& name) const {
        if (unit.offset <= request.file_bytes && unit.stored_bytes <= request.file_bytes - unit.offset) return {};
        return format_error(request.path,
                            name + " reaches behind the end of the file at " + std::to_string(request.file_bytes),
                            static_cast<std::int64_t>(unit.offset));
    }
};

} // namespace

Expected<Layout> read_layout(const MetadataRequest& request) {
    Medium medium;
    medium.read = request.read;
    medium.file_bytes = request.file_bytes;
    const Library library;
    Handle file = open_on(medium);
    Reader reader{request, library, medium};
    if (!file.is_valid()) return reader.fail("is not an HDF5 file, or is damaged or cut short");
    const auto names = reader.names(file);
    if (!names) return names.error();
    reader.layout.shape.record_dataset_count = static_cast<std::uint32_t>(names->size());
    for (const std::string& name : *names)
        if (const Status status = reader.add_dataset(file, name); !status) return status.error();
    reader.layout.file_bytes = request.file_bytes;
    return std::move(reader.layout);
}

} // namespace feedbench::formats::hdf5
