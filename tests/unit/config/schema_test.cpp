#include "harness/config/schema.hpp"

#include "harness/config/derive.hpp"
#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <yaml-cpp/yaml.h>

using namespace feedbench;
using namespace feedbench::config;

TEST_CASE("rows are whole: unique names, targets that exist, defaults that parse, sentences that end") {
    std::set<std::string_view> names;
    for (const Key& key : schema()) {
        INFO(key.name);
        CHECK(names.insert(key.name).second);
        if (!key.alias_of.empty()) {
            REQUIRE(find_key(key.alias_of) != nullptr);
            CHECK(find_key(key.alias_of)->alias_of.empty());
            CHECK(&canonical(key) == find_key(key.alias_of));
            continue;
        }
        CHECK(&canonical(key) == &key);
        CHECK(key.help.ends_with("."));
        CHECK((key.effect == Effect::honoured) == key.why.empty());
        CHECK((key.set == nullptr) == (key.get == nullptr));
        if (!key.part_of.empty()) CHECK(find_key(key.part_of) != nullptr);
        // A key that is said to be honoured has a place to go to, or is read where what follows from several keys is
        // computed.
        const bool computed =
            key.name == "dataset.enable_chunking" || key.name == "dataset.chunk_size" || key.name == "reader.read_type";
        if (key.effect == Effect::honoured && key.part_of.empty() && !computed) CHECK(key.set != nullptr);
        if (!key.default_value.empty() && key.type != KeyType::text) {
            const auto value = parse_value(key, YAML::Load(std::string(key.default_value)));
            CHECK(value);
        }
    }
    CHECK(names.size() > 120);
}

TEST_CASE("defaults of the rows are those of an empty Workload, the framework apart") {
    const auto w = load_workload_text("framework: pytorch\n", "x.yaml");
    REQUIRE(w);
    const Workload empty;
    CHECK(w->model == empty.model);
    CHECK(w->workflow == empty.workflow);
    CHECK(w->storage == empty.storage);
    CHECK(w->reader == empty.reader);
    CHECK(w->train == empty.train);
    CHECK(w->evaluation == empty.evaluation);
    CHECK(w->checkpoint == empty.checkpoint);
    CHECK(w->output == empty.output);
    CHECK(w->metric == empty.metric);
    DatasetSection dataset;
    dataset.num_samples_per_file_eval = 1; // computed
    CHECK(w->dataset == dataset);
}

TEST_CASE("every key with a place can be set to another value and comes back") {
    for (const Key& key : schema()) {
        if (key.set == nullptr || key.effect == Effect::refused) continue;
        INFO(key.name);
        Workload workload;
        const std::string before = key.get(workload);
        std::string text;
        switch (key.type) {
        case KeyType::boolean:
            text = before == "true" ? "false" : "true";
            break;
        case KeyType::integer:
            text = key.limits.min > 2 ? std::to_string(static_cast<std::int64_t>(key.limits.min))
                   : before == "1"    ? (key.limits.max >= 2 ? "2" : "0")
                                      : "1";
            break;
        case KeyType::number:
            text = before == "0.5" ? "1" : key.limits.max < 2 ? "0.5" : "3.5";
            break;
        case KeyType::text:
            text = "some text";
            break;
        case KeyType::choice: {
            const auto bar = key.choices.rfind('|');
            text = key.choices.substr(bar + 1);
            if (text == before) text = key.choices.substr(0, key.choices.find('|'));
            break;
        }
        case KeyType::integer_list:
            text = "[3, 4]";
            break;
        case KeyType::text_list:
            text = "[a, b]";
            break;
        case KeyType::time:
            text = "{mean: 0.25, stdev: 0.125, type: normal}";
            break;
        case KeyType::text_map:
            text = "{a: \"1\", b.c: x}";
            break;
        case KeyType::columns:
            text = "[{name: a, dtype: int8, size: 2, read: false}]";
            break;
        }
        const auto value = parse_value(key, YAML::Load(text));
        INFO(text << " " << (value ? "" : value.error().message));
        REQUIRE(value);
        key.set(workload, *value);
        CHECK(key.get(workload) == text);
        CHECK(key.get(workload) != before);
    }
}

TEST_CASE("sections and nearest names") {
    CHECK(is_section("reader"));
    CHECK(is_section("model.parallelism"));
    CHECK(is_section("checkpoint.ksm"));
    CHECK_FALSE(is_section("reader.batch_size"));
    CHECK_FALSE(is_section("read"));
    CHECK_FALSE(is_section("framework"));
    CHECK(nearest_key("train.computaton_time") == "computation_time");
    CHECK(nearest_key("reader.bacth_size") == "batch_size");
    CHECK(nearest_key("dataset.batch_size") == "reader.batch_size");
    CHECK(nearest_key("datset") == "dataset");
    CHECK(nearest_key("reader.xxxxxxxx").empty());
    CHECK(nearest_of("unet3d_h10", {"unet3d_h100", "resnet50_h100"}) == "unet3d_h100");
    CHECK(nearest_of("other", {"unet3d_h100"}).empty());
    CHECK(element_bytes("float16") == 2);
    CHECK(element_bytes("int64") == 8);
    CHECK(accelerator_in("unet3d_h100_s3") == "h100");
    CHECK(accelerator_in("UNet3D-MI355") == "mi355");
    CHECK(accelerator_in("unet3d_h1000").empty());
}

TEST_CASE("docs/configuration.md is what the rows say") {
    const std::string path = std::string(FEEDBENCH_SOURCE_DIR) + "/docs/configuration.md";
    std::ifstream stream(path);
    std::stringstream committed;
    committed << stream.rdbuf();
    const std::string expected = schema_markdown();
    if (committed.str() != expected) {
        const std::string written = (std::filesystem::current_path() / "configuration.md").string();
        std::ofstream(written) << expected;
        FAIL("docs/configuration.md is not what harness/config/schema_*.cpp says; run: cp " << written << " " << path);
    }
    for (const Key& key : schema()) CHECK(expected.find("| `" + std::string(key.name) + "` |") != std::string::npos);
}
