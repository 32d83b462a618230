// What is posix's own beyond the contract of backends (tests/contract/).
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "storage/posix_base.hpp"
#include "tests/support/backend_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::File;

storage::BackendRequest request(const std::string& uri, bool odirect = false, IoEngine io_engine = IoEngine::uring) {
    storage::BackendRequest r;
    r.uri = uri;
    r.odirect = odirect;
    r.io_engine = io_engine;
    return r;
}

Task<void> open_refused(Rig& rig, std::string& text) {
    IoOp op;
    op.kind = IoKind::open;
    op.path = "version";
    const std::int64_t result = co_await rig.perform(op);
    CHECK(result == -EINVAL);
    text = storage::operation_error(*rig.backend, op, "version").describe();
}

TEST_CASE("posix: O_DIRECT that the filesystem refuses is an error that names it, never buffered in silence (C3)") {
    for (const IoEngine io_engine : {IoEngine::uring, IoEngine::threads}) {
        Rig rig(request("/proc", true, io_engine));
        std::string text;
        rig.run(open_refused(rig, text));
        CHECK(text.find("open /proc/version") != std::string::npos);
        CHECK(text.find("filesystem proc (mounted at /proc) refuses O_DIRECT") != std::string::npos);
    }
}

Task<void> create_refused(Rig& rig) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x.bin", file, 10, IoKind::create), == -EINVAL);
}

TEST_CASE("posix: a refused create leaves nothing behind; a full disk is known before the first byte") {
    const TemporaryFolder folder;
    if (::mount("ramfs", folder.path.c_str(), "ramfs", 0, nullptr) != 0) {
        WARN("skipped: not allowed to mount");
        return;
    }
    {
        Rig rig(request(folder.path, true));
        rig.run(create_refused(rig));
        CHECK(files_below(folder.path).empty());
    }
    ::umount(folder.path.c_str());
    REQUIRE(::mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=4m") == 0);
    for (const bool preallocate : {false, true}) {
        auto r = request(folder.path);
        r.options["preallocate"] = preallocate ? "true" : "false";
        Rig rig(r);
        struct Check {
            static Task<void> run(Rig& rig_) {
                IoOp op;
                op.kind = IoKind::create;
                op.path = "big.bin";
                op.size_hint = 8 << 20;
                const std::int64_t result = co_await rig_.perform(op);
                CHECK(result == -ENOSPC);
                CHECK(op.message.find("8388608") != std::string::npos);
                co_await rig_.make_file("fits.bin", 1 << 20);
            }
        };
        rig.run(Check::run(rig));
        CHECK(files_below(folder.path) == std::vector<std::string>{"fits.bin"});
        CHECK(rig.backend->facts("")->type == "tmpfs");
    }
    ::umount(folder.path.c_str());
}

TEST_CASE("posix: tmpfs takes O_DIRECT and says that it is not real") {
    const auto shm = storage::filesystem_at("/dev/shm");
    if (!shm || shm->type != "tmpfs") {
        WARN("skipped: /dev/shm is no tmpfs here");
        return;
    }
    Rig direct(request("/dev/shm", true)), on_disk(request("/tmp", true));
    CHECK(direct.backend->capabilities().page_cached);
    CHECK(direct.backend->capabilities().note.find("not real") != std::string::npos);
    CHECK_FALSE(direct.backend->cache_drop()); // the pages are the files
    if (storage::filesystem_at("/tmp")->is_memory) return;
    CHECK_FALSE(on_disk.backend->capabilities().page_cached);
    CHECK(on_disk.backend->capabilities().note.empty());
}

TEST_CASE("posix: a root that is a file is refused, one that is missing is not") {
    const TemporaryFolder folder;
    std::ofstream(folder.path + "/file") << "x";
    const auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {});
    REQUIRE(reactor);
    auto r = request(folder.path + "/file");
    r.reactor = reactor->get();
    const auto made = storage::make_backend(r);
    REQUIRE_FALSE(made);
    CHECK(made.error().errno_value == ENOTDIR);
    CHECK(made.error().describe().find(folder.path + "/file") != std::string::npos);

    Rig rig(request(folder.path + "/later/on/"));
    CHECK(rig.backend->display_path("x") == folder.path + "/later/on/x");
    REQUIRE(rig.backend->facts(""));
    struct Check {
        static Task<void> run(Rig& rig_) {
            std::unique_ptr<File> file;
            CHECK_RESULT(rig_.open("x", file), == -ENOENT);
            CHECK(rig_.backend->make_directories(""));
            co_await rig_.make_file("x", 5000);
            CHECK_RESULT(rig_.open("x", file), == 0);
        }
    };
    rig.run(Check::run(rig));
    // Removed and made again: names are looked up in the new folder.
    std::filesystem::remove_all(folder.path + "/later");
    std::filesystem::create_directories(folder.path + "/later/on");
    std::ofstream(folder.path + "/later/on/y") << "abc";
    struct Again {
        static Task<void> run(Rig& rig_) {
            std::unique_ptr<File> file;
            CHECK_RESULT(rig_.open("y", file), == 0);
            if (file) CHECK(file->size_bytes == 3);
        }
    };
    rig.run(Again::run(rig));
}

TEST_CASE("posix: no real storage under the virtual clock, no uring without a ring") {
    const auto virtual_clock = engine::make_virtual_clock(), real_clock = engine::make_real_clock();
    auto in_virtual_time = engine::Reactor::make(*virtual_clock, {});
    auto without_ring = engine::Reactor::make(*real_clock, {.use_uring = false});
    REQUIRE(in_virtual_time);
    REQUIRE(without_ring);
    auto r = request("/tmp");
    r.reactor = in_virtual_time->get();
    CHECK_FALSE(storage::make_backend(r));
    r.reactor = without_ring->get();
    const auto made = storage::make_backend(r);
    REQUIRE_FALSE(made);
    CHECK(made.error().describe().find("uring") != std::string::npos);
    r.io_engine = IoEngine::threads;
    CHECK(storage::make_backend(r));
}

TEST_CASE("posix: drop_cache of a file works on its pages") {
    const TemporaryFolder folder;
    if (storage::filesystem_at(folder.path)->is_memory) return;
    Rig rig(request(folder.path));
    rig.run(rig.make_file("x", 300'000));
    const storage::CacheDrop drop = rig.backend->cache_drop();
    REQUIRE(drop);
    CHECK(drop("x") == storage::DropOutcome::dropped);
    CHECK(drop("missing") == storage::DropOutcome::not_offered);
    rig.backend.reset(); // the storage may be gone before a drop that hung comes back
    CHECK(drop("x") == storage::DropOutcome::dropped);
}

TEST_CASE("posix: temporary names") {
    const std::string a = storage::temporary_beside("train/img_1.npz"),
                      b = storage::temporary_beside("train/img_1.npz");
    CHECK(a.starts_with("train/.img_1.npz.feedbench-" + std::to_string(::getpid()) + "-"));
    CHECK(a != b);
    CHECK(storage::is_temporary_name(a.substr(6)));
    CHECK_FALSE(storage::is_temporary_name("img_1.npz"));
    CHECK_FALSE(storage::is_temporary_name(".hidden.tmp"));
    CHECK(storage::temporary_beside(std::string(255, 'n')).size() <= 255);
}

TEST_CASE("posix: what killed writers left half-written is removed by its name alone, everything else stays (C8)") {
    const TemporaryFolder folder;
    Rig rig(request(folder.path));
    const auto put = [&](const std::string& name) { std::ofstream(folder.path + "/" + name) << "half"; };
    for (const char* name : {".img_1.npz.feedbench-123-4.tmp", "img_1.npz", ".hidden.tmp", "x.feedbench-1-1.tmp"})
        put(name);
    REQUIRE(rig.backend->remove_leftovers(""));
    const auto left = files_below(folder.path);
    REQUIRE(left.size() == 3);
    for (const auto& name : left) CHECK(name.find("123-4") == std::string::npos);
    CHECK(rig.backend->remove_leftovers("not/there")); // nothing there: nothing to remove
    CHECK_FALSE(rig.backend->remove_leftovers("img_1.npz"));
}

} // namespace
