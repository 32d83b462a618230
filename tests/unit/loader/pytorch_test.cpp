// The pytorch model asks the storage for what torch's DataLoader and numpy ask: sequences pinned.
#include "tests/support/loader_rig.hpp"

#include "harness/loader/models.hpp"
#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {

constexpr auto kMillisecond = [](const Operation&) { return kNsPerMs; };

// Batches that were begun, by the first file of each (one sample a file).
std::set<std::uint64_t> batches_begun(LoaderRig& rig) {
    std::set<std::uint64_t> begun;
    for (const Operation& one : rig.backend().of_kind(IoKind::open))
        for (std::uint64_t file = 0; file < rig.setup().files; ++file)
            if (rig.files().name(file) == one.path) begun.insert(file / rig.setup().batch);
    return begun;
}

std::set<std::uint64_t> first(std::uint64_t count) {
    std::set<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i) numbers.insert(i);
    return numbers;
}

} // namespace

TEST_CASE("pytorch on npz asks what numpy asks: head, tail, the member in order in pieces of 256 KiB") {
    LoaderRig rig({.format = "npz", .files = 2, .sample_bytes = 600000});
    const std::uint64_t size = rig.file_bytes(0), tail = round_down(size - 1024, 4096);
    REQUIRE(size > 524288 + 4096);
    const auto plan = rig.epoch();
    rig.backend().delay_ns = kMillisecond;
    rig.run_epoch(*plan);
    const std::vector<std::string> numpy{
        "0+4096",        std::to_string(tail) + "+" + std::to_string(size - tail),
        "4096+258048", // to the next multiple of the transfer size
        "262144+262144", "524288+" + std::to_string(tail - 524288),
    };
    CHECK(extents_of(rig.backend().reads_of(rig.files().name(0))) == numpy);
    CHECK(extents_of(rig.backend().reads_of(rig.files().name(1))) == numpy);
    CHECK(rig.backend().bytes_read == 2 * size); // each byte once
    CHECK(rig.backend().most_in_flight == 1);    // one worker reads one thing at a time
}

TEST_CASE("pytorch on npz: no piece is larger than the transfer size") {
    LoaderRig rig({.format = "npz", .files = 1, .sample_bytes = 600000, .transfer_size = 65536});
    rig.run_epoch(*rig.epoch());
    const auto reads = rig.backend().reads();
    REQUIRE(reads.size() == 2 + 10);
    for (const Operation& one : reads) CHECK(one.bytes <= 65536);
    for (std::size_t i = 3; i < reads.size(); ++i) {
        CHECK(reads[i].offset == reads[i - 1].offset + reads[i - 1].bytes);
        CHECK(reads[i].offset % 65536 == 0);
    }
}

TEST_CASE("pytorch: one worker reads the samples of its batches one after another, each file opened, read, closed") {
    LoaderRig rig({.files = 6, .batch = 3, .prefetch = 2});
    rig.backend().delay_ns = kMillisecond;
    const auto plan = rig.epoch();
    rig.run_epoch(*plan);
    std::vector<std::string> kinds, expected;
    for (const Operation& one : rig.backend().operations)
        kinds.push_back(std::string(io_kind_name(one.kind)) + " " + one.path);
    for (std::uint64_t file = 0; file < 6; ++file)
        for (const char* kind : {"open ", "read ", "close "}) expected.push_back(kind + rig.files().name(file));
    CHECK(kinds == expected);
    CHECK(rig.backend().most_in_flight == 1);
}

TEST_CASE("pytorch: W workers read side by side, worker w takes batches w, w + W, ...") {
    LoaderRig rig({.files = 12, .batch = 1, .read_threads = 3, .prefetch = 12});
    // Batch 1 is slow: only worker 1 may be held up by it.
    rig.backend().delay_ns = [&](const Operation& one) {
        if (one.kind != IoKind::read) return std::uint64_t{0};
        return one.path == rig.files().name(1) ? 100 * kNsPerMs : kNsPerMs;
    };
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    CHECK(rig.backend().most_in_flight == 3);
    std::map<std::string, std::uint64_t> submit_ms;
    for (const Operation& one : rig.backend().reads()) submit_ms[one.path] = one.submit_ns / kNsPerMs;
    const std::uint64_t expected_ms[] = {0, 0, 0, 1, 100, 1, 2, 101, 2, 3, 102, 3};
    for (std::uint64_t file = 0; file < 12; ++file) {
        INFO("file " << file);
        CHECK(submit_ms[rig.files().name(file)] == expected_ms[file]);
    }
    // Handed over in order for all that.
    REQUIRE(got[0].size() == 12);
    for (std::uint64_t step = 0; step < 12; ++step) CHECK(got[0][step].id_checksum == planned_checksum(*plan, 0, step));
    CHECK(got[0][1].ready_ns == 100 * kNsPerMs);
    CHECK(got[0][2].ready_ns == 1 * kNsPerMs);
}

TEST_CASE("pytorch: the window is W x ceil(prefetch / W) batches, and 0 means a factor of 2") {
    struct Row {
        std::uint32_t workers, prefetch, window;
    };
    const Row row = GENERATE(Row{1, 0, 2}, Row{3, 0, 6}, Row{1, 5, 5}, Row{3, 1, 3}, Row{3, 3, 3}, Row{3, 4, 6},
                             Row{4, 2, 4}, Row{3, 7, 9});
    INFO(row.workers << " workers, prefetch " << row.prefetch);
    LoaderRig rig({.files = 40, .batch = 2, .read_threads = row.workers, .prefetch = row.prefetch});
    rig.backend().delay_ns = kMillisecond;
    const auto plan = rig.epoch();
    rig.run(start_and_wait(rig, *plan, kNsPerS)); // nobody asks
    CHECK(batches_begun(rig) == first(row.window));
    CHECK(rig.backend().open_count == row.window * 2);
}

TEST_CASE("pytorch: each batch taken lets one more in") {
    LoaderRig rig({.files = 20, .read_threads = 2, .prefetch = 4});
    rig.backend().delay_ns = kMillisecond;
    const auto plan = rig.epoch();
    rig.run([](LoaderRig& r, const EpochPlan& p) -> engine::Task<void> {
        r.loaders[0]->start(p, 0);
        co_await r.reactor().sleep_until(kNsPerS);
        const auto before = batches_begun(r);
        CHECK(before == first(4));
        for (std::uint64_t taken = 1; taken <= 5; ++taken) {
            const loader::Batch batch = co_await r.loaders[0]->next();
            CHECK(!batch.error);
            co_await r.reactor().sleep_until(r.reactor().now_ns() + kNsPerS);
            const auto begun = batches_begun(r);
            CHECK(begun == first(4 + taken));
        }
        co_await r.loaders[0]->close();
    }(rig, *plan));
}

TEST_CASE("pytorch: with read_threads 0 the accelerator's own process reads, only when it asks") {
    LoaderRig rig({.files = 6, .batch = 2, .read_threads = 0, .prefetch = 4});
    rig.backend().delay_ns = [](const Operation& one) { return one.kind == IoKind::read ? kNsPerMs : 0; };
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan, 10 * kNsPerMs);
    std::vector<std::uint64_t> submit_ms;
    for (const Operation& one : rig.backend().reads()) submit_ms.push_back(one.submit_ns / kNsPerMs);
    CHECK(submit_ms == std::vector<std::uint64_t>{0, 1, 12, 13, 24, 25});
    CHECK(rig.backend().most_in_flight == 1);
    CHECK(got[0].size() == 3);
}

TEST_CASE("pytorch: many samples in a file are read for themselves, the file opened for each") {
    LoaderRig rig({.format = "raw", .files = 2, .samples_per_file = 3, .sample_bytes = 10000});
    rig.run_epoch(*rig.epoch());
    CHECK(rig.backend().open_count == 6);
    CHECK(extents_of(rig.backend().reads_of(rig.files().name(0))) ==
          std::vector<std::string>{"0+10000", "10000+10000", "20000+10000"});
}
