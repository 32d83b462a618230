// One rank's files through the bounded pool: what the storage is asked for, and what it is told when something is
// wrong.
#include <catch2/catch.hpp>

#include "harness/types/units.hpp"
#include "tests/support/memory_backend.hpp"
#include "tests/support/recording_backend.hpp"
#include "workloads/checkpoint_store.hpp"
#include "workloads/checkpoint_stream.hpp"

using namespace feedbench;
using namespace feedbench::test;
using namespace feedbench::workloads;
using engine::IoKind;

namespace {

struct Rig {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    MemoryBackend memory;
    RecordingBackend recorded{*reactor, memory};
    std::unique_ptr<engine::BufferPool> pool;
    CheckpointStream::Settings settings;
    CheckpointPart part{3, "global_epoch1_step0", {{"model.pt", 10'000}, {"optim.pt", 70'001}}, 42};
    CheckpointTally tally;
    bool stop = false;

    Rig() {
        settings.piece_bytes = 8192;
        settings.queue_depth = 4;
        settings.fsync = true;
        settings.verifies = true;
        pool = std::move(*engine::BufferPool::make({.buffer_bytes = 8192, .buffer_count = 3, .huge_pages = false}));
        REQUIRE(memory.make_directories(part.folder));
    }
    Status run(bool writes, PartReport& report) {
        CheckpointStream stream(*reactor, recorded, *pool, settings);
        Status status;
        const Status ran =
            reactor->run([](Rig& rig, CheckpointStream& s, bool w, PartReport& r, Status& out) -> engine::Task<void> {
                if (w)
                    out = co_await s.write(rig.part, r, rig.stop);
                else
                    out = co_await s.read(rig.part, r, rig.stop);
            }(*this, stream, writes, report, status));
        if (!ran) FAIL(ran.error().describe());
        // Whatever happened, everything was given back.
        CHECK(reactor->in_flight() == 0);
        CHECK(pool->free_count() == 3);
        tally = stream.take_tally();
        return status;
    }
    PartReport write() {
        PartReport report;
        const Status status = run(true, report);
        if (!status) FAIL(status.error().describe());
        return report;
    }
    Error read_error() {
        PartReport report;
        const Status status = run(false, report);
        REQUIRE_FALSE(status);
        return status.error();
    }
};

} // namespace

TEST_CASE("a rank's files: each in pieces, several in flight, then fsync, then commit") {
    Rig rig;
    rig.recorded.delay_ns = [](const Operation& op) { return op.kind == IoKind::write ? 2'000'000 : 1'000'000; };
    const PartReport report = rig.write();
    CHECK(rig.memory.files.at("global_epoch1_step0/model.pt").size() == 10'000);
    CHECK(rig.memory.files.at("global_epoch1_step0/optim.pt").size() == 70'001);
    CHECK(report.bytes == 80'001);
    CHECK(report.file_count == 2);
    CHECK(rig.tally.bytes == 80'001);
    CHECK(rig.tally.pieces == 2 + 9);
    CHECK(rig.tally.piece_latency.count() == 11);
    CHECK(rig.recorded.of_kind(IoKind::write).size() == 11);
    CHECK(rig.recorded.most_in_flight == 3); // of a depth of 4 what the pool has
    // An fsync that was asked for is one that the storage has seen, after the last write of its file.
    CHECK(report.fsync_asked == 2);
    CHECK(report.fsync_done == rig.recorded.of_kind(IoKind::flush).size());
    std::map<std::string, std::vector<IoKind>> order;
    for (const Operation& op : rig.recorded.operations) order[op.path].push_back(op.kind);
    for (const char* file : {"global_epoch1_step0/model.pt", "global_epoch1_step0/optim.pt"}) {
        const std::vector<IoKind>& kinds = order.at(file);
        REQUIRE(kinds.size() > 4);
        CHECK(kinds.front() == IoKind::create);
        CHECK(std::vector<IoKind>(kinds.end() - 4, kinds.end()) ==
              std::vector<IoKind>{IoKind::write, IoKind::flush, IoKind::commit, IoKind::close});
    }
    // 2 pieces at once take 2 ms, 9 with 3 at a time 6 ms; fsync, commit and close 1 ms each.
    CHECK(report.first_byte_ns - report.start_ns == 3'000'000);
    CHECK(report.transfer_ns == 8'000'000);
    CHECK(report.fsync_ns == 2'000'000);
    CHECK(report.commit_ns == 4'000'000);
    CHECK(report.end_ns - report.start_ns == 2'000'000 + 8'000'000 + 2'000'000 + 4'000'000);
    CHECK(report.synced_ns - report.data_ns == 1'000'000);
}

TEST_CASE("without fsync none is issued") {
    Rig rig;
    rig.settings.fsync = false;
    const PartReport report = rig.write();
    CHECK(report.fsync_asked == 0);
    CHECK(rig.recorded.of_kind(IoKind::flush).empty());
}

TEST_CASE("what was written is read back and compared; every checkpoint and rank has bytes of its own") {
    Rig rig;
    rig.write();
    const std::string first = rig.memory.files.at("global_epoch1_step0/optim.pt");
    PartReport report;
    REQUIRE(rig.run(false, report));
    CHECK(report.bytes == 80'001);
    CHECK(rig.recorded.bytes_read == 80'001);
    CHECK(report.fsync_asked == 0);

    rig.part.content_seed = 43;
    rig.write();
    CHECK(rig.memory.files.at("global_epoch1_step0/optim.pt") != first);
    rig.part.content_seed = 42;
    rig.part.rank = 4;
    rig.write();
    CHECK(rig.memory.files.at("global_epoch1_step0/optim.pt") != first);
    CHECK(first.substr(0, 512) != rig.memory.files.at("global_epoch1_step0/model.pt").substr(0, 512));
}

TEST_CASE("a file that is missing, short, long or altered is one sentence with its place") {
    Rig rig;
    rig.write();
    std::string& file = rig.memory.files["global_epoch1_step0/optim.pt"];
    const std::string good = file;

    file[60'123] = static_cast<char>(file[60'123] ^ 1);
    Error error = rig.read_error();
    CHECK(error.path == "memory:/global_epoch1_step0/optim.pt");
    CHECK(error.offset == 60'123);
    CHECK(error.message.find("the content differs") != std::string::npos);
    CHECK(exit_code(error.kind) == 3);
    file = good.substr(0, 70'000);
    error = rig.read_error();
    CHECK(error.message == "the file has 70000 bytes, the checkpoint global_epoch1_step0 has it with 70001");
    file = good + "x";
    CHECK(rig.read_error().message.find("70002 bytes") != std::string::npos);
    rig.memory.files.erase("global_epoch1_step0/optim.pt");
    error = rig.read_error();
    CHECK(error.errno_value == ENOENT);
    CHECK(error.message.find("committed with this file, and it is missing") != std::string::npos);
}

TEST_CASE("whatever fails, no file of that name is left, and its error has the place") {
    for (const IoKind kind : {IoKind::create, IoKind::write, IoKind::flush, IoKind::commit}) {
        INFO(engine::io_kind_name(kind));
        Rig rig;
        rig.memory.fail_next[kind] = ENOSPC;
        PartReport report;
        const Status status = rig.run(true, report);
        REQUIRE_FALSE(status);
        CHECK(status.error().errno_value == ENOSPC);
        CHECK(status.error().operation == engine::io_kind_name(kind));
        CHECK(rig.memory.files.empty());
        CHECK(report.file_count == 0);
        CHECK(report.fsync_done == (kind == IoKind::commit ? 1 : 0));
    }
}

TEST_CASE("direct files are padded to whole blocks and cut to their size") {
    Rig rig;
    rig.memory.mutable_capabilities().alignment_bytes = 4096;
    rig.write();
    CHECK(rig.memory.files.at("global_epoch1_step0/optim.pt").size() == 70'001);
    for (const Operation& op : rig.recorded.of_kind(IoKind::write))
        CHECK((op.bytes % 4096 == 0 && op.offset % 4096 == 0));
    PartReport report;
    CHECK(rig.run(false, report));
}

TEST_CASE("a stop ends a part after the pieces in flight") {
    Rig rig;
    rig.recorded.delay_ns = [&rig](const Operation& op) {
        if (op.kind == IoKind::write && op.offset > 30'000) rig.stop = true;
        return 1'000;
    };
    PartReport report;
    const Status status = rig.run(true, report);
    REQUIRE_FALSE(status);
    CHECK(status.error().kind == ErrorKind::interrupted);
    CHECK(rig.memory.files.count("global_epoch1_step0/optim.pt") == 0);
}

TEST_CASE("the pool is bounded whatever the model, the depth and the number of ranks") {
    CheckpointStream::Settings settings;
    for (const std::uint64_t piece : {std::uint64_t{4096}, std::uint64_t{1} << 20, std::uint64_t{64} << 20})
        for (const std::uint32_t ranks : {1u, 8u, 1024u}) {
            settings.piece_bytes = piece;
            settings.queue_depth = 1024;
            const auto layout = CheckpointStream::buffers_for(settings, ranks, false);
            CHECK(layout.total_bytes() <= 128 * kMiB);
            CHECK(layout.buffer_count >= 2);
        }
    settings = {};
    CHECK(CheckpointStream::buffers_for(settings, 1, false).buffer_count == 8);
}

// ---- the list of what is committed ----

TEST_CASE("a checkpoint is on the list from its commit to its removal, and the list says everything") {
    MemoryBackend memory;
    CheckpointStore store(memory, true);
    REQUIRE(store.open(true));
    const CheckpointStore::ForEachFile files = [](const auto& each) { each("a.pt"); };
    for (int i = 1; i <= 3; ++i) {
        const std::string folder = "global_epoch" + std::to_string(i) + "_step0";
        REQUIRE(store.prepare(folder, 100, files));
        memory.files[folder + "/a.pt"] = "x";
        dataset::CheckpointEntry entry;
        entry.folder = folder;
        entry.model = "llama3_8b";
        entry.rank_count = 8;
        entry.write_end_unix_ns = 1'790'000'000'000'000'000 + i;
        entry.content_seed = ~std::uint64_t{0};
        entry.hosts = {"h1", "h2"};
        REQUIRE(store.commit(entry));
        CheckpointStore again(memory, true);
        REQUIRE(again.open(false));
        CHECK(again.index().committed == store.index().committed);
    }
    REQUIRE(store.keep_newest(2));
    CHECK(store.index().find("global_epoch1_step0") == nullptr);
    CHECK(memory.files.count("global_epoch1_step0/a.pt") == 0);
    CHECK(memory.files.count("global_epoch2_step0/a.pt") == 1);
    // Written again: it is off the list, with all that lay in its folder, before the first byte.
    memory.files["global_epoch2_step0/of_another_model.pt"] = "y";
    REQUIRE(store.prepare("global_epoch2_step0", 100, files));
    CheckpointStore again(memory, true);
    REQUIRE(again.open(false));
    CHECK(again.index().committed.size() == 1);
    CHECK(memory.files.count("global_epoch2_step0/of_another_model.pt") == 0);
    CHECK(memory.files.count("global_epoch3_step0/a.pt") == 1);
}

TEST_CASE("of a folder that is not on the list only files of our names go away, and only if they may") {
    for (const bool removes : {true, false}) {
        MemoryBackend memory;
        memory.files["global_epoch1_step0/a.pt"] = memory.files["global_epoch1_step0/foreign.pt"] = "x";
        CheckpointStore store(memory, removes);
        REQUIRE(store.open(true));
        REQUIRE(store.prepare("global_epoch1_step0", 1, [](const auto& each) { each("a.pt"); }));
        CHECK(memory.files.count("global_epoch1_step0/a.pt") == (removes ? 0 : 1));
        CHECK(memory.files.count("global_epoch1_step0/foreign.pt") == 1);
        memory.files["global_epoch1_step0/a.pt"] = "half";
        store.abandon("global_epoch1_step0", [](const auto& each) { each("a.pt"); });
        CHECK(memory.files.count("global_epoch1_step0/a.pt") == (removes ? 0 : 1));
    }
}

TEST_CASE("a damaged list is said with its key; a folder name in it cannot lead elsewhere") {
    const auto problem = [](const std::string& text) {
        auto index = dataset::parse_checkpoint_index(text, "x.json");
        REQUIRE_FALSE(index);
        CHECK(index.error().path == "x.json");
        return index.error().message;
    };
    CHECK(problem("[]").find("no JSON object") != std::string::npos);
    CHECK(problem("{\"schema_version\": 2, \"committed\": []}").find("version 2") != std::string::npos);
    CHECK(problem("{\"schema_version\": 1}").find("'committed'") != std::string::npos);
    dataset::CheckpointIndex index;
    index.add({});
    for (const char* folder : {"", "..", "a/b", ".hidden"}) {
        index.committed[0].folder = folder;
        CHECK(problem(dataset::to_json(index)).find("committed[0].folder") != std::string::npos);
    }
    index.committed[0].folder = "global_epoch1_step0";
    std::string text = dataset::to_json(index);
    CHECK(dataset::parse_checkpoint_index(text, "x"));
    text.replace(text.find("\"rank_count\": 0"), 15, "\"rank_count\": -1");
    CHECK(problem(text).find("committed[0].rank_count") != std::string::npos);
}
