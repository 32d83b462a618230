// Files for the tests of hdf5: written through an Encoder, in a folder that goes away.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "formats/registry.hpp"

namespace feedbench::formats::hdf5_test {

class Folder {
  public:
    Folder() {
        char name[] = "/tmp/feedbench_hdf5_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

// Content that differs at every place, so that a piece from elsewhere is noticed.
inline std::byte content_byte(std::uint64_t offset) {
    std::uint64_t x = offset * 0x9e3779b97f4a7c15u;
    return static_cast<std::byte>((x ^ (x >> 29)) >> 23);
}

inline ContentSource content() {
    return [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = content_byte(offset + i);
    };
}

// Fills in pieces of an odd size, so that every border falls somewhere inside one.
inline std::vector<std::byte> encode_all(const FileShape& shape, std::size_t piece_bytes = 1000) {
    auto encoder = hdf5_format().encode(shape, content());
    if (!encoder) FAIL(encoder.error().describe());
    std::vector<std::byte> bytes((*encoder)->file_bytes());
    std::size_t done = 0;
    while (done < bytes.size()) {
        const std::size_t wanted = std::min(piece_bytes, bytes.size() - done);
        REQUIRE((*encoder)->fill(std::span(bytes).subspan(done, wanted)) == wanted);
        done += wanted;
    }
    std::byte more{};
    REQUIRE((*encoder)->fill({&more, 1}) == 0);
    return bytes;
}

inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.good());
}

inline ReadRequest request_for(const std::string& path, const FileShape& shape, std::uint64_t file_bytes) {
    ReadRequest request;
    request.path = path;
    request.local_path = path;
    request.file_bytes = file_bytes;
    request.shape = shape;
    return request;
}

} // namespace feedbench::formats::hdf5_test
