// ReadPlan: what a caller reads by itself is all checked before it is used.
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/feedfs/volume_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

// As the mount's loop does it, without the ring.
struct Planned {
    bool possible = false;
    Status checked;
    std::vector<std::byte> useful;
};
Planned read_by_plan(ReadFile& file, std::uint64_t offset, std::uint64_t bytes) {
    Planned done;
    ReadPlan plan;
    done.possible = file.plan(offset, bytes, plan);
    if (!done.possible) return done;
    CHECK(plan.offset() % kBlockBytes == 0);
    CHECK(plan.read_bytes % kBlockBytes == 0);
    BlockMemory memory;
    const BlockBuffer buffer = memory.take(plan.read_bytes);
    const ssize_t got =
        ::pread(plan.file->descriptor(true), buffer.data(), plan.read_bytes, static_cast<off_t>(plan.offset()));
    REQUIRE(got >= static_cast<ssize_t>(plan.payload_bytes));
    done.checked = plan.check({buffer.data(), plan.payload_bytes});
    done.useful.assign(buffer.data() + plan.skip_bytes, buffer.data() + plan.skip_bytes + plan.useful_bytes);
    return done;
}

VolumeConfig one_chunk_volume() {
    VolumeConfig config = small_volume(1);
    config.chunk_bytes = 1 << 20;
    config.segment_bytes = 4 << 20;
    return config;
}

TEST_CASE("feedfs: planned reads bring what read() brings, from any place; what cannot be planned is left to it") {
    VolumeRig rig(one_chunk_volume());
    const auto content = VolumeRig::pattern(200'000);
    rig.write("a", content);
    const auto file = *rig.fs->open_read("a");
    for (const auto& [offset, bytes] : {std::pair<std::size_t, std::size_t>{0, 200'000},
                                        {0, 262'144},
                                        {0, 1},
                                        {65'535, 2},
                                        {65'536, 65'536},
                                        {70'000, 4096},
                                        {131'072, 4096},
                                        {199'999, 1},
                                        {199'000, 5000}}) {
        INFO(offset << " + " << bytes);
        const Planned done = read_by_plan(*file, offset, bytes);
        REQUIRE(done.possible);
        VolumeRig::require(done.checked);
        const std::size_t end = std::min(offset + bytes, content.size());
        CHECK(done.useful == std::vector<std::byte>(content.begin() + static_cast<std::ptrdiff_t>(offset),
                                                    content.begin() + static_cast<std::ptrdiff_t>(end)));
    }
    ReadPlan plan;
    CHECK_FALSE(file->plan(200'000, 1, plan));                  // behind the end
    CHECK_FALSE(file->plan(0, ReadPlan::kBytesMost + 1, plan)); // too much to be checked by one thread
    rig.write("b", VolumeRig::pattern(1'500'000));
    const auto large = *rig.fs->open_read("b");
    CHECK(large->plan(0, 4096, plan));
    CHECK_FALSE(large->plan((1 << 20) - 10, 20, plan)); // two extents
}

TEST_CASE("feedfs: a planned read of a part of a damaged block is refused, whichever part; other blocks are not") {
    VolumeRig rig(one_chunk_volume());
    const auto content = VolumeRig::pattern(200'000);
    rig.write("a", content);
    auto file = *rig.fs->open_read("a");
    std::vector<Location> pieces;
    VolumeRig::require(file->locate(100'000, 1, pieces));
    const std::string path = rig.folder + "/volume/data1/" + segment_name(pieces.at(0).segment);
    const int raw = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const char flipped = static_cast<char>(std::to_integer<int>(content[100'000]) ^ 1);
    CHECK(::pwrite(raw, &flipped, 1, static_cast<off_t>(pieces[0].offset)) == 1);
    CHECK(::fsync(raw) == 0);
    ::close(raw);
    for (const std::uint64_t offset : {65'536, 69'632, 100'000, 131'071}) {
        INFO(offset);
        const Planned done = read_by_plan(*file, offset, 1);
        REQUIRE(done.possible);
        REQUIRE_FALSE(done.checked);
        CHECK(done.checked.error().errno_value == EIO);
        CHECK(done.checked.error().path == segment_name(pieces[0].segment));
        CHECK(static_cast<std::uint64_t>(done.checked.error().offset) == pieces[0].offset - (100'000 - 65'536));
        std::byte one{};
        CHECK(rig.error_of(file->read(offset, {&one, 1})) == EIO); // nor by the library
    }
    VolumeRig::require(read_by_plan(*file, 65'535, 1).checked);
    VolumeRig::require(read_by_plan(*file, 131'072, 60'000).checked);
    file.reset();
    rig.open({.verify = false});
    VolumeRig::require(read_by_plan(**rig.fs->open_read("a"), 100'000, 1).checked); // as asked for
}

} // namespace
