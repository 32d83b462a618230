// What tests/integration/feedfs_power.py traces: a writer on a real volume that says between its operations what is
// durable. Not a test by itself, and hidden: it has assertions, so that a trace of a failed run is not used.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/unit/feedfs/volume_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

void mark(int file, const std::string& line) { // one write, seen in the trace between the others
    REQUIRE(::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

// Line `index` of every file's content names its version; the rest follows from it.
std::string power_content(unsigned index) {
    std::string text = std::to_string(index) + "\n";
    const std::size_t bytes = index * 7919 % 9000;
    while (text.size() < bytes) text += std::to_string(index * 31 + text.size()) + " ";
    return text;
}

} // namespace

TEST_CASE("a writer that is traced", "[.power_writer]") {
    const char* const place = std::getenv("FEEDFS_POWER_VOLUME");
    const char* const count = std::getenv("FEEDFS_POWER_OPERATIONS");
    REQUIRE((place && count));
    auto opened = FileSystem::open(place, {});
    REQUIRE(opened.has_value());
    FileSystem& volume = **opened;
    const std::string marks = std::string(place) + "/../marks";
    FILE* const file = std::fopen(marks.c_str(), "w");
    REQUIRE(file);
    for (unsigned index = 0; index < static_cast<unsigned>(std::atoi(count)); ++index) {
        const std::string name = "f" + std::to_string(index * 13 % 29);
        mark(::fileno(file), "begin " + std::to_string(index) + "\n");
        bool durable = false;
        if (index % 11 == 7) {
            const Status gone = volume.unlink(kRootInode, name);
            REQUIRE((gone || gone.error().errno_value == ENOENT));
        } else {
            const std::string text = power_content(index);
            auto writer = volume.create(kRootInode, name, {});
            REQUIRE(writer.has_value());
            REQUIRE((*writer)->append(std::as_bytes(std::span(text))).has_value());
            durable = index % 4 == 1;
            REQUIRE(volume.publish(**writer, durable ? Publish::durable : Publish::visible).has_value());
        }
        if (index % 17 == 16) {
            durable = true;
            REQUIRE(volume.sync().has_value());
        }
        mark(::fileno(file), (durable ? "durable " : "visible ") + std::to_string(index) + "\n");
    }
    std::fclose(file);
}
