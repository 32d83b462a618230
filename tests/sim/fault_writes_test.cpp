// Datasets written to storage that fails at random moments, and training of several ranks on it: one error for all, the
// same end on every rank, nothing left in flight.
#include "generators/dataset_writer.hpp"
#include "storage/registry.hpp"
#include "tests/support/fake_ranks.hpp"
#include "tests/support/random_run.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>

using namespace feedbench;
using namespace feedbench::test;

namespace {

// A folder of its own, gone with it.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "feedbench-faults-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

// In real time: null: and model: keep no manifest.
Expected<generators::DatasetReport> write_dataset(const Workload& workload) {
    auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    REQUIRE(reactor);
    auto communicator = cluster::make_single();
    storage::BackendRequest storage;
    storage.uri = workload.dataset.data_folder;
    storage.reactor = reactor->get();
    storage.io_engine = IoEngine::threads;
    auto backend = storage::make_backend(storage);
    REQUIRE(backend);
    auto report = generators::generate_dataset(
        {&workload, communicator.get(), reactor->get(), backend->get(), nullptr, nullptr, false});
    CHECK((*reactor)->outstanding_count() == 0);
    return report;
}

} // namespace

TEST_CASE("40 datasets on storage that fails: all files, or one error; never half a file under its name") {
    std::map<std::string, int> ends;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Random random(stream_seed(seed, "faulty dataset"));
        const Folder folder;
        Workload workload;
        workload.dataset.format = one_of<std::string>(random, {"raw", "npz", "npy", "tfrecord"});
        workload.dataset.num_files_train = between(random, 1, 40);
        workload.dataset.record_length_bytes = between(random, 64, 20000);
        const std::string on = one_of<std::string>(random, {"write", "create", "commit", "close", "any", "namespace"});
        const std::string what = one_of<std::string>(
            random, {"rate=0.02", "error=ENOSPC@" + std::to_string(between(random, 1, 30)), "delay=3ms,delay_at=10%",
                     "error=EDQUOT@3+", "space=" + std::to_string(between(random, 1, 400)) + "kB"});
        workload.dataset.data_folder =
            "fault:seed=" + std::to_string(seed) + "," + what + ",on=" + on + ";inner=" + folder.path.string();
        INFO("seed " << seed << ": " << workload.dataset.data_folder << ", " << workload.dataset.format << ", "
                     << workload.dataset.num_files_train << " files");
        const auto report = write_dataset(workload);
        // What has its name is whole: made again without faults, not one byte changes.
        std::uint64_t whole = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path)) {
            if (!entry.is_regular_file()) continue;
            CHECK(entry.path().string().find(".tmp") == std::string::npos);
            whole += entry.path().filename().string().starts_with("img_") ? 1 : 0;
        }
        if (report) {
            ++ends["written"];
            CHECK(report->files_written == workload.dataset.num_files_train);
            continue;
        }
        const Error& error = report.error();
        INFO(error.describe());
        ++ends[errno_name(error.errno_value)];
        CHECK(error.kind == ErrorKind::storage);
        CHECK_FALSE(error.operation.empty());
        CHECK(error.path.find(folder.path.string()) == 0);
        workload.dataset.data_folder = folder.path.string();
        const auto again = write_dataset(workload);
        REQUIRE(again);
        CHECK(again->files_kept + again->files_written == workload.dataset.num_files_train);
        if (workload.dataset.format != "tfrecord") CHECK(again->files_kept == whole); // tfrecord: index files too
    }
    for (const char* end : {"written", "EIO", "ENOSPC", "EDQUOT"}) {
        INFO(end);
        CHECK(ends[end] >= 2);
    }
}

TEST_CASE("several ranks on several hosts, each with its own faults: all end alike, with one error") {
    int failed = 0, complete = 0;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
        Random random(stream_seed(seed, "faulty ranks"));
        const std::vector<int> layout = one_of<std::vector<int>>(random, {{4}, {2, 2}, {1, 1, 1}, {3}});
        FakeRanks ranks(layout);
        VirtualRun run("null:", one_of<std::string>(random, {"pytorch", "tensorflow", "native"}));
        run.workload.dataset.num_files_train = 96;
        run.workload.reader.read_threads = between(random, 1, 3);
        run.workload.train.epochs = 2;
        run.think(0.0002);
        const auto unlucky = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks.size())));
        const std::string what = one_of<std::string>(
            random, {"error=EIO@" + std::to_string(between(random, 1, 60)), "rate=0.02", "short=9",
                     "delay=2ms,delay_at=9", "error=EACCES@" + std::to_string(between(random, 1, 40)) + "+,on=open"});
        INFO("seed " << seed << ", " << layout.size() << " hosts, " << ranks.size() << " ranks, rank " << unlucky
                     << ": " << what);
        std::vector<std::string> statuses(static_cast<std::size_t>(ranks.size()));
        std::vector<std::uint32_t> outstanding(statuses.size(), 99);
        std::vector<Error> errors;
        ranks.run([&](cluster::Communicator& communicator) {
            auto clock = engine::make_real_clock();
            auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
            const auto rank = static_cast<std::size_t>(communicator.rank());
            Workload mine = run.workload;
            if (communicator.rank() == unlucky) mine.dataset.data_folder = "fault:" + what + ";inner=null:";
            workloads::RunRequest request;
            request.workload = &mine;
            request.communicator = &communicator;
            request.reactor = reactor.get();
            request.accelerator_count = static_cast<std::uint32_t>(communicator.size()) * 2;
            request.run_seed = seed;
            auto result = workloads::run_training(request);
            statuses[rank] = result ? result->status : "refused: " + result.error().describe();
            outstanding[rank] = reactor->outstanding_count();
            if (result && rank == 0) errors = result->errors;
        });
        for (const std::string& status : statuses) CHECK(status == statuses[0]);
        for (const std::uint32_t count : outstanding) CHECK(count == 0);
        if (statuses[0] == "complete") {
            ++complete;
            CHECK(errors.empty());
            continue;
        }
        ++failed;
        CHECK(statuses[0] == "failed");
        REQUIRE(errors.size() == 1);
        INFO(errors[0].describe());
        CHECK(errors[0].rank == unlucky);
        CHECK_FALSE(errors[0].host.empty());
        CHECK(errors[0].path.find("train/img_") != std::string::npos);
    }
    CHECK(failed >= 4);
    CHECK(complete >= 1);
}
