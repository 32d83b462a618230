#include "harness/config/checkpoint_table.hpp"

#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "tests/unit/config/checkpoint_profile.hpp"

#include <catch2/catch.hpp>
#include <fstream>

using namespace feedbench;
using namespace feedbench::config;
using test::profile;
using test::sizes;

TEST_CASE("names and bytes of every file of 8b and 405b are those of the lists") {
    for (const auto& [model, ranks] : {std::pair{"llama3_8b", 8u}, std::pair{"llama3_405b", 512u}}) {
        std::ifstream list(std::string(FEEDBENCH_SOURCE_DIR) + "/tests/data/checkpoints/" + model + ".csv");
        std::string expected;
        REQUIRE(std::getline(list, expected)); // the heading
        const CheckpointSizes made = sizes(profile(model), ranks);
        std::uint64_t count = 0;
        for (std::uint64_t rank = 0; rank < ranks; ++rank)
            for (const CheckpointFile& file : made.files(rank)) {
                REQUIRE(std::getline(list, expected));
                REQUIRE(std::to_string(rank) + "," + file.name + "," + std::to_string(file.bytes) == expected);
                ++count;
            }
        CHECK_FALSE(std::getline(list, expected));
        CHECK(count == (ranks == 8 ? 16 : 129 * 8 + 512));
    }
}

TEST_CASE("classes of ranks: who writes what") {
    const auto large = rank_classes(sizes(profile("llama3_405b"), 512));
    REQUIRE(large.size() == 5);
    CHECK(ranges_text(large[0]) == "0-7"); // with the embedding
    CHECK(large[0].file_count == 6);
    CHECK(ranges_text(large[1]) == "8-239");
    CHECK(large[1].rank_count == 232);
    CHECK(large[1].file_count == 5);
    CHECK(large[1].has_layer_files);
    CHECK(ranges_text(large[3]) == "248-255"); // with the output layer
    CHECK(ranges_text(large[4]) == "256-511");
    CHECK(large[4].bytes.model == 0);
    CHECK(large[4].file_count == 1);
    CHECK_FALSE(large[4].has_layer_files);
    std::uint64_t bytes = 0;
    for (const RankClass& one : large) bytes += one.rank_count * one.bytes.total();
    CHECK(bytes == sizes(profile("llama3_405b"), 512).total().total());

    const auto alike = rank_classes(sizes(profile("llama3_8b"), 8));
    REQUIRE(alike.size() == 1);
    CHECK(ranges_text(alike[0]) == "0-7");
    RankClass many;
    many.ranges = {{0, 0}, {2, 5}, {7, 7}};
    CHECK(ranges_text(many, 2) == "0, 2-5, ...");
}

TEST_CASE("hosts and accelerators that a checkpoint needs") {
    const CheckpointSizes large = sizes(profile("llama3_405b"), 512);
    const auto share = host_share(large, 64);
    REQUIRE(share);
    CHECK(share->ranks_per_host == 8);
    CHECK(share->bytes_least == 8 * large.rank(511).total());
    CHECK(share->bytes_most > share->bytes_least);
    CHECK(host_share(large, 512)->bytes_least == large.rank(511).total());
    CHECK(host_share(large, 60).error().message ==
          "512 ranks do not lie evenly on 60 hosts; the rules ask for the same number on every host");
    CHECK_FALSE(host_share(large, 0));

    // The second data rank holds the weights that the first one writes.
    CHECK(accelerator_state_bytes(large) >= large.rank(0).total());
    CHECK(accelerator_memory_bytes("h100") == 80 * kGiB);
    CHECK_FALSE(accelerator_memory_bytes("abacus"));
    const Workload small = profile("llama3_8b", {"feedbench.accelerator=h100"});
    CHECK(check_accelerator_memory(small, sizes(small, 8)));
    CHECK(check_accelerator_memory(small, sizes(small, 2)));
    const auto refused = check_accelerator_memory(small, sizes(small, 1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "a rank would save 104.7 GiB, but an accelerator of type h100 holds 80 GiB: 1 "
                                     "ranks (tensor 1 x pipeline 1 x data 1) are too few for this model");
    CHECK(check_accelerator_memory(profile("llama3_8b"), sizes(profile("llama3_8b"), 1))); // no accelerator is named
}

TEST_CASE("what CLOSED asks of a checkpoint workload") {
    const auto unmet = [](const Workload& workload, std::uint64_t ranks) {
        std::string text;
        for (const ClosedDemand& demand : closed_demands(workload, ranks))
            if (!demand.met) text += demand.what + " ";
        return text;
    };
    CHECK(unmet(profile("llama3_405b"), 512).empty());
    CHECK(unmet(profile("llama3_405b"), 8) == "ranks ");
    CHECK(unmet(profile("llama3_8b", {"checkpoint.fsync=false", "model.scale=0.02"}), 8) ==
          "checkpoint.fsync model.scale ");
    CHECK(unmet(profile("llama3_8b", {"checkpoint.mode=subset", "model.parallelism.data=8"}), 8).empty());
    CHECK(unmet(profile("llama3_70b", {"checkpoint.mode=subset", "model.parallelism.data=8"}), 64) ==
          "checkpoint.mode ");
    // Writes and reads in two invocations.
    CHECK(unmet(profile("llama3_8b", {"checkpoint.num_checkpoints_read=0"}), 8).empty());
    CHECK(unmet(profile("llama3_8b", {"checkpoint.num_checkpoints_write=0"}), 8).empty());
    CHECK(unmet(profile("llama3_8b", {"checkpoint.num_checkpoints_write=9", "checkpoint.num_checkpoints_read=9"}), 8) ==
          "checkpoints ");
    CHECK(closed_demands(profile("unet3d_h100"), 8).empty());
}

TEST_CASE("shapes that make no checkpoint are refused in one sentence each; what truncates is written") {
    const auto refused = [](std::vector<std::string> params) {
        const auto loaded = load_workload({.workload = "llama3_8b", .params = std::move(params)});
        return loaded ? std::string("accepted") : loaded.error().message;
    };
    CHECK(refused({"model.transformer.num_attention_heads=5000"}) ==
          "model.transformer.num_attention_heads is 5000, more than the 4096 values of hidden_size that they share");
    CHECK(refused({"model.parallelism.tensor=4097"}) ==
          "model.parallelism.tensor is 4097, more than the 4096 values of model.transformer.hidden_size");
    CHECK(refused({"model.num_layers=0", "model.layer_parameters=[100]"}) ==
          "model.layer_parameters says what a layer holds, but model.num_layers is 0");
    CHECK(refused({"checkpoint.asynchronous=true"}) ==
          "checkpoint.asynchronous is on, but there is no training to go on (workflow.train is false)");
    CHECK(refused({"model.transformer.num_attention_heads=33", "model.parallelism.tensor=3"}) == "accepted");

    const Workload nothing = profile("llama3_8b", {"model.scale=1e-12"});
    CHECK(CheckpointSizes::of(nothing, 8).error().message == "model.scale 1e-12 leaves no byte of the checkpoint");
    const Workload empty = profile("unet3d_h100", {"model.model_size=0"});
    CHECK(CheckpointSizes::of(empty, 1).error().message ==
          "model.model_size_bytes is 0: there is no checkpoint to write");
}
