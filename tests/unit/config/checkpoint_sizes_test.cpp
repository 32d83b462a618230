#include "harness/config/checkpoint_sizes.hpp"

#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "tests/unit/config/checkpoint_profile.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace feedbench;
using namespace feedbench::config;
using test::profile;
using test::sizes;

namespace {

double gib(std::uint64_t bytes) { return to_GiB(static_cast<double>(bytes)); }

} // namespace

TEST_CASE("sizes of llama3 checkpoints (S4)") {
    const auto small = sizes(profile("llama3_8b"), 8).total();
    CHECK(gib(small.total()) == Approx(104.7045).margin(0.00005));
    CHECK(gib(small.model) == Approx(14.9575).margin(0.00005));
    CHECK(gib(small.optimizer) == Approx(89.7470).margin(0.00005));
    const auto large = sizes(profile("llama3_405b"), 512).total();
    CHECK(gib(large.total()) == Approx(5292.2487).margin(0.00005));
    CHECK(gib(large.model) == Approx(756.0149).margin(0.00005));
    CHECK(gib(large.optimizer) == Approx(4536.2338).margin(0.00005));
}

TEST_CASE("the files of all ranks are distinct and make up the total") {
    for (const auto& [name, ranks] : {std::pair{"llama3_8b", 8u}, std::pair{"llama3_70b", 64u},
                                      std::pair{"llama3_405b", 512u}, std::pair{"llama3_1t", 1024u}}) {
        INFO(name);
        const auto s = sizes(profile(name), ranks);
        CHECK(s.tensor_parallelism() * s.pipeline_parallelism() * s.data_parallelism() == ranks);
        std::set<std::string> names;
        std::uint64_t bytes = 0, count = 0;
        for (std::uint64_t r = 0; r < ranks; ++r) {
            std::uint64_t of_rank = 0;
            for (const auto& file : s.files(r)) {
                names.insert(file.name);
                of_rank += file.bytes;
                ++count;
            }
            CHECK(of_rank == s.rank(r).total());
            bytes += of_rank;
        }
        CHECK(names.size() == count);
        CHECK(bytes == s.total().total());
    }
}

TEST_CASE("who writes what follows the ZeRO stage") {
    const auto zero3 = sizes(profile("llama3_8b"), 8);
    REQUIRE(zero3.files(5).size() == 2);
    CHECK(zero3.files(5)[0].name == "zero_pp_rank_5_mp_rank_0_model_states.pt");
    CHECK(zero3.files(5)[1].name == "zero_pp_rank_5_mp_rank_0_optim_states.pt");
    CHECK(zero3.rank(0).model == zero3.rank(7).model);

    // 405b: 126 layers over 32 stages, so that the first 30 have four and the last two three; layers 0, 127, 128 are
    // extra.
    const auto zero1 = sizes(profile("llama3_405b"), 512);
    CHECK(zero1.files(0).size() == 4 + 1 + 1);
    CHECK(zero1.files(0)[0].name == "layer_0-model_0_model_states.pt");
    CHECK(zero1.files(8).front().name == "layer_5-model_8_model_states.pt");
    CHECK(zero1.files(8).size() == 4 + 1);
    CHECK(zero1.files(30 * 8).size() == 3 + 1);
    CHECK(zero1.files(255).size() == 3 + 2 + 1);
    CHECK(zero1.files(256).size() == 1); // the second data rank writes its optimizer only
    CHECK(zero1.files(256)[0].name == "zero_pp_rank_1_mp_rank_0_optim_states.pt");

    const auto zero0 = sizes(profile("llama3_8b", {"model.parallelism.zero_stage=0"}), 8);
    CHECK(zero0.files(0)[0].name == "model_0_model_states.pt");
    CHECK(zero0.rank(0).optimizer > 0);
    CHECK(zero0.rank(1).total() == 0);
    CHECK(gib(zero0.total().model) == Approx(14.9575).margin(0.001));
}

TEST_CASE("explicit tensors, models without layers, scale, subset") {
    const auto parts =
        sizes(profile("llama3_8b", {"model.layer_parameters=[1000, 24]", "model.optimization_groups=[100, 28]",
                                    "model.num_layers=2", "model.parallelism.zero_stage=1"}),
              2);
    CHECK(parts.rank(0).model == (2 + 3) * 1024 * 2); // layers 0..4
    CHECK(parts.rank(1).model == 0);
    CHECK(parts.rank(1).optimizer == 3 * 128 * 4);

    const Workload plain = profile("unet3d_h100", {"workflow.train=false"});
    const auto one = sizes(plain, 4);
    CHECK(one.total().total() == 499153191);
    CHECK(one.files(0)[0].name == "model_states-0.pt");
    CHECK(one.files(1).empty());
    CHECK(sizes(profile("unet3d_h100", {"workflow.train=false", "checkpoint.type=all_ranks"}), 4).total().total() ==
          4 * 499153191ULL);

    const auto full = sizes(profile("llama3_8b"), 8), tenth = sizes(profile("llama3_8b", {"model.scale=0.1"}), 8);
    CHECK(static_cast<double>(tenth.total().total()) ==
          Approx(0.1 * static_cast<double>(full.total().total())).epsilon(1e-6));

    const Workload subset = profile("llama3_405b", {"checkpoint.mode=subset", "model.parallelism.data=2"});
    const auto first8 = sizes(subset, 8), all = sizes(profile("llama3_405b"), 512);
    CHECK(first8.data_parallelism() == 2);
    CHECK(first8.rank(3).total() == all.rank(3).total());
    CHECK(first8.total().total() < all.total().total() / 32);
    CHECK_FALSE(CheckpointSizes::of(subset, 513));
}

TEST_CASE("rank counts (S5, S6)") {
    CHECK(closed_rank_count("llama3_8b") == 8);
    CHECK(closed_rank_count("llama_70b") == 64);
    CHECK(closed_rank_count("llama3-405b") == 512);
    CHECK(closed_rank_count("llama_1t") == 1024);
    CHECK_FALSE(closed_rank_count("llama_7b"));
    CHECK(check_closed_ranks(profile("llama3_8b"), 8));
    CHECK(check_closed_ranks(profile("llama3_8b"), 4).error().message == "4 ranks; CLOSED asks for 8 with llama3_8b");
    CHECK_FALSE(check_closed_ranks(profile("unet3d_h100"), 8));
    CHECK(check_closed_ranks(profile("llama3_8b", {"checkpoint.mode=subset", "model.parallelism.data=8"}), 8));
    CHECK_FALSE(check_closed_ranks(profile("llama3_70b", {"checkpoint.mode=subset", "model.parallelism.data=8"}), 8));
    CHECK(CheckpointSizes::of(profile("llama3_70b"), 12)
              .error()
              .message.find("not a multiple of model.parallelism tensor 8 x pipeline 1 = 8") != std::string::npos);
    CHECK_FALSE(CheckpointSizes::of(profile("llama3_8b"), 0));
    CHECK_FALSE(CheckpointSizes::of(profile("llama3_8b", {"model.transformer.hidden_size=4294967296"}), 8));
    CHECK(checkpoint_folder_name(3, 24) == "global_epoch3_step24");
}
