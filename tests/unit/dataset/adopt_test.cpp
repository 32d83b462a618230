#include "harness/dataset/adopt.hpp"

#include <cerrno>

#include "dataset_files.hpp"
#include "harness/dataset/spot_check.hpp"

using namespace feedbench;
using namespace feedbench::dataset;
using namespace feedbench::test;

namespace {

// As the reference tool would leave it: no manifest.
void write_foreign(MemoryBackend& backend, const DatasetSection& section) {
    write_dataset(backend, section);
    backend.files.erase(std::string(kManifestName));
}

Adoption adopted(MemoryBackend& backend, const AdoptRequest& request = {}) {
    Expected<Adoption> adoption = adopt({backend}, request);
    INFO((adoption ? std::string() : adoption.error().describe()));
    REQUIRE(adoption);
    return std::move(*adoption);
}

Error refused(MemoryBackend& backend, const AdoptRequest& request = {}) {
    Expected<Adoption> adoption = adopt({backend}, request);
    REQUIRE_FALSE(adoption);
    return adoption.error();
}

bool says(const Error& error, const std::string& text) {
    INFO(error.describe());
    CHECK(error.describe().find(text) != std::string::npos);
    return error.describe().find(text) != std::string::npos;
}

} // namespace

TEST_CASE("names of data files are taken apart, others are not") {
    const auto name = parse_data_file_name("my_img_007_of_168.npz");
    REQUIRE(name);
    CHECK(name->prefix == "my_img");
    CHECK(name->index == 7);
    CHECK(name->count == 168);
    CHECK(name->format == "npz");
    CHECK(parse_data_file_name("a_of_b_0_of_1.hdf5")->prefix == "a_of_b");
    for (const char* other :
         {"", "img", "img_1_of_1.npz", "img_168_of_168.npz", "img_7_of_168.npz", "img_0007_of_168.npz",
          "img_007_of_168", "img_007_of_168.", "_007_of_168.npz", "007_of_168.npz", "img_00x_of_168.npz",
          "img_007_of_.npz", "img__of_168.npz", "img_00_of_00.npz",
          "img_99999999999999999999_of_99999999999999999999.npz", "img_-07_of_168.npz"})
        CHECK_FALSE(parse_data_file_name(other));
}

TEST_CASE("a dataset without manifest is adopted, and then passes comparison and spot check") {
    for (const char* format : {"npz", "npy", "tfrecord", "indexed_binary"}) {
        for (const std::uint32_t subfolders : {0U, 3U}) {
            CAPTURE(format, subfolders);
            MemoryBackend backend;
            DatasetSection section = small_section(format);
            section.file_prefix = "part_x";
            section.num_subfolders_train = subfolders;
            write_foreign(backend, section);
            const Adoption adoption = adopted(backend, {.samples_per_file = 2});
            const DatasetSection& found = adoption.manifest.dataset;
            CHECK(adoption.manifest.is_adopted());
            CHECK(found.format == format);
            CHECK(found.file_prefix == "part_x");
            CHECK(found.num_files_train == 12);
            CHECK(found.num_files_eval == 3);
            CHECK(found.num_subfolders_train == subfolders);
            CHECK(found.num_samples_per_file == 2);
            CHECK(adoption.manifest.totals_measured);
            CHECK(adoption.notes.empty());
            const auto made = DatasetPlan::make(section, Split::train);
            REQUIRE(made);
            const double mean = static_cast<double>(made->total_payload_bytes()) / 24;
            CHECK(found.record_length_bytes == Approx(mean).epsilon(0.001));
            std::uint64_t file_bytes = 0;
            for (std::uint64_t i = 0; i < 12; ++i) file_bytes += backend.files[made->name(i)].size();
            CHECK(adoption.manifest.train.file_bytes == file_bytes);

            REQUIRE(write_manifest(backend, adoption.manifest));
            const Expected<Manifest> manifest = read_manifest(backend);
            REQUIRE(manifest);
            CHECK(check_manifest(*manifest, section, "here"));
            CHECK(spot_check({backend}, *manifest, format_of(format), {.file_count = 12}));
            CHECK(plan_of(*manifest, Split::train)->name(7) == made->name(7));
        }
    }
}

TEST_CASE("only a bounded sample is looked into, and the totals say so") {
    MemoryBackend backend;
    DatasetSection section = small_section("npy");
    section.num_files_train = 400;
    section.num_files_eval = 0;
    section.record_length_bytes_stdev = 0;
    write_foreign(backend, section);
    backend.operation_count = 0;
    const Adoption adoption = adopted(backend, {.sample_size = 4});
    CHECK(backend.operation_count < 40);
    CHECK_FALSE(adoption.manifest.totals_measured);
    CHECK(adoption.manifest.train.payload_bytes == 400ULL * 2 * 31 * 31); // all are alike here
    CHECK(adoption.manifest.dataset.num_files_eval == 0);
}

TEST_CASE("gaps are refused, and the first missing file is named") {
    MemoryBackend backend;
    DatasetSection section = small_section();
    section.num_subfolders_train = 2;
    write_foreign(backend, section);
    backend.files.erase("train/1/img_05_of_12.npz");
    CHECK(says(refused(backend), "11 of 12 files are there"));
    CHECK(says(refused(backend), "train/1/img_05_of_12.npz"));
}

TEST_CASE("names that do not belong are noted; another dataset beside this one is refused") {
    MemoryBackend backend;
    write_foreign(backend, small_section());
    backend.files["train/README.txt"] = "hello";
    backend.files["train/.hidden"] = "";
    backend.files["train/extra/img_00_of_12.npz"] = "";
    Adoption adoption = adopted(backend);
    REQUIRE(adoption.notes.size() == 1);
    CHECK(adoption.notes[0].find("train/README.txt") != std::string::npos);
    CHECK(adoption.notes[0].find("train/extra") != std::string::npos);
    CHECK(adoption.notes[0].find("2 names") != std::string::npos);
    for (const char* other : {"train/img_00_of_13.npz", "train/pic_00_of_12.npz", "train/img_00_of_12.npy"}) {
        backend.files[other] = "";
        CHECK(says(refused(backend), "two datasets side by side"));
        CHECK(says(refused(backend), other));
        backend.files.erase(other);
    }
}

TEST_CASE("subfolders that do not fit are refused") {
    MemoryBackend backend;
    DatasetSection section = small_section();
    section.num_subfolders_train = 2;
    write_foreign(backend, section);
    backend.files["train/1/img_00_of_12.npz"] = backend.files["train/0/img_00_of_12.npz"];
    CHECK(says(refused(backend), "file 0 belongs into subfolder 0 of 2"));
    backend.files.erase("train/1/img_00_of_12.npz");
    backend.files["train/img_00_of_12.npz"] = "";
    CHECK(says(refused(backend), "both in the folder itself and in its subfolders"));
    backend.files.erase("train/img_00_of_12.npz");
    backend.files["train/3/x"] = "";
    CHECK(says(refused(backend), "numbered subfolders"));
}

TEST_CASE("files that differ in samples, or are no such files, are refused with their name") {
    MemoryBackend backend;
    write_foreign(backend, small_section());
    FileShape shape;
    shape.dims = {5, 5};
    shape.sample_count = 3;
    backend.files["train/img_11_of_12.npz"] = encoded(format_of("npz"), shape);
    CHECK(says(refused(backend), "train/img_11_of_12.npz"));
    CHECK(says(refused(backend), "3 samples"));
    backend.files["train/img_11_of_12.npz"] = "no zip at all";
    CHECK(says(refused(backend), "train/img_11_of_12.npz"));
    CHECK(refused(backend).kind == ErrorKind::format);
}

TEST_CASE("nothing to adopt: what is there instead is said") {
    MemoryBackend backend;
    CHECK(says(refused(backend), "no data to adopt"));
    backend.files["train/scan1.npz"] = "";
    CHECK(says(refused(backend), "scan1.npz"));
    backend.files.clear();
    backend.folders.clear();
    CHECK(refused(backend).errno_value == ENOENT);
    backend.files[""] = "file";
    CHECK(refused(backend).errno_value == ENOTDIR);
}

TEST_CASE("files beside the data files belong to them; a missing or wrong index is said") {
    MemoryBackend backend;
    write_foreign(backend, small_section("indexed_binary"));
    CHECK(adopted(backend).notes.empty());
    CHECK(adopted(backend).manifest.dataset.num_samples_per_file == 2); // the index says it
    const std::string name = "train/img_00_of_12.indexed_binary.sz.idx", good = backend.files[name];
    backend.files[name] += std::string(8, '\0');
    CHECK(says(refused(backend), name + ": an index of 3 samples, but .off.idx has 2"));
    backend.files[name] = good.substr(0, 15);
    CHECK(says(refused(backend), name + ": an index of 8 bytes a sample expected, found 15 bytes"));
    backend.files.erase(name);
    CHECK(refused(backend).errno_value == ENOENT);
    CHECK(says(refused(backend), name));
}

TEST_CASE("an index whose samples vary in size is adopted as it stands") {
    MemoryBackend backend;
    DatasetSection section = small_section("indexed_binary");
    section.num_files_train = 1;
    section.num_files_eval = 0;
    write_foreign(backend, section);
    const std::uint64_t offsets[] = {0, 100, 40}, sizes[] = {100, 28, 7}; // the third lies within the first
    const std::string data = "train/img_0_of_1.indexed_binary";
    backend.files[data] = std::string(128, 'x');
    backend.files[data + ".off.idx"].assign(reinterpret_cast<const char*>(offsets), sizeof offsets);
    backend.files[data + ".sz.idx"].assign(reinterpret_cast<const char*>(sizes), sizeof sizes);
    const Adoption adoption = adopted(backend);
    CHECK(adoption.manifest.dataset.num_samples_per_file == 3);
    CHECK(adoption.manifest.train.file_bytes == 128);
    CHECK(spot_check({backend}, adoption.manifest, format_of("indexed_binary"), {.file_count = 1}));
}
