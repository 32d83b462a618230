// Whole datasets into memory: the same bytes whoever writes them (C5), interrupted and resumed (C8), refused.
#include <catch2/catch.hpp>

#include <mutex>

#include "formats/registry.hpp"
#include "generators/dataset_writer.hpp"
#include "tests/support/fake_ranks.hpp"
#include "tests/support/memory_backend.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {

// The memory that several ranks share.
class SharedBackend final : public storage::Backend {
  public:
    explicit SharedBackend(MemoryBackend& memory, std::mutex& mutex) : memory_(memory), mutex_(mutex) {}
    const storage::Capabilities& capabilities() const override { return memory_.capabilities(); }
    std::string display_path(const std::string& path) const override { return memory_.display_path(path); }
    engine::Submit submit(engine::IoOp& op) override {
        std::lock_guard lock(mutex_);
        return memory_.submit(op);
    }
    Expected<storage::FileStat> stat(const std::string& path) override {
        std::lock_guard lock(mutex_);
        return memory_.stat(path);
    }
    Status make_directories(const std::string& path) override {
        std::lock_guard lock(mutex_);
        return memory_.make_directories(path);
    }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        std::lock_guard lock(mutex_);
        return memory_.write_file(path, content);
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override {
        std::lock_guard lock(mutex_);
        return memory_.read_file(path, limit_bytes);
    }

  private:
    MemoryBackend& memory_;
    std::mutex& mutex_;
};

Workload workload_of(std::string format) {
    Workload workload;
    workload.dataset.format = std::move(format);
    workload.dataset.num_files_train = 13;
    workload.dataset.num_files_eval = 3;
    workload.dataset.num_subfolders_train = 2;
    workload.dataset.num_samples_per_file = 2;
    workload.dataset.record_length_bytes = 20000;
    workload.dataset.record_length_bytes_stdev = 4000;
    return workload;
}

std::vector<Expected<generators::DatasetReport>> generate(const Workload& workload, MemoryBackend& memory, int ranks,
                                                          const volatile std::sig_atomic_t* signal = nullptr) {
    FakeRanks all({ranks});
    std::mutex mutex, results;
    std::vector<Expected<generators::DatasetReport>> reports(static_cast<std::size_t>(ranks),
                                                             internal_error("no answer"));
    all.run([&](cluster::Communicator& communicator) {
        auto clock = engine::make_virtual_clock();
        auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
        SharedBackend backend(memory, mutex);
        generators::DatasetRequest request;
        request.workload = &workload;
        request.communicator = &communicator;
        request.reactor = reactor.get();
        request.backend = &backend;
        request.signal = signal;
        auto report = generators::generate_dataset(request);
        std::lock_guard lock(results);
        reports[static_cast<std::size_t>(communicator.rank())] = std::move(report);
    });
    return reports;
}

std::uint64_t data_files(const MemoryBackend& memory) {
    std::uint64_t count = 0;
    for (const auto& [name, content] : memory.files) // an index lies beside its file
        count += (name.starts_with("train/") || name.starts_with("valid/")) && !name.ends_with(".idx");
    return count;
}

} // namespace

TEST_CASE("case C5: 1 rank and 4 ranks write the same bytes, of every format") {
    for (const formats::Format* format : formats::all_formats()) {
        INFO(format->name());
        Workload workload = workload_of(std::string(format->name()));
        std::uint32_t& samples = workload.dataset.num_samples_per_file;
        samples = std::min(samples, format->most_samples_per_file());
        MemoryBackend one, four, again;
        const auto single = generate(workload, one, 1), several = generate(workload, four, 4);
        if (!single[0]) FAIL(single[0].error().describe());
        for (const auto& report : several)
            if (!report) FAIL(report.error().describe());
        CHECK(one.files == four.files); // side files and the manifest too
        CHECK(data_files(one) == 16);
        CHECK(single[0]->files_written == 16);
        CHECK(several[0]->files_written == 16);
        CHECK(single[0]->manifest.train == several[0]->manifest.train);
        CHECK(one.files.count("train/0/img_00_of_13." + std::string(format->name())) == 1);
        CHECK(one.files.count("valid/img_2_of_3." + std::string(format->name())) == 1);
        // Another seed, other bytes.
        workload.dataset.seed = 11;
        REQUIRE(generate(workload, again, 1)[0]);
        CHECK(again.files != one.files);
    }
}

TEST_CASE("case C8: what is finished is kept, what is not is written again, and the end is the same") {
    const Workload workload = workload_of("npz");
    MemoryBackend whole, memory;
    REQUIRE(generate(workload, whole, 1)[0]);
    // The 70th operation fails, in the middle of the work.
    for (const std::uint64_t limit : {20, 40, 60}) {
        INFO("stopped after " << limit << " operations");
        memory.files.clear();
        memory.folders = {""};
        class Failing final : public storage::Backend {
          public:
            Failing(MemoryBackend& inner, std::uint64_t after) : inner_(inner), left_(after) {}
            const storage::Capabilities& capabilities() const override { return inner_.capabilities(); }
            std::string display_path(const std::string& path) const override { return inner_.display_path(path); }
            engine::Submit submit(engine::IoOp& op) override {
                if (left_ == 0 && op.kind != IoKind::close) {
                    op.result = -EIO;
                    return engine::Submit::done;
                }
                if (left_ > 0) --left_;
                return inner_.submit(op);
            }
            Expected<storage::FileStat> stat(const std::string& path) override { return inner_.stat(path); }
            Status make_directories(const std::string& path) override { return inner_.make_directories(path); }
            Status write_file(const std::string& path, std::span<const std::byte> content) override {
                return inner_.write_file(path, content);
            }
            Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override {
                return inner_.read_file(path, limit_bytes);
            }

          private:
            MemoryBackend& inner_;
            std::uint64_t left_;
        } failing(memory, limit);
        FakeRanks alone({1});
        auto clock = engine::make_virtual_clock();
        auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
        const auto communicator = alone.rank(0);
        generators::DatasetRequest request;
        request.workload = &workload;
        request.communicator = communicator.get();
        request.reactor = reactor.get();
        request.backend = &failing;
        const auto failed = generators::generate_dataset(request);
        REQUIRE_FALSE(failed);
        CHECK(failed.error().errno_value == EIO);
        CHECK(exit_code(failed.error().kind) == 3);
        const std::uint64_t finished = data_files(memory);
        CHECK(finished > 0);
        CHECK(finished < 16);
        for (const auto& [name, content] : memory.files) // no short file ever
            if (name.starts_with("train/") || name.starts_with("valid/")) CHECK(content == whole.files[name]);
        // A dataset that is not complete is not run.
        auto manifest = dataset::read_manifest(memory);
        REQUIRE(manifest);
        CHECK(manifest->state == dataset::Manifest::State::in_progress);
        CHECK_FALSE(dataset::check_manifest(*manifest, workload.dataset, "here"));

        const auto resumed = generate(workload, memory, 2);
        REQUIRE(resumed[0]);
        CHECK(resumed[0]->files_kept == finished);
        CHECK(resumed[0]->files_written == 16 - finished);
        CHECK(memory.files == whole.files);
    }
}

TEST_CASE("a finished dataset is kept as it is, a file of another length is written again") {
    const Workload workload = workload_of("tfrecord");
    MemoryBackend memory;
    REQUIRE(generate(workload, memory, 1)[0]);
    const auto before = memory.files;
    memory.files["train/1/img_03_of_13.tfrecord"].resize(100);
    memory.files.erase("valid/img_1_of_3.tfrecord");
    const auto again = generate(workload, memory, 1);
    REQUIRE(again[0]);
    CHECK(again[0]->files_kept == 14);
    CHECK(again[0]->files_written == 2);
    CHECK(memory.files == before);
}

TEST_CASE("another dataset in the way is refused by every rank, and nothing of it is touched") {
    Workload workload = workload_of("raw");
    MemoryBackend memory;
    REQUIRE(generate(workload, memory, 1)[0]);
    const auto before = memory.files;
    workload.dataset.record_length_bytes = 30000;
    workload.dataset.num_files_train = 14;
    for (const auto& report : generate(workload, memory, 3)) {
        REQUIRE_FALSE(report);
        CHECK(exit_code(report.error().kind) == 2);
        CHECK(report.error().message.find("record_length_bytes") != std::string::npos);
        CHECK(report.error().message.find("30000") != std::string::npos);
    }
    CHECK(memory.files == before);
}

TEST_CASE("an error on one rank is everybody's, once") {
    const Workload workload = workload_of("raw");
    MemoryBackend memory;
    memory.fail_next[IoKind::write] = ENOSPC;
    const auto reports = generate(workload, memory, 3);
    for (const auto& report : reports) {
        REQUIRE_FALSE(report);
        CHECK(report.error().errno_value == ENOSPC);
        CHECK(report.error().rank >= 0);
        CHECK(report.error().describe() == reports[0].error().describe());
    }
    CHECK(data_files(memory) < 16);
}

TEST_CASE("a shape that a format cannot hold is refused before anything is made") {
    Workload workload = workload_of("tfrecord");
    workload.dataset.compression = "zip";
    MemoryBackend memory;
    const auto report = generate(workload, memory, 1);
    if (!report[0]) CHECK(memory.files.empty());
    workload.dataset.format = "no such format";
    const auto unknown = generate(workload, memory, 1);
    REQUIRE_FALSE(unknown[0]);
    CHECK(unknown[0].error().message.find("npz") != std::string::npos); // lists the known ones
}
