// A machine made of files in a folder of its own.
//
// Thread: the test's. Owner: the test; its files go with it. Units: none. Errors: none.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/probes/probe.hpp"

namespace feedbench::test {

struct FakeMachine {
    FakeMachine() : root(std::filesystem::temp_directory_path() / ("feedbench-probes-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(root);
        std::filesystem::create_directories(root);
        machine = {(root / "proc").string(), (root / "sys").string()};
    }
    ~FakeMachine() { std::filesystem::remove_all(root); }
    FakeMachine(const FakeMachine&) = delete;
    FakeMachine& operator=(const FakeMachine&) = delete;
    void write(const std::string& path, const std::string& content) const {
        const auto full = root / path;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << content;
    }
    // A block device that has read so many sectors of 512 bytes; also found by its name.
    void add_block(const std::string& number, const std::string& name, std::uint64_t sectors_read) const {
        write("sys/dev/block/" + number + "/uevent", "MAJOR=1\nDEVNAME=" + name + "\nDEVTYPE=disk\n");
        write("sys/dev/block/" + number + "/stat",
              "  646018   113055 " + std::to_string(sectors_read) + "  3496602   579503 90583 265322328 0 0 0 0\n");
        write("sys/class/block/" + name + "/dev", number + "\n");
    }
    void add_interface(const std::string& name, const std::string& received, const std::string& speed) const {
        write("sys/class/net/" + name + "/statistics/rx_bytes", received + "\n");
        if (!speed.empty()) write("sys/class/net/" + name + "/speed", speed + "\n");
    }
    std::filesystem::path root;
    probes::Machine machine;
};

} // namespace feedbench::test
