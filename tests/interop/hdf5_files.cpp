// Writes HDF5 files for foreign readers, and reads files that foreign writers made.
//
//   hdf5_files write DIR          one file a shape, and steps.h5
//   hdf5_files read FILE...       what each holds, a line of JSON; its payload as delivered to a checker into
//   FILE.payload
#include <fstream>
#include <iostream>

#include "formats/registry.hpp"
#include "harness/accelerator/steps_h5.hpp"

using namespace feedbench;

namespace {

// The readers compute the same: byte at payload offset o.
std::byte content_byte(std::uint64_t offset) {
    return static_cast<std::byte>((static_cast<std::uint32_t>(offset) * 2654435761u) >> 13);
}

int fail(const Error& error) {
    std::cerr << error.describe() << "\n";
    return 1;
}

struct Named {
    const char* name;
    FileShape shape;
};

std::vector<Named> shapes() {
    const auto make = [](std::uint32_t samples, auto change) {
        FileShape shape;
        shape.dims = {120, 75};
        shape.sample_count = samples;
        change(shape);
        return shape;
    };
    using Gzip = FileShape::Compression;
    return {{"contiguous", make(1, [](FileShape&) {})},
            {"samples", make(9, [](FileShape&) {})},
            {"datasets", make(3, [](FileShape& s) { s.record_dataset_count = 5; })},
            {"wide", make(2, [](FileShape& s) { s.element_bytes = 4; })},
            {"chunked", make(4,
                             [](FileShape& s) {
                                 s.chunk_dims = {2, 50, 40};
                             })},
            {"unlimited", make(4,
                               [](FileShape& s) {
                                   s.chunk_dims = {50, 40};
                                   s.max_shape = {0, 120, 75};
                               })},
            {"unlimited_all", make(4,
                                   [](FileShape& s) {
                                       s.chunk_dims = {50, 40};
                                       s.max_shape = {0, 0, 0};
                                   })},
            {"gzip", make(4,
                          [](FileShape& s) {
                              s.chunk_dims = {50, 40};
                              s.compression = Gzip::gzip;
                          })},
            {"gzip_guessed", make(40, [](FileShape& s) {
                 s.compression = Gzip::gzip;
                 s.compression_level = 9;
             })}};
}

int write_one(const std::string& path, const FileShape& shape) {
    auto encoder = formats::hdf5_format().encode(shape, [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = content_byte(offset + i);
    });
    if (!encoder) return fail(encoder.error());
    std::ofstream file(path, std::ios::binary);
    std::vector<std::byte> piece(10000);
    while (const std::size_t bytes = (*encoder)->fill(piece))
        file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(bytes));
    return file.good() ? 0 : 1;
}

int write_steps(const std::string& path) {
    auto steps = accelerator::StepsFile::create({path, "20260101_120000", 1'767'265'200'000'000'000});
    if (!steps) return fail(steps.error());
    for (std::uint32_t i = 0; i < 10000; ++i) {
        const std::uint64_t at = std::uint64_t{i} * 1'000'000;
        const StepRecord record{.accelerator_index = i % 8,
                                .epoch_index = static_cast<std::uint16_t>(i / 4000),
                                .block_index = static_cast<std::uint16_t>(i % 4 == 3 ? kEvaluationBlock : 0),
                                .step_index = i / 8,
                                .sample_count = 7,
                                .request_ns = at,
                                .ready_ns = at + 1000,
                                .think_drawn_ns = 500'000,
                                .think_end_ns = at + 501'000,
                                .barrier_end_ns = at + 600'000,
                                .storage_wait_ns = 900,
                                .client_wait_ns = 100,
                                .bytes_delivered = 146600628ull * i};
        if (Status appended = (*steps)->append({&record, 1}); !appended) return fail(appended.error());
    }
    const Status closed = (*steps)->close();
    return closed ? 0 : fail(closed.error());
}

std::string json(const std::vector<std::uint64_t>& values) {
    std::string text;
    for (const std::uint64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
    return "[" + text + "]";
}

int read_one(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    formats::ReadRequest request;
    request.path = request.local_path = path;
    request.file_bytes = static_cast<std::uint64_t>(file.tellg());
    const auto read_at = [&](std::uint64_t offset, std::span<std::byte> out) -> Status {
        file.seekg(static_cast<std::streamoff>(offset));
        file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
        return file.good() ? Status{} : storage_error("read", path, EIO);
    };
    const auto shape = formats::hdf5_format().inspect(request, read_at);
    if (!shape) return fail(shape.error());
    std::ofstream payload_file(path + ".payload", std::ios::binary);
    request.shape = *shape;
    request.on_payload = [&](std::uint64_t offset, std::span<const std::byte> payload) {
        payload_file.seekp(static_cast<std::streamoff>(offset));
        payload_file.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
        return Status{};
    };
    auto reader = formats::hdf5_format().open(request);
    if (!reader) return fail(reader.error());
    std::vector<std::byte> data;
    for (std::uint32_t sample = 0; sample < shape->sample_count; ++sample) {
        if (Status begun = (*reader)->begin(sample); !begun) return fail(begun.error());
        while (true) {
            const auto extent = (*reader)->next(4096);
            if (!extent) return fail(extent.error());
            if (!*extent) break;
            data.resize((*extent)->bytes);
            if (Status got = read_at((*extent)->offset, data); !got) return fail(got.error());
            if (Status consumed = (*reader)->consume(**extent, data); !consumed) return fail(consumed.error());
        }
    }
    std::cout << "{\"dims\": " << json(shape->dims) << ", \"sample_count\": " << shape->sample_count
              << ", \"element_bytes\": " << shape->element_bytes << ", \"datasets\": " << shape->record_dataset_count
              << ", \"chunk_dims\": " << json(shape->chunk_dims) << "}\n";
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2) return 2;
    int code = 0;
    if (arguments[0] == "write") {
        for (const Named& named : shapes()) code |= write_one(arguments[1] + "/" + named.name + ".hdf5", named.shape);
        return code | write_steps(arguments[1] + "/steps.h5");
    }
    for (std::size_t i = 1; i < arguments.size(); ++i) code |= read_one(arguments[i]);
    return code;
}
