// Writes small datasets into a MemoryBackend with the real formats, for the tests of manifest, spot check and adopt.
#pragma once

#include <catch2/catch.hpp>

#include "formats/registry.hpp"
#include "harness/dataset/manifest.hpp"
#include "tests/support/memory_backend.hpp"

namespace feedbench::test {

inline DatasetSection small_section(const std::string& format = "npz") {
    DatasetSection section;
    section.format = format;
    section.num_files_train = 12;
    section.num_files_eval = 3;
    section.num_samples_per_file = 2;
    section.record_length_bytes = 1000;
    section.record_length_bytes_stdev = 300;
    return section;
}

inline const formats::Format& format_of(const std::string& name) {
    Expected<const formats::Format*> format = formats::find_format(name);
    REQUIRE(format);
    return **format;
}

inline std::string encoded(const formats::Format& format, const FileShape& shape) {
    auto encoder = format.encode(shape, [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((offset + i) * 131 + 7);
    });
    INFO((encoder ? std::string() : encoder.error().describe()));
    REQUIRE(encoder);
    std::string bytes((*encoder)->file_bytes(), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const std::size_t got = (*encoder)->fill(std::as_writable_bytes(std::span(bytes).subspan(done)));
        REQUIRE(got > 0);
        done += got;
    }
    for (const formats::Patch& patch : (*encoder)->patches())
        std::memcpy(bytes.data() + patch.offset, patch.bytes.data(), patch.bytes.size());
    return bytes;
}

// All files and the manifest, as datagen leaves them.
inline dataset::Manifest write_dataset(MemoryBackend& backend, const DatasetSection& section) {
    dataset::Manifest manifest;
    manifest.dataset = section;
    manifest.state = dataset::Manifest::State::complete;
    manifest.content_version = 1;
    const formats::Format& format = format_of(section.format);
    for (const Split split : {Split::train, Split::valid}) {
        const auto plan = dataset::DatasetPlan::make(section, split);
        REQUIRE(plan);
        dataset::SplitTotals& totals = split == Split::train ? manifest.train : manifest.valid;
        for (std::uint64_t i = 0; i < plan->file_count(); ++i) {
            const FileShape shape = plan->shape(i);
            std::string& content = backend.files[plan->name(i)];
            content = encoded(format, shape);
            for (std::size_t side = 0; side < format.side_files().size(); ++side)
                backend.files[formats::side_path(format.side_files()[side], plan->name(i))] =
                    format.side_bytes(shape, side);
            totals.payload_bytes += shape.payload_bytes();
            totals.file_bytes += content.size();
        }
        CHECK(totals.payload_bytes == plan->total_payload_bytes());
    }
    REQUIRE(dataset::write_manifest(backend, manifest));
    return manifest;
}

} // namespace feedbench::test
