#include "harness/dataset/manifest.hpp"

#include <cerrno>

#include "dataset_files.hpp"

using namespace feedbench;
using namespace feedbench::dataset;
using feedbench::test::MemoryBackend;
using feedbench::test::small_section;

namespace {

Manifest full_manifest() {
    Manifest manifest;
    manifest.state = Manifest::State::complete;
    manifest.content_version = 3;
    manifest.totals_measured = false;
    manifest.train = {1ULL << 60, (1ULL << 60) + 7};
    manifest.valid = {5, 6};
    DatasetSection& s = manifest.dataset;
    s = small_section("hdf5");
    s.num_files_train = 64'000'000'000ULL;
    s.record_length_bytes = 114660.07;
    s.record_dims = {3, 5};
    s.chunk_dims = {1, 5};
    s.max_shape = {9, 5};
    s.compression = "gzip";
    s.compression_level = 9;
    s.num_dset_per_record = 3;
    s.num_subfolders_train = 7;
    s.file_prefix = "p\"\\\xc3\xa4";
    s.seed = 4294967295ULL;
    s.dedupe_percent = 12.5;
    return manifest;
}

std::string compared(const Manifest& manifest, const DatasetSection& asked) {
    std::string text;
    for (const Mismatch& m : compare(manifest, asked)) text += m.key + ":" + m.found + ":" + m.asked + ";";
    return text;
}

Manifest made(const DatasetSection& section) {
    Manifest manifest;
    manifest.state = Manifest::State::complete;
    manifest.dataset = section;
    return manifest;
}

} // namespace

TEST_CASE("a manifest goes out and comes back unchanged") {
    const Manifest manifest = full_manifest();
    const Expected<Manifest> back = parse_manifest(to_json(manifest), "m");
    INFO((back ? std::string() : back.error().describe()));
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(manifest));
    CHECK(compared(*back, manifest.dataset).empty());
    CHECK(back->train == manifest.train);
    CHECK(back->valid == manifest.valid);
    CHECK(back->totals_measured == false);
    CHECK(back->content_version == 3);
    CHECK(back->state == Manifest::State::complete);
    CHECK(back->dataset.record_length_bytes == 114660.07);
    CHECK(back->dataset.file_prefix == manifest.dataset.file_prefix);
}

TEST_CASE("a damaged manifest is refused and names what is wrong") {
    const std::string good = to_json(full_manifest());
    const auto broken = [&](const std::string& what, const std::string& with) {
        std::string text = good;
        const std::size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), with);
        const Expected<Manifest> manifest = parse_manifest(text, "m.json");
        REQUIRE_FALSE(manifest);
        CHECK(manifest.error().kind == ErrorKind::format);
        CHECK(manifest.error().path == "m.json");
        return manifest.error().message;
    };
    CHECK(broken("\"schema_version\": 1", "\"schema_version\": 2").find("version 2") != std::string::npos);
    CHECK(broken("\"seed\"", "\"sead\"").find("dataset.seed") != std::string::npos);
    CHECK(broken("64000000000", "-5").find("dataset.num_files_train") != std::string::npos);
    CHECK(broken("64000000000", "1.5").find("dataset.num_files_train") != std::string::npos);
    CHECK(broken("\"num_subfolders_train\": 7", "\"num_subfolders_train\": 4294967296").find("num_subfolders_train") !=
          std::string::npos);
    CHECK(broken("\"complete\"", "\"done\"").find("state") != std::string::npos);
    CHECK(broken("\"file_bytes\": 6", "\"file_bytes\": \"6\"").find("totals.valid") != std::string::npos);
    CHECK(broken("\"totals\"", "\"total\"").find("totals") != std::string::npos);
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{"), good.substr(0, good.size() / 2)})
        CHECK_FALSE(parse_manifest(text, "m"));
    for (std::size_t cut = 0; cut + 2 < good.size(); cut += 7) CHECK_FALSE(parse_manifest(good.substr(0, cut), "m"));
}

TEST_CASE("written beside the data and read again") {
    MemoryBackend backend;
    REQUIRE(write_manifest(backend, full_manifest()));
    CHECK(backend.files.count("feedbench-manifest.json") == 1);
    const Expected<Manifest> back = read_manifest(backend);
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(full_manifest()));
}

TEST_CASE("no dataset: the message says what is there and what to run") {
    MemoryBackend backend;
    Expected<Manifest> answer = read_manifest(backend);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::storage);
    CHECK(answer.error().message.find("no dataset at memory:/") != std::string::npos);
    CHECK(answer.error().message.find("feedbench datagen") != std::string::npos);
    CHECK(answer.error().message.find("feedbench adopt") != std::string::npos);
    backend.folders.clear(); // not even the folder
    answer = read_manifest(backend);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().message.find("no such folder") != std::string::npos);
    CHECK(answer.error().message.find("feedbench datagen") != std::string::npos);
    backend.files[""] = "a file where the folder should be";
    answer = read_manifest(backend);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().errno_value == ENOTDIR);
    CHECK(answer.error().message.find("the data folder is a file") != std::string::npos);
}

TEST_CASE("P9: found 3, asked 0 or 2") {
    DatasetSection section = small_section();
    section.num_subfolders_train = 3;
    const Manifest manifest = made(section);
    DatasetSection asked = section;
    CHECK(check_manifest(manifest, asked, "/data"));
    for (const std::uint32_t other : {0U, 2U}) {
        asked.num_subfolders_train = other;
        const Status status = check_manifest(manifest, asked, "/data");
        REQUIRE_FALSE(status);
        CHECK(status.error().kind == ErrorKind::config);
        CHECK(status.error().message.find("num_subfolders_train: found 3, asked " + std::to_string(other)) !=
              std::string::npos);
        CHECK(status.error().message.find("/data") != std::string::npos);
    }
    section.num_subfolders_train = 0;
    asked.num_subfolders_train = 1; // both mean none
    CHECK(check_manifest(made(section), asked, "/data"));
}

TEST_CASE("P11: fewer files than made are allowed, more are not") {
    const Manifest manifest = made(small_section());
    DatasetSection asked = small_section();
    asked.num_files_train = 5;
    asked.num_files_eval = 0;
    CHECK(check_manifest(manifest, asked, "/data"));
    asked.num_files_train = 13;
    CHECK(compared(manifest, asked) == "dataset.num_files_train:12:13;");
    asked.num_files_eval = 4;
    CHECK(compared(manifest, asked) == "dataset.num_files_train:12:13;dataset.num_files_eval:3:4;");
}

TEST_CASE(
    "datagen goes on only with the very same dataset: fewer files have other names, another content other bytes") {
    DatasetSection section = small_section("npz");
    section.num_files_train = 56;
    section.num_files_eval = 8;
    Manifest manifest = made(section);
    manifest.content_version = 3;
    CHECK(compare_to_resume(manifest, section, 3).empty());
    const auto only = [&](const DatasetSection& asked, int version) {
        const auto found = compare_to_resume(manifest, asked, version);
        return found.size() == 1 ? found[0].key + ":" + found[0].found + ":" + found[0].asked : "not one difference";
    };
    DatasetSection fewer = section, more = section, none = section, seed = section;
    fewer.num_files_train = 28; // would be img_00_of_28, beside img_00_of_56
    more.num_files_train = 57;
    none.num_files_eval = 0;
    seed.seed = 11;
    CHECK(only(fewer, 3) == "dataset.num_files_train:56:28");
    CHECK(only(more, 3) == "dataset.num_files_train:56:57");
    CHECK(only(none, 3) == "dataset.num_files_eval:8:0");
    CHECK(only(seed, 3) == "dataset.seed:10:11");
    CHECK(only(section, 4) == "content_version:3:4");
    CHECK(compare(manifest, fewer).empty()); // a run may use a part
}

TEST_CASE("every parameter that makes another dataset is named; what does not apply is not compared") {
    const DatasetSection section = small_section();
    const Manifest manifest = made(section);
    CHECK(compared(manifest, section).empty());
    const auto changed = [&](auto&& change) {
        DatasetSection asked = section;
        change(asked);
        return compared(manifest, asked);
    };
    CHECK(changed([](DatasetSection& s) { s.format = "npy"; }) == "dataset.format:npz:npy;");
    CHECK(changed([](DatasetSection& s) { s.file_prefix = "x"; }) == "dataset.file_prefix:img:x;");
    CHECK(changed([](DatasetSection& s) { s.num_samples_per_file = 4; }) ==
          "dataset.num_samples_per_file:2:4;dataset.num_samples_per_file_eval:2:4;");
    CHECK(changed([](DatasetSection& s) { s.record_length_bytes = 1000.5; }) ==
          "dataset.record_length_bytes:1000:1000.5;");
    CHECK(changed([](DatasetSection& s) { s.record_length_bytes_stdev = 0; }) ==
          "dataset.record_length_bytes_stdev:300:0;");
    CHECK(changed([](DatasetSection& s) { s.record_dims = {3, 4}; }) == "dataset.record_dims:[]:[3, 4];");
    CHECK(changed([](DatasetSection& s) { s.record_element_bytes = 2; }) == "dataset.record_element_bytes:1:2;");
    CHECK(changed([](DatasetSection& s) { s.compression = "zip"; }) == "dataset.compression:none:zip;");
    CHECK(changed([](DatasetSection& s) { s.compression_level = 9; }).empty()); // nothing is compressed
    CHECK(changed([](DatasetSection& s) { s.chunk_dims = {1}; }).empty());      // hdf5 alone has chunks
    CHECK(changed([](DatasetSection& s) { s.seed = 11; }) == "dataset.seed:10:11;");
    CHECK(changed([](DatasetSection& s) { s.dedupe_percent = 5; }) == "dataset.dedupe_percent:0:5;");
    CHECK(changed([](DatasetSection& s) { s.num_subfolders_eval = 2; }) == "dataset.num_subfolders_eval:0:2;");
    CHECK(changed([](DatasetSection& s) { s.num_subfolders_eval = 2, s.num_files_eval = 0; }).empty());
    CHECK(changed([](DatasetSection& s) { s.data_folder = "/elsewhere"; }).empty());
}

TEST_CASE("an adopted dataset is compared by what its names and files say, not by how sizes would be drawn") {
    Manifest manifest = made(small_section());
    manifest.generator = kAdopted;
    DatasetSection asked = small_section();
    asked.record_length_bytes = 5;
    asked.record_dims = {5, 5};
    asked.seed = 77;
    CHECK(compared(manifest, asked).empty());
    asked.num_samples_per_file = 1;
    CHECK_FALSE(compared(manifest, asked).empty());
    const Expected<DatasetPlan> plan = plan_of(manifest, Split::train);
    REQUIRE(plan);
    CHECK_FALSE(plan->sizes_known());
}

TEST_CASE("an unfinished datagen is not a dataset") {
    Manifest manifest = made(small_section());
    manifest.state = Manifest::State::in_progress;
    const Status status = check_manifest(manifest, small_section(), "/data");
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("not complete") != std::string::npos);
}
