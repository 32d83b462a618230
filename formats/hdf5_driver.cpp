#include "formats/hdf5_driver.hpp"

#include <algorithm>
#include <cstring>

namespace feedbench::formats::hdf5 {

namespace {

struct DriverFile : H5FD_t {
    Medium* medium = nullptr;
    haddr_t end_of_allocation = 0;
};

// The library hands out driver parameters as a pointer to what the access list carries: here one pointer.
struct DriverInfo {
    Medium* medium;
};

DriverFile* file_of(H5FD_t* file) { return static_cast<DriverFile*>(file); }
const DriverFile* file_of(const H5FD_t* file) { return static_cast<const DriverFile*>(file); }

H5FD_t* driver_open(const char*, unsigned flags, hid_t access, haddr_t) {
    const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
    if (!info) return nullptr;
    auto* file = new DriverFile{};
    file->medium = info->medium;
    if (flags & H5F_ACC_TRUNC) {
        file->medium->pages.clear();
        file->medium->file_bytes = 0;
    }
    return file;
}

herr_t driver_close(H5FD_t* file) {
    delete file_of(file);
    return 0;
}

// The same aggregation as the library's default driver, so that a file has the layout that every other program gives
// it.
herr_t driver_query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

haddr_t driver_get_eoa(const H5FD_t* file, H5FD_mem_t) { return file_of(file)->end_of_allocation; }
herr_t driver_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
    file_of(file)->end_of_allocation = address;
    return 0;
}
haddr_t driver_get_eof(const H5FD_t* file, H5FD_mem_t) { return file_of(file)->medium->file_bytes; }

// Calls `part(page number, position in page, position in data, bytes)` for each page that [address, address + size)
// touches.
template <class Part>
void each_page(haddr_t address, std::size_t size, Part part) {
    for (std::size_t done = 0; done < size;) {
        const std::uint64_t at = address + done, within = at % Medium::kPageBytes;
        const std::size_t bytes = std::min<std::uint64_t>(size - done, Medium::kPageBytes - within);
        part(at / Medium::kPageBytes, within, done, bytes);
        done += bytes;
    }
}

herr_t driver_read(H5FD_t* handle, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* buffer) {
    Medium& medium = *file_of(handle)->medium;
    if (type == H5FD_MEM_DRAW) {
        medium.raw_offset = address;
        medium.raw_bytes = size;
        return 0;
    }
    auto* out = static_cast<std::byte*>(buffer);
    if (!medium.read) {
        each_page(address, size, [&](std::uint64_t page, std::uint64_t within, std::size_t at, std::size_t bytes) {
            const auto found = medium.pages.find(page);
            if (found == medium.pages.end())
                std::memset(out + at, 0, bytes);
            else
                std::memcpy(out + at, found->second.data() + within, bytes);
        });
        return 0;
    }
    // As the library's own driver does it: what lies behind the end reads as zeros (and then fails its checks).
    const std::uint64_t there =
        address >= medium.file_bytes ? 0 : std::min<std::uint64_t>(size, medium.file_bytes - address);
    std::memset(out + there, 0, size - there);
    if (there == 0) return 0;
    Status read = medium.read(address, {out, static_cast<std::size_t>(there)});
    if (read) return 0;
    if (medium.failure) medium.failure = std::move(read);
    return -1;
}

herr_t driver_write(H5FD_t* handle, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* buffer) {
    Medium& medium = *file_of(handle)->medium;
    if (medium.read) return -1; // opened for reading: nothing is ever written
    medium.file_bytes = std::max<std::uint64_t>(medium.file_bytes, address + size);
    if (type == H5FD_MEM_DRAW) {
        medium.raw_offset = address;
        medium.raw_bytes = size;
        return 0;
    }
    const auto* data = static_cast<const std::byte*>(buffer);
    each_page(address, size, [&](std::uint64_t page, std::uint64_t within, std::size_t at, std::size_t bytes) {
        std::memcpy(medium.pages.try_emplace(page).first->second.data() + within, data + at, bytes);
    });
    return 0;
}

herr_t driver_truncate(H5FD_t* handle, hid_t, hbool_t) {
    DriverFile* file = file_of(handle);
    if (!file->medium->read) file->medium->file_bytes = file->end_of_allocation;
    return 0;
}

const H5FD_class_t& driver_class() {
    static const H5FD_class_t description = [] {
        H5FD_class_t c{};
        c.name = "feedbench_layout";
        c.maxaddr = (haddr_t{1} << 62) - 1;
        c.fc_degree = H5F_CLOSE_STRONG;
        c.fapl_size = sizeof(DriverInfo);
        c.open = driver_open;
        c.close = driver_close;
        c.query = driver_query;
        c.get_eoa = driver_get_eoa;
        c.set_eoa = driver_set_eoa;
        c.get_eof = driver_get_eof;
        c.read = driver_read;
        c.write = driver_write;
        c.truncate = driver_truncate;
        const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(map), std::end(map), std::begin(c.fl_map));
        return c;
    }();
    return description;
}

// The library forgets drivers when it is closed (at exit only): registered once.
hid_t driver_id() {
    static const hid_t id = H5FDregister(&driver_class());
    return id;
}

Handle access_list(Medium& medium) {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    const DriverInfo info{&medium};
    if (!access.is_valid() || H5Pset_driver(access.get(), driver_id(), &info) < 0) return {};
    return access;
}

} // namespace

Handle create_on(Medium& medium, bool latest_version) {
    Handle access = access_list(medium);
    if (!access.is_valid()) return {};
    if (latest_version && H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) < 0) return {};
    Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose); // of the root group, without the time of making
    if (!creation.is_valid() || H5Pset_obj_track_times(creation.get(), false) < 0) return {};
    return {H5Fcreate("layout", H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
}

Handle open_on(Medium& medium) {
    Handle access = access_list(medium);
    if (!access.is_valid()) return {};
    return {H5Fopen("layout", H5F_ACC_RDONLY, access.get()), H5Fclose};
}

} // namespace feedbench::formats::hdf5
