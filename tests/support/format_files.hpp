// Files of any format in memory, for tests: made by the format's encoder, read back through its readers.
//
// Thread: the test's. Owner: the test. Units: bytes. Errors: Catch2 failures while making, Expected while reading.
// Source: the protocols in formats/format.hpp; a reader that leaves them is a failure here.
#pragma once

#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/format.hpp"
#include "harness/types/random.hpp"

namespace feedbench::test {

using Bytes = std::vector<std::byte>;

// Content of a file whose every byte depends on its position.
inline formats::ContentSource numbered_content(std::uint64_t seed = 1) {
    return [seed](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<std::byte>(mix64(seed + (offset + i) / 8) >> ((offset + i) % 8 * 8));
    };
}

inline Bytes content_bytes(const formats::ContentSource& content, std::uint64_t bytes) {
    Bytes out(bytes);
    content(0, out);
    return out;
}

inline FileShape shape_of(std::vector<std::uint64_t> dims, std::uint32_t samples = 1, std::uint32_t element_bytes = 1) {
    FileShape shape;
    shape.dims = std::move(dims);
    shape.sample_count = samples;
    shape.element_bytes = element_bytes;
    return shape;
}

// The file as a writer would leave it: filled in pieces of `piece_bytes`, then patched.
inline Bytes make_file(const formats::Format& format, const FileShape& shape, const formats::ContentSource& content,
                       std::size_t piece_bytes = 1 << 20) {
    auto encoder = format.encode(shape, content);
    if (!encoder) FAIL(encoder.error().describe());
    Bytes file;
    Bytes piece(piece_bytes);
    for (;;) {
        const std::size_t size = (*encoder)->fill(piece);
        file.insert(file.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size));
        if (size < piece.size()) break;
    }
    for (const formats::Patch& patch : (*encoder)->patches()) {
        REQUIRE(patch.offset + patch.bytes.size() <= (*encoder)->patch_limit());
        REQUIRE(patch.offset + patch.bytes.size() <= file.size());
        std::copy(patch.bytes.begin(), patch.bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(patch.offset));
    }
    REQUIRE(file.size() == (*encoder)->file_bytes());
    return file;
}

// The index that readers of this format get with a file of this shape; nullptr where they need none.
inline std::shared_ptr<const formats::IndexBytes> index_for(const formats::Format& format, const FileShape& shape) {
    if (format.index_bytes_per_sample() == 0) return nullptr;
    auto index = std::make_shared<formats::IndexBytes>();
    for (std::size_t i = 0; i < format.side_files().size(); ++i) {
        const std::string bytes = format.side_bytes(shape, i);
        const auto view = std::as_bytes(std::span(bytes));
        index->emplace_back(view.begin(), view.end());
    }
    return index;
}

// A file on this host for as long as the object lives (for formats whose library wants a path).
class FileOnDisk {
  public:
    explicit FileOnDisk(const Bytes& bytes) {
        std::string name = (std::filesystem::temp_directory_path() / "feedbench_test_XXXXXX").string();
        const int descriptor = mkstemp(name.data());
        REQUIRE(descriptor >= 0);
        close(descriptor);
        path_ = name;
        std::ofstream out(path_, std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        REQUIRE(out.good());
    }
    FileOnDisk(const FileOnDisk&) = delete;
    FileOnDisk& operator=(const FileOnDisk&) = delete;
    ~FileOnDisk() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

struct ReadBack {
    Bytes payload;                        // as the visitor saw it, at its offsets
    std::uint64_t payload_bytes = 0;      // how many the visitor saw
    std::vector<formats::Extent> extents; // in the order of next()
    std::int64_t unneeded_bytes = 0;      // what of them the reader says that no sample wanted
    std::vector<std::uint32_t> counts;    // stream: after each piece
};

struct ReadOptions {
    std::uint64_t transfer_bytes = 262144;
    std::size_t in_flight = 1; // extents taken before the first is consumed, where the reader allows it
    bool wants_payload = true;
};

inline void keep_payload(formats::ReadRequest& request, ReadBack& result, std::uint64_t limit) {
    result.payload.resize(limit);
    request.on_payload = [&result, limit](std::uint64_t offset, std::span<const std::byte> bytes) -> Status {
        if (offset > limit || bytes.size() > limit - offset)
            return format_error("test", "payload of " + std::to_string(bytes.size()) + " bytes at " +
                                            std::to_string(offset) + " lies beyond " + std::to_string(limit));
        std::copy(bytes.begin(), bytes.end(), result.payload.begin() + static_cast<std::ptrdiff_t>(offset));
        result.payload_bytes += bytes.size();
        return {};
    };
}

// Reads the given samples one after another. Each extent is copied to memory of its own, so that a reader which looks
// beyond it is caught by the address sanitizer.
inline Status read_samples(const formats::Format& format, formats::ReadRequest request, const Bytes& file,
                           const std::vector<std::uint32_t>& samples, ReadBack& result, ReadOptions options = {}) {
    if (!request.index) request.index = index_for(format, request.shape);
    if (options.wants_payload)
        keep_payload(request, result, request.shape.dims.empty() ? file.size() : request.shape.payload_bytes());
    auto reader = format.open(request);
    if (!reader) return reader.error();
    for (const std::uint32_t sample : samples) {
        if (const Status status = (*reader)->begin(sample); !status) return status;
        for (bool is_done = false; !is_done;) {
            std::vector<formats::Extent> window;
            while (window.size() < options.in_flight && !is_done && !(*reader)->must_consume_first()) {
                const auto extent = (*reader)->next(options.transfer_bytes);
                if (!extent) return extent.error();
                if (*extent)
                    window.push_back(**extent);
                else
                    is_done = true;
            }
            for (const formats::Extent& extent : window) {
                if (extent.bytes == 0 || extent.bytes > options.transfer_bytes || extent.offset > file.size() ||
                    extent.bytes > file.size() - extent.offset)
                    return internal_error("extent of " + std::to_string(extent.bytes) + " bytes at " +
                                          std::to_string(extent.offset) + " in a file of " +
                                          std::to_string(file.size()));
                result.extents.push_back(extent);
                const auto begin = file.begin() + static_cast<std::ptrdiff_t>(extent.offset);
                const Bytes piece(begin, begin + static_cast<std::ptrdiff_t>(extent.bytes));
                if (const Status status = (*reader)->consume(extent, piece); !status) return status;
            }
        }
        result.unneeded_bytes += (*reader)->take_unneeded_bytes();
    }
    return {};
}

inline Status read_stream(const formats::Format& format, formats::ReadRequest request, const Bytes& file,
                          ReadBack& result, ReadOptions options = {}) {
    if (!request.index) request.index = index_for(format, request.shape);
    if (options.wants_payload)
        keep_payload(request, result, request.shape.dims.empty() ? file.size() : request.shape.payload_bytes());
    auto reader = format.open_stream(request);
    if (!reader) return reader.error();
    for (std::uint64_t position = 0;;) {
        const auto next = (*reader)->next(position, request.file_bytes, options.transfer_bytes);
        if (!next) return next.error();
        if (!*next) break;
        const formats::Extent extent = **next;
        if (extent.bytes == 0 || extent.bytes > options.transfer_bytes || extent.offset > file.size() ||
            extent.bytes > file.size() - extent.offset)
            return internal_error("piece of " + std::to_string(extent.bytes) + " bytes at " +
                                  std::to_string(extent.offset) + " in a file of " + std::to_string(file.size()));
        result.extents.push_back(extent);
        position = extent.offset + extent.bytes;
        const Bytes piece(file.begin() + static_cast<std::ptrdiff_t>(extent.offset),
                          file.begin() + static_cast<std::ptrdiff_t>(position));
        const auto count = (*reader)->consume(piece);
        if (!count) return count.error();
        result.counts.push_back(*count);
        result.unneeded_bytes += (*reader)->take_unneeded_bytes();
    }
    return {};
}

inline formats::ReadRequest request_for(const Bytes& file, const FileShape& shape,
                                        formats::Check check = formats::Check::framing) {
    formats::ReadRequest request;
    request.path = "test_file";
    request.file_bytes = file.size();
    request.shape = shape;
    request.check = check;
    return request;
}

inline Expected<FileShape> inspect(const formats::Format& format, const formats::ReadRequest& request,
                                   const Bytes& file) {
    return format.inspect(request, [&file](std::uint64_t offset, std::span<std::byte> out) -> Status {
        if (offset > file.size() || out.size() > file.size() - offset) return internal_error("read beyond the file");
        std::memcpy(out.data(), file.data() + offset, out.size());
        return {};
    });
}

inline std::string message_of(const Status& status) { return status ? "" : status.error().describe(); }

inline void check_says(const std::string& text, const std::string& words) {
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
}

inline std::vector<std::uint32_t> all_samples(const FileShape& shape) {
    std::vector<std::uint32_t> samples;
    for (std::uint32_t i = 0; i < shape.sample_count; ++i) samples.push_back(i);
    return samples;
}

} // namespace feedbench::test
