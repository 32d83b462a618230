// Door: several programs at once, beside the thread that publishes what they closed.
#include <atomic>
#include <thread>

#include "tests/unit/feedfs_mount/door_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("programs that write, read, list and remove at the same time do not disturb each other", "[threads]") {
    DoorRig rig;
    constexpr int kPrograms = 4, kFiles = 40;
    std::atomic<int> wrong = 0;
    const auto program = [&](int number) { // Catch's macros are for one thread
        for (int i = 0; i < kFiles; ++i) {
            const std::string name = "p" + std::to_string(number) + "_" + std::to_string(i);
            const std::string content(static_cast<std::size_t>(100 + 997 * i), static_cast<char>('a' + number));
            auto file = rig.door->create(kRootInode, name, {.mode = 0644}, true);
            if (!file) {
                ++wrong;
                continue;
            }
            rig.door->nodes.remember((*file)->id, kRootInode, name);
            auto handle = rig.door->open_pending(*file, (*file)->id, true);
            wrong += !rig.door->write(*handle, 0, std::as_bytes(std::span(content)));
            if (i % 8 == 0) wrong += !rig.door->sync(*handle);
            wrong += !rig.door->closing(*handle);
            const InodeId node = handle->node;
            rig.door->close(*handle);

            auto again = rig.door->open(node, O_RDONLY); // pending, being published or published
            std::string found(content.size() + 1, '\0');
            if (again) {
                const auto got = rig.door->read(**again, 0, std::as_writable_bytes(std::span(found)));
                wrong += !got || *got != content.size() || found.compare(0, content.size(), content) != 0;
                rig.door->close(**again);
            } else {
                ++wrong;
            }
            if (i % 4 == 1) wrong += !rig.door->unlink(kRootInode, name);
            if (i % 4 == 2)
                wrong += !rig.door->rename({.from_parent = kRootInode,
                                            .from_name = name,
                                            .to_parent = kRootInode,
                                            .to_name = "moved" + name,
                                            .may_replace = false});
        }
    };
    std::vector<std::thread> programs;
    for (int i = 0; i < kPrograms; ++i) programs.emplace_back(program, i);
    std::atomic<bool> over = false;
    std::thread lister([&] {
        while (!over) {
            OpenDirectory directory(*rig.door, kRootInode);
            std::uint64_t i = 0;
            for (auto entry = directory.entry(i); entry && *entry; entry = directory.entry(++i))
                wrong += (*entry)->name.empty();
        }
    });
    for (std::thread& one : programs) one.join();
    over = true;
    lister.join();
    CHECK(wrong == 0);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.names().size() == kPrograms * kFiles * 3 / 4);
    CHECK(rig.published("p2_8") == std::string(100 + 997 * 8, 'c'));
    CHECK(rig.published("movedp3_2") == std::string(100 + 997 * 2, 'd'));
    CHECK(rig.published("p1_5") == "errno " + std::to_string(ENOENT));
}
