// Writers that are killed: what was published is there, what was not is nowhere, and the next writer does not mind.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "tests/unit/feedfs/volume_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

struct Told {
    std::uint32_t writer = 0, index = 0;
};

std::string name_of(const Told& told) { return std::to_string(told.writer) + "-" + std::to_string(told.index); }
std::vector<std::byte> content_of(const Told& told) {
    static constexpr std::size_t kSizes[] = {0, 10, 4096, 10'240, 65'536, 70'000, 200'000};
    return VolumeRig::pattern(kSizes[(told.writer + told.index) % std::size(kSizes)],
                              std::uint64_t{told.writer} << 32 | told.index);
}

// Writes until it is killed, and tells of each file that was published. Never returns.
[[noreturn]] void write_for_ever(const std::string& place, std::uint32_t writer, int tell) {
    auto volume = FileSystem::open(place, {});
    if (!volume) ::_exit(1);
    auto held = (*volume)->create(kRootInode, "never-" + std::to_string(writer), {});
    if (!held || !(*held)->append(VolumeRig::pattern(200'000))) ::_exit(2);
    for (std::uint32_t index = 0;; ++index) {
        const Told told{writer, index};
        auto made = (*volume)->create(kRootInode, name_of(told), {});
        if (!made || !(*made)->append(content_of(told))) ::_exit(3);
        if (!(*volume)->publish(**made, index % 4 == 0 ? Publish::durable : Publish::visible)) ::_exit(4);
        if (::write(tell, &told, sizeof told) != sizeof told) ::_exit(5);
    }
}

} // namespace

TEST_CASE("what a killed writer had published is there, whole; the rest is nowhere", "[feedfs]") {
    VolumeRig rig;
    std::vector<Told> published;
    for (std::uint32_t round = 0; round < 4; ++round) {
        rig.fs.reset(); // nothing is open over a fork
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        std::vector<pid_t> writers;
        for (std::uint32_t i = 0; i < 2; ++i) {
            const pid_t pid = ::fork();
            REQUIRE(pid >= 0);
            if (pid == 0) {
                ::close(ends[0]);
                write_for_ever(rig.folder + "/volume", round * 2 + i, ends[1]);
            }
            writers.push_back(pid);
        }
        ::close(ends[1]);
        Told told;
        for (std::size_t heard = 0; heard < 20 + round * 7; ++heard) { // then in the middle of whatever they do
            REQUIRE(::read(ends[0], &told, sizeof told) == sizeof told);
            published.push_back(told);
        }
        for (const pid_t writer : writers) {
            REQUIRE(::kill(writer, SIGKILL) == 0);
            int status = 0;
            REQUIRE(::waitpid(writer, &status, 0) == writer);
            REQUIRE(WIFSIGNALED(status));
        }
        while (::read(ends[0], &told, sizeof told) == sizeof told) published.push_back(told);
        ::close(ends[0]);

        rig.open();
        std::set<std::string> there;
        for (const std::string& name : rig.names()) there.insert(name);
        for (const Told& one : published) CHECK(there.contains(name_of(one)));
        // Of what nobody was told, a file that is there is whole, too.
        for (const std::string& name : there) {
            INFO(name);
            Told one;
            REQUIRE(std::sscanf(name.c_str(), "%u-%u", &one.writer, &one.index) == 2);
            CHECK((rig.read(name) == content_of(one)));
        }
        rig.write("100-" + std::to_string(round), content_of({100, round})); // life goes on
        published.push_back({100, round});
    }
    CHECK(published.size() > 100);
}
