// What every backend promises (storage/backend.hpp, engine/io_op.hpp), over every line of the table of backends.
#include "tests/support/backend_variants.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::BufferLease;
using engine::File;
using engine::Submit;

Task<void> write_then_read(Rig& rig, std::uint64_t size) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("a.bin", file, size, IoKind::create), == 0);
    if (!file) co_return;
    co_await rig.fill(*file, size);
    CHECK_RESULT(rig.finish(IoKind::flush, *file), == 0);
    CHECK_RESULT(rig.finish(IoKind::commit, *file, size), == 0);
    CHECK_RESULT(rig.finish(IoKind::close, *file), == 0);

    CHECK_RESULT(rig.open("a.bin", file, size), == 0);
    if (!file) co_return;
    CHECK(file->size_bytes == size);
    const std::uint64_t unit = file->alignment_bytes;
    std::uint64_t offset = 0;
    while (offset < size) {
        BufferLease lease = rig.pool->try_lease();
        const std::int64_t got = co_await rig.move(IoKind::read, *file, offset, 65536, lease);
        CHECK(got == static_cast<std::int64_t>(std::min<std::uint64_t>(65536, size - offset)));
        if (got <= 0) break;
        if (rig.backend->capabilities().has_content)
            CHECK(has_pattern(lease.data(), offset, static_cast<std::uint64_t>(got)));
        offset += static_cast<std::uint64_t>(got);
    }
    BufferLease lease = rig.pool->try_lease(); // past the end: nothing, and no error
    CHECK_RESULT(rig.move(IoKind::read, *file, (size + unit - 1) / unit * unit, unit * 2, lease), == 0);
    CHECK_RESULT(rig.finish(IoKind::close, *file), == 0);
}

TEST_CASE("backends: what was written, flushed and committed is read back, short at the end of the file") {
    for_each_backend([](Rig& rig, const std::string&) {
        for (const std::uint64_t size : {1UL, 511UL, 4096UL, 65536UL, 200'001UL}) {
            INFO(size);
            rig.run(write_then_read(rig, size));
        }
    });
}

Task<void> write_without_commit(Rig& rig, const std::string& folder, bool by_destructor) {
    std::unique_ptr<File> file, other;
    CHECK_RESULT(rig.open("half.bin", file, 100'000, IoKind::create), == 0);
    if (!file) co_return;
    co_await rig.fill(*file, 100'000);
    CHECK_RESULT(rig.finish(IoKind::flush, *file), == 0);
    if (rig.backend->capabilities().has_content) {
        CHECK_RESULT(rig.open("half.bin", other), == -ENOENT);
        int shown = 0;
        CHECK(rig.backend->list("", [&](std::string_view, bool) { return ++shown > 0; }));
        CHECK(shown == 0);
    }
    if (!by_destructor) CHECK_RESULT(rig.finish(IoKind::close, *file), == 0);
    file.reset();
    CHECK(files_below(folder).empty());
}

TEST_CASE("backends: nothing half-written is visible, and close without commit leaves no trace") {
    for_each_backend([](Rig& rig, const std::string& folder) {
        rig.run(write_without_commit(rig, folder, false));
        rig.run(write_without_commit(rig, folder, true));
    });
}

Task<void> commit_sizes(Rig& rig) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("sizes.bin", file, 5000, IoKind::create), == 0);
    if (!file) co_return;
    co_await rig.fill(*file, 5000);
    CHECK_RESULT(rig.finish(IoKind::commit, *file, 1'000'000), == -EINVAL); // more than was written
    CHECK_RESULT(rig.finish(IoKind::commit, *file, 4999), == 0);
    CHECK_RESULT(rig.finish(IoKind::close, *file), == 0);
    CHECK_RESULT(rig.open("sizes.bin", file, 4999), == 0);
    if (file) CHECK(file->size_bytes == 4999);

    CHECK_RESULT(rig.open("empty.bin", file, 0, IoKind::create), == 0);
    if (!file) co_return;
    CHECK_RESULT(rig.finish(IoKind::commit, *file, 0), == 0);
    CHECK_RESULT(rig.open("empty.bin", file, 0), == 0);
    if (!file) co_return;
    CHECK(file->size_bytes == 0);
    BufferLease lease = rig.pool->try_lease();
    CHECK_RESULT(rig.move(IoKind::read, *file, 0, 4096, lease), == 0);
}

TEST_CASE("backends: commit cuts padding, and refuses a size that was never written") {
    for_each_backend([](Rig& rig, const std::string&) { rig.run(commit_sizes(rig)); });
}

Task<void> replace(Rig& rig) {
    co_await rig.make_file("same.bin", 3000);
    std::unique_ptr<File> old_file, new_file;
    CHECK_RESULT(rig.open("same.bin", old_file), == 0);
    co_await rig.make_file("same.bin", 70'000);
    CHECK_RESULT(rig.open("same.bin", new_file), == 0);
    if (!old_file || !new_file) co_return;
    CHECK(new_file->size_bytes == 70'000);
    BufferLease lease = rig.pool->try_lease();
    const std::int64_t got = co_await rig.move(IoKind::read, *old_file, 0, 65536, lease);
    // Whoever has the old one open keeps it. An NFSv3 server does not know who has what open: it is gone, and says so.
    if (rig.backend->capabilities().name == "nfs" && got == -ESTALE) co_return;
    CHECK(got == 3000);
    CHECK(has_pattern(lease.data(), 0, 3000));
}

TEST_CASE("backends: a commit over an existing file replaces it as a whole") {
    for_each_backend([](Rig& rig, const std::string&) {
        if (rig.backend->capabilities().has_content) rig.run(replace(rig));
    });
}

Task<void> wrong_names(Rig& rig, const std::string& folder) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("missing.bin", file), == -ENOENT);
    CHECK_RESULT(rig.open("no/such/folder/x.bin", file), == -ENOENT);
    CHECK_RESULT(rig.open("no/such/folder/x.bin", file, 10, IoKind::create), == -ENOENT);
    CHECK(rig.backend->make_directories("sub/deeper"));
    CHECK_RESULT(rig.open("sub/deeper", file), == -EISDIR);
    CHECK_RESULT(rig.open("sub/deeper", file, 0, IoKind::create), == 0); // its own name is free until the commit
    if (file) CHECK_RESULT(rig.finish(IoKind::commit, *file, 0), < 0);
    file.reset();
    CHECK(files_below(folder).empty());
    co_await rig.make_file("plain.bin", 10);
    CHECK_RESULT(rig.open("plain.bin/below", file), == -ENOTDIR);
    const std::string longest(255, 'n'); // also the temporary has to have a name
    co_await rig.make_file(longest, 10);
    CHECK_RESULT(rig.open(longest, file), == 0);
    CHECK_RESULT(rig.open(longest + "n", file), == -ENAMETOOLONG);
}

TEST_CASE("backends: missing files, folders in place of files, names too long") {
    for_each_backend([](Rig& rig, const std::string& folder) {
        if (rig.backend->capabilities().has_content) rig.run(wrong_names(rig, folder));
    });
}

Task<void> misaligned(Rig& rig) {
    co_await rig.make_file("a.bin", 20'000);
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("a.bin", file, 20'000), == 0);
    if (!file) co_return;
    const std::uint64_t unit = file->alignment_bytes;
    CHECK(unit <= rig.backend->capabilities().alignment_bytes);
    CHECK(rig.backend->capabilities().alignment_bytes % unit == 0);
    BufferLease lease = rig.pool->try_lease();
    if (unit == 1) {
        CHECK_RESULT(rig.move(IoKind::read, *file, 1, 9999, lease), == 9999);
        if (rig.backend->capabilities().has_content) CHECK(has_pattern(lease.data(), 1, 9999));
        co_return;
    }
    CHECK_RESULT(rig.move(IoKind::read, *file, 1, unit, lease), == -EINVAL);
    CHECK(rig.last_message.find("multiples of " + std::to_string(unit)) != std::string::npos);
    CHECK_RESULT(rig.move(IoKind::read, *file, 0, unit - 1, lease), == -EINVAL);
    CHECK_RESULT(rig.move(IoKind::read, *file, unit, unit, lease), == static_cast<std::int64_t>(unit));
    CHECK(has_pattern(lease.data(), unit, unit));
}

TEST_CASE("backends: misaligned direct reads are refused in words; aligned and buffered ones work") {
    for_each_backend([](Rig& rig, const std::string&) { rig.run(misaligned(rig)); });
}

Task<void> read_one(Rig& rig, File& file, std::uint64_t offset, int& good) {
    BufferLease lease =
        rig.pool->try_lease(); // lives until the read is over: the pool is complete again at the end of run()
    CHECK(lease);
    if (!lease) co_return;
    std::memset(lease.data(), 0, 4096);
    const std::int64_t got = co_await rig.move(IoKind::read, file, offset, 4096, lease);
    const bool right =
        got == 4096 && (!rig.backend->capabilities().has_content || has_pattern(lease.data(), offset, 4096));
    good += right ? 1 : 0;
}

Task<void> many_at_once(Rig& rig) {
    co_await rig.make_file("many.bin", 100 * 4096);
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("many.bin", file, 100 * 4096), == 0);
    if (!file) co_return;
    int good = 0;
    engine::TaskGroup group(*rig.reactor);
    for (std::uint64_t i = 0; i < 100; ++i) group.spawn(read_one(rig, *file, (i * 37 % 100) * 4096, good));
    co_await group.join();
    CHECK(good == 100);
}

TEST_CASE("backends: a hundred reads at once, also past a ring of four entries that answers busy") {
    for_each_backend([](Rig& rig, const std::string&) { rig.run(many_at_once(rig)); });
    for_each_backend([](Rig& rig, const std::string&) { rig.run(many_at_once(rig)); }, 4);
}

// Counts what a backend calls, and when.
struct Counter final : engine::CompletionSink {
    void completed(IoOp& op) override {
        ++calls;
        inside_submit |= submitting;
        last = &op;
    }
    int calls = 0;
    bool submitting = false, inside_submit = false;
    IoOp* last = nullptr;
};

Task<void> answers(Rig& rig) {
    co_await rig.make_file("a.bin", 4096);
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("a.bin", file, 4096), == 0);
    if (!file) co_return;
    BufferLease lease = rig.pool->try_lease();
    for (const IoKind kind : {IoKind::open, IoKind::create, IoKind::read, IoKind::close}) {
        Counter counter;
        IoOp op;
        op.kind = kind;
        op.path = kind == IoKind::create ? "b.bin" : "a.bin";
        op.size_hint = 4096;
        op.file = file.get();
        op.data = lease.data();
        op.bytes = 4096;
        op.sink = &counter;
        counter.submitting = true;
        const Submit answer = rig.backend->submit(op);
        counter.submitting = false;
        CHECK(answer != Submit::busy);
        if (answer == Submit::done) CHECK(counter.calls == 0);
        // Turns of the loop; a backend with threads or timers needs real time, so it may take many.
        for (int turn = 0; turn < 50'000'000 && answer == Submit::pending && counter.calls == 0; ++turn)
            co_await rig.reactor->yield();
        for (int turn = 0; turn < 100; ++turn) co_await rig.reactor->yield();
        CHECK(counter.calls == (answer == Submit::pending ? 1 : 0));
        CHECK_FALSE(counter.inside_submit);
        if (answer == Submit::pending) CHECK(counter.last == &op);
        CHECK(op.result >= 0);
    }
}

TEST_CASE("backends: what the table says of a backend is what it is") {
    for_each_backend([](Rig& rig, const std::string&) {
        const storage::Capabilities& is = rig.backend->capabilities();
        const std::string scheme = is.name.substr(0, is.name.find(':')); // "fault:posix"
        const storage::BackendEntry* entry = storage::find_backend(scheme);
        REQUIRE(entry);
        CHECK(is.has_content == entry->traits.has_content);
        CHECK(is.object_semantics == entry->traits.object_semantics);
        CHECK((!is.direct_io || entry->traits.direct_io));
        CHECK((!is.page_cached || entry->traits.page_cached));
        CHECK((!is.virtual_time || entry->traits.virtual_time));
        CHECK(entry->traits.is_network == !rig.backend->statistics().empty());
    });
}

TEST_CASE("backends: done is never followed by a completion, pending by exactly one, and never from inside submit") {
    for_each_backend([](Rig& rig, const std::string&) { rig.run(answers(rig)); });
}

} // namespace
