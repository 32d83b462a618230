// Files and names of a volume, as filesystem.hpp promises.
#include <cerrno>
#include <thread>

#include "tests/unit/feedfs/volume_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("feedfs: what was published is read back, whatever its size, also by another process's eyes") {
    VolumeRig rig;
    const std::vector<std::size_t> sizes{0,      1,      4031,   4032,   4033,    4096,
                                         10'240, 65'535, 65'536, 65'537, 200'000, 1'500'000};
    for (const std::size_t size : sizes) rig.write("f" + std::to_string(size), VolumeRig::pattern(size, size));
    auto other = rig.open_another({.read_only = true});
    for (const std::size_t size : sizes) {
        INFO(size);
        const auto content = VolumeRig::pattern(size, size);
        CHECK(rig.read("f" + std::to_string(size)) == content);
        CHECK(rig.read("f" + std::to_string(size), other.get()) == content);
    }
    rig.open();
    CHECK(rig.read("f1500000") == VolumeRig::pattern(1'500'000, 1'500'000));
    CHECK(rig.fs->space()->totals.files == static_cast<std::int64_t>(sizes.size()));
}

TEST_CASE("feedfs: any part of a file is read, aligned or not, short at its end") {
    VolumeRig rig;
    const auto content = VolumeRig::pattern(300'001);
    rig.write("a", content);
    auto file = *rig.fs->open_read("a");
    std::vector<std::byte> memory(200'000 + 4096);
    auto* const aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) & ~4095UL);
    for (const std::size_t offset :
         {0UL, 1UL, 4096UL, 65'536UL, 65'537UL, 131'072UL, 299'000UL, 300'000UL, 300'001UL, 400'000UL})
        for (const std::size_t bytes : {1UL, 4096UL, 65'536UL, 100'000UL, 131'072UL, 200'000UL})
            for (const std::size_t shift : {0UL, 7UL}) {
                if (bytes + shift > 200'000) continue;
                INFO(offset << " " << bytes << " " << shift);
                const std::size_t expected = offset < content.size() ? std::min(bytes, content.size() - offset) : 0;
                auto got = file->read(offset, {aligned + shift, bytes});
                REQUIRE(got);
                REQUIRE(*got == expected);
                CHECK(std::equal(aligned + shift, aligned + shift + expected,
                                 content.begin() + static_cast<long>(std::min(offset, content.size()))));
            }
}

TEST_CASE("feedfs: nothing is visible before it is published, and an abandoned writer leaves nothing") {
    VolumeRig rig;
    {
        auto writer = rig.create("half");
        VolumeRig::require(writer->append(VolumeRig::pattern(200'000)));
        CHECK(rig.error_of(rig.fs->lookup(kRootInode, "half")) == ENOENT);
        CHECK(rig.names().empty());
    }
    CHECK(rig.names().empty());
    CHECK(rig.fs->space()->totals.files == 0);
}

TEST_CASE("feedfs: chunks may be written in any order, gaps are zeros, what has gone to a segment stays") {
    VolumeRig rig;
    const auto content = VolumeRig::pattern(200'000);
    auto writer = rig.create("a", {.size_hint = 200'000});
    const std::span<const std::byte> all(content);
    VolumeRig::require(writer->write(100'000, all.subspan(100'000)));
    VolumeRig::require(writer->write(1000, all.subspan(1000, 99'000)));
    std::vector<std::byte> front(2000);
    REQUIRE(writer->read(0, front));
    CHECK(front[999] == std::byte{0});
    CHECK(front[1000] == content[1000]);
    VolumeRig::require(writer->write(0, all.first(1000)));
    CHECK(rig.error_of(writer->write(70'000, all.first(10))) == EOPNOTSUPP);
    VolumeRig::require(rig.fs->publish(*writer, Publish::durable));
    CHECK(rig.read("a") == content);

    auto sparse = rig.create("sparse");
    VolumeRig::require(sparse->write(300'000, all.first(10)));
    VolumeRig::require(sparse->truncate(400'000));
    VolumeRig::require(rig.fs->publish(*sparse, Publish::visible));
    const auto read = rig.read("sparse");
    REQUIRE(read.size() == 400'000);
    CHECK(read[299'999] == std::byte{0});
    CHECK(std::equal(read.begin() + 300'000, read.begin() + 300'010, content.begin()));
    CHECK(read[399'999] == std::byte{0});
}

TEST_CASE("feedfs: a writer goes on after it was published; a cut takes back; the later content replaces the earlier") {
    VolumeRig rig;
    const auto content = VolumeRig::pattern(150'000);
    const std::span<const std::byte> all(content);
    auto writer = rig.create("log", {.exclusive = true});
    VolumeRig::require(writer->append(all.first(10)));
    VolumeRig::require(rig.fs->publish(*writer, Publish::durable));
    CHECK(rig.read("log") == std::vector<std::byte>(content.begin(), content.begin() + 10));
    VolumeRig::require(writer->append(all.subspan(10)));
    VolumeRig::require(rig.fs->publish(*writer, Publish::durable));
    CHECK(rig.read("log") == content);
    VolumeRig::require(writer->truncate(70'000)); // within a chunk that has gone to a segment
    VolumeRig::require(rig.fs->publish(*writer, Publish::durable));
    CHECK(rig.read("log") == std::vector<std::byte>(content.begin(), content.begin() + 70'000));
    CHECK(rig.fs->space()->totals.files == 1);
    CHECK(rig.fs->space()->totals.payload_bytes == 70'000);
    VolumeRig::require(rig.fs->unlink(kRootInode, "log"));
    VolumeRig::require(writer->append(all.first(1)));
    CHECK(rig.error_of(rig.fs->publish(*writer, Publish::visible)) == ESTALE);
}

TEST_CASE("feedfs: publishing many is one group, with an answer for each") {
    VolumeRig rig;
    auto directory = rig.fs->make_directory(kRootInode, "d", {.mode = 0755});
    REQUIRE(directory);
    std::vector<std::unique_ptr<Writer>> writers;
    std::vector<Writer*> pointers;
    for (int i = 0; i < 300; ++i) {
        writers.push_back(rig.create("f" + std::to_string(i % 299), {.exclusive = i < 299}, directory->id));
        VolumeRig::require(writers.back()->append(
            VolumeRig::pattern(100 + static_cast<std::size_t>(i) * 37, static_cast<std::uint64_t>(i))));
    }
    writers.push_back(rig.create("d", {}));
    writers.push_back(rig.create("x", {}, 999'999));
    writers.push_back(rig.create("f1", {.exclusive = true}, directory->id));
    for (const auto& writer : writers) pointers.push_back(writer.get());
    const auto results = rig.fs->publish(pointers, Publish::durable);
    int good = 0;
    for (int i = 0; i < 300; ++i) good += results[static_cast<std::size_t>(i)] ? 1 : 0;
    CHECK(good == 300);
    CHECK(rig.error_of(results[300]) == EISDIR);
    CHECK(rig.error_of(results[301]) == ENOENT);
    CHECK(rig.error_of(results[302]) == EEXIST);
    CHECK(rig.read("d/f0") == VolumeRig::pattern(100 + 299 * 37, 299)); // the second of this name
    CHECK(rig.read("d/f298") == VolumeRig::pattern(100 + 298 * 37, 298));
    CHECK(rig.fs->space()->totals.files == 299);
}

TEST_CASE("feedfs: directories, links, renames and removals") {
    VolumeRig rig;
    FileSystem& fs = *rig.fs;
    VolumeRig::require(fs.make_directories("a/b/c", {.mode = 0755}));
    VolumeRig::require(fs.make_directories("a/b/c", {.mode = 0755}));
    const auto b = fs.resolve("a/b")->inode.id, a = fs.resolve("/a")->inode.id;
    rig.write("file", VolumeRig::pattern(5000), b);
    REQUIRE(fs.make_symlink(kRootInode, "link", "a/./b/../b", {}));
    CHECK(rig.read("link/file") == VolumeRig::pattern(5000));
    CHECK(fs.resolve("link", false)->inode.type == InodeType::symlink);
    REQUIRE(fs.make_symlink(kRootInode, "loop", "loop", {}));
    CHECK(rig.error_of(fs.resolve("loop")) == ELOOP);
    CHECK(rig.error_of(fs.resolve("a/b/file/x")) == ENOTDIR);
    CHECK(rig.error_of(fs.resolve("a/b/file/")) == ENOTDIR);
    CHECK(rig.error_of(fs.remove_directory(a, "b")) == ENOTEMPTY);
    CHECK(rig.error_of(fs.unlink(a, "b")) == EISDIR);
    CHECK(rig.error_of(fs.remove_directory(b, "file")) == ENOTDIR);
    CHECK(rig.error_of(fs.make_directory(a, "b", {})) == EEXIST);
    CHECK(rig.error_of(fs.make_directory(a, "x/y", {})) == EINVAL);
    CHECK(rig.error_of(fs.make_directory(a, std::string(256, 'n'), {})) == ENAMETOOLONG);

    CHECK(rig.error_of(fs.rename({a, "b", b, "inside"})) == EINVAL);
    VolumeRig::require(fs.rename({a, "b", kRootInode, "moved"}));
    CHECK(rig.read("moved/file") == VolumeRig::pattern(5000));
    CHECK(fs.resolve("moved/c/..")->inode.id == b);
    rig.write("other", VolumeRig::pattern(7), b);
    CHECK(rig.error_of(fs.rename({b, "other", b, "file", false})) == EEXIST);
    VolumeRig::require(fs.rename({b, "other", b, "file"}));
    CHECK(rig.read("moved/file") == VolumeRig::pattern(7));
    CHECK(rig.error_of(fs.rename({b, "file", b, "c"})) == EISDIR);
    CHECK(rig.error_of(fs.rename({b, "c", b, "file"})) == ENOTDIR);
    VolumeRig::require(fs.unlink(b, "file"));
    VolumeRig::require(fs.remove_directory(b, "c"));
    VolumeRig::require(fs.remove_directory(kRootInode, "moved"));
    CHECK(rig.names() == std::vector<std::string>{"a", "link", "loop"});
    CHECK(fs.space()->totals.files == 0);
    CHECK(fs.space()->totals.directories == 1);
    CHECK(fs.space()->totals.payload_bytes == 0);
}

TEST_CASE("feedfs: attributes, and a listing that goes on") {
    VolumeRig rig;
    for (int i = 0; i < 25; ++i) rig.write("n" + std::to_string(100 + i), {});
    std::vector<DirectoryEntry> entries;
    VolumeRig::require(rig.fs->read_directory(kRootInode, "n109", 10, entries));
    REQUIRE(entries.size() == 10);
    CHECK(entries[0].name == "n110");
    AttributeChange change;
    change.mode = 0600;
    change.uid = 7;
    change.mtime_ns = 123;
    const auto changed = rig.fs->set_attributes(kRootInode, "n100", change);
    REQUIRE(changed);
    const auto now = *rig.fs->lookup(kRootInode, "n100");
    CHECK(now.mode == 0600);
    CHECK(now.uid == 7);
    CHECK(now.mtime_ns == 123);
    rig.open({.read_only = true});
    CHECK(rig.error_of(rig.fs->set_attributes(kRootInode, "n100", change)) == EROFS);
    CHECK(rig.error_of(rig.fs->create(kRootInode, "new", {})) == EROFS);
}

TEST_CASE("feedfs: writers and readers of several threads and two openings do not disturb each other", "[threads]") {
    VolumeRig rig;
    auto other = rig.open_another();
    std::atomic<int> failures{0};
    const auto work = [&](FileSystem& fs, std::uint64_t number) {
        for (std::uint64_t i = 0; i < 20; ++i) {
            const std::string name = "t" + std::to_string(number) + "-" + std::to_string(i);
            const auto content = VolumeRig::pattern(1000 * (i + 1) * (number + 1), number * 100 + i);
            auto writer = fs.create(kRootInode, name, {});
            if (!writer || !(*writer)->append(content) || !fs.publish(**writer, Publish::visible)) ++failures;
            auto file = other->open_read(name);
            std::vector<std::byte> read(content.size());
            if (!file || !(*file)->read(0, read) || read != content) ++failures;
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { work(i % 2 ? *other : *rig.fs, i); });
    for (auto& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(rig.names().size() == 80);
    other.reset();
}

TEST_CASE("feedfs: a flipped bit is found, named, and never delivered; without verification it is") {
    VolumeRig rig(small_volume(1));
    const auto content = VolumeRig::pattern(200'000);
    rig.write("a", content);
    auto file = *rig.fs->open_read("a");
    std::vector<Location> pieces;
    VolumeRig::require(file->locate(100'000, 1, pieces));
    REQUIRE(pieces.size() == 1);
    const std::string path = rig.folder + "/volume/data1/" + segment_name(pieces[0].segment);
    {
        FILE* raw = std::fopen(path.c_str(), "r+b");
        REQUIRE(raw);
        std::fseek(raw, static_cast<long>(pieces[0].offset), SEEK_SET);
        const char flipped = static_cast<char>(std::to_integer<int>(content[100'000]) ^ 4);
        CHECK(std::fwrite(&flipped, 1, 1, raw) == 1);
        std::fclose(raw);
    }
    std::vector<std::byte> memory(1000);
    auto bad = file->read(100'000, memory);
    REQUIRE(!bad);
    CHECK(bad.error().errno_value == EIO);
    CHECK(bad.error().describe().find(segment_name(pieces[0].segment)) != std::string::npos);
    CHECK(file->read(0, memory)); // other blocks are good
    file.reset();
    rig.open({.verify = false});
    CHECK((*rig.fs->open_read("a"))->read(100'000, memory));
}

TEST_CASE("a file whose segment is missing is damaged (EIO), not absent") {
    VolumeRig rig;
    rig.write("f", VolumeRig::pattern(5000));
    rig.open();
    std::vector<std::filesystem::path> segments;
    for (const auto& one : std::filesystem::recursive_directory_iterator(rig.folder))
        if (one.path().extension() == ".segment") segments.push_back(one.path());
    REQUIRE(segments.size() > 0);
    for (const auto& one : segments) std::filesystem::remove(one);
    auto file = rig.fs->open_read("f");
    REQUIRE(file);
    std::vector<std::byte> content(8192);
    const auto got = (*file)->read(0, content);
    REQUIRE_FALSE(got);
    CHECK(got.error().errno_value == EIO);
    CHECK(got.error().describe().find(".segment") != std::string::npos);
    CHECK(got.error().describe().find("missing") != std::string::npos);
}

} // namespace
