// Looks at what a loss of power left of a volume: opens it, reads everything, holds it against the states that the
// program went through, and goes on working on it.
//
// Thread: one. Owner: the test. Units: -. Errors: a violation is a sentence. Source: issue 7.
#pragma once

#include <cstdlib>

#include "tests/support/feedfs_program.hpp"

namespace feedbench::test {

// Empty, or how what `volume` holds differs from every state that is allowed at this point.
inline std::string differs_from_all(feedfs::FileSystem& volume, const FeedfsProgram& program, std::size_t point) {
    Model found;
    if (const Status ok = read_volume(volume, found); !ok) return "does not read: " + ok.error().describe();
    const auto [first, last] = program.allowed(point);
    std::string why;
    for (std::size_t state = last + 1; state-- > first;) {
        const std::string difference_here = difference(found, program.states[state]);
        if (difference_here.empty()) return {};
        if (why.empty()) why = difference_here;
    }
    return "none of the states " + std::to_string(first) + " to " + std::to_string(last) + ": " + why;
}

// fsck finds nothing but what dead writers leave, repairs it, and then finds nothing.
// `after_errors`: a sync had failed, so a file may be longer than its segment's row says.
inline std::string repair(FeedfsRig& rig, bool after_errors) {
    const auto repaired = rig.fsck(true);
    if (!repaired) return "fsck stops: " + repaired.error().describe();
    for (const feedfs::Finding& one : repaired->findings)
        if (feedfs::finding_weight(one.kind) != feedfs::FindingWeight::left_over &&
            !(after_errors && one.kind == feedfs::FindingKind::size_wrong))
            return std::string("fsck finds ") + feedfs::finding_name(one.kind) + ": " + one.message;
    const auto again = rig.fsck(false);
    if (!again) return "the second fsck stops: " + again.error().describe();
    if (again->found != 0)
        return std::string("fsck finds after its repair ") + feedfs::finding_name(again->findings.front().kind) + ": " +
               again->findings.front().message;
    return {};
}

// What is wrong with what a loss of power left in `rig`: whole, repaired, and worked on.
inline std::string wrong_with(FeedfsRig& rig, const FeedfsProgram& program, std::size_t point, std::uint64_t seed) {
    const bool repairs_first = seed % 2 == 0;
    if (repairs_first)
        if (std::string why = repair(rig, program.expects_errors); !why.empty()) return why;
    {
        auto opened = rig.open();
        if (!opened) return "does not open: " + opened.error().describe();
        feedfs::FileSystem& volume = **opened;
        if (std::string why = differs_from_all(volume, program, point); !why.empty()) return why;

        // Life goes on: nothing that is there is harmed by what comes now.
        const std::string content(70'000, static_cast<char>('a' + seed % 26));
        if (const Status ok = put_file(volume, feedfs::kRootInode, "after", content, feedfs::Publish::durable); !ok)
            return "cannot be written to: " + ok.error().describe();
        if (const Status ok = volume.unlink(feedfs::kRootInode, "after"); !ok)
            return "cannot be changed: " + ok.error().describe();
        if (std::string why = differs_from_all(volume, program, point); !why.empty()) return "after more work, " + why;
    }
    if (!repairs_first)
        if (std::string why = repair(rig, program.expects_errors); !why.empty()) return "after more work, " + why;
    return {};
}

inline std::string violation(const FeedfsRig& rig, const FeedfsProgram& program, const CrashPoints& crash,
                             std::uint64_t seed) {
    if (crash.point() < program.steps.front().end) return {}; // mkfs had not ended: no volume yet
    FeedfsRig after(rig.journal, crash.remains(seed));
    return wrong_with(after, program, crash.point(), seed);
}

// Again at every point of the repair itself.
inline std::string violation_in_repair(const FeedfsRig& rig, const FeedfsProgram& program, const CrashPoints& crash,
                                       std::uint64_t seed, std::size_t& points) {
    if (crash.point() < program.steps.front().end) return {};
    const Remains first = crash.remains(seed);
    FeedfsRig repaired(rig.journal, first, true);
    if (const auto report = repaired.fsck(true); !report) return "fsck stops: " + report.error().describe();
    CrashPoints again(repaired.journal, first.disk);
    while (!again.at_end()) {
        again.advance();
        ++points;
        FeedfsRig after(rig.journal, first);
        const Remains second = again.remains(seed + again.point());
        for (const auto& target : after.targets) target->store().files.clear();
        after.put_disk(second.disk);
        after.put_metadata(repaired.journal, second);
        if (std::string why = wrong_with(after, program, crash.point(), seed); !why.empty())
            return "at point " + std::to_string(again.point()) + " of the repair: " + why;
    }
    return {};
}

inline std::uint64_t program_count(std::uint64_t normal) {
    const char* const asked = std::getenv("FEEDFS_CRASH_PROGRAMS");
    return asked ? std::strtoull(asked, nullptr, 10) : normal;
}

struct Play {
    std::uint64_t programs = 0;
    std::size_t steps = 0;
    std::function<void(FeedfsRig&)> spoil = [](FeedfsRig&) {};
    std::function<void(FeedfsProgram&)> prepare = [](FeedfsProgram&) {};
    bool in_repair = false; // every 16th point: the repair is crashed, too
};
// Plays programs until one shows a violation; how many crash points were looked at goes to `points`.
inline std::string first_violation(const Play& play, std::size_t& points) {
    for (std::uint64_t seed = 1; seed <= play.programs; ++seed) {
        FeedfsRig rig;
        FeedfsProgram program(rig, seed);
        play.prepare(program);
        play.spoil(rig);
        program.run(play.steps);
        program.close();
        CrashPoints crash(rig.journal);
        while (!crash.at_end()) {
            crash.advance();
            ++points;
            const std::uint64_t draw = seed * 1'000'003 + crash.point();
            const std::string found = play.in_repair && crash.point() % 16 == 0
                                          ? violation_in_repair(rig, program, crash, draw, points)
                                          : violation(rig, program, crash, draw);
            if (!found.empty())
                return "program " + std::to_string(seed) + ", point " + std::to_string(crash.point()) + " (" +
                       program.doing(crash.point()) + "): " + found;
        }
    }
    return {};
}

} // namespace feedbench::test
