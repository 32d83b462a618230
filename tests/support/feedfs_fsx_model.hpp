// The model beside which a filesystem is tried: a tree in memory, and the comparison with what the filesystem says.
//
// Thread: one. Owner: the test. Units: bytes. Errors: std::runtime_error with seed, number and words of the operation.
// Source: issue 7, "fsx-like random-operation test against a model".
#pragma once

#include <cerrno>
#include <map>
#include <stdexcept>

#include "tests/support/feedfs_fsx_target.hpp"

namespace feedbench::test {

class FsxModel {
  public:
    // target null: the model alone.
    FsxModel(std::uint64_t seed, FsxTarget* target) : seed_(seed), target_(target) {}
    void compare_with(FsxTarget* target) { target_ = target; } // from now on
    // Everything there is, and nothing else, with every byte.
    void verify_all() {
        doing_ = "the whole tree";
        verify_directory("");
    }

  protected:
    struct Node {
        char kind = 'f';
        std::string content; // of a link: its target
        unsigned mode = 0644;
        std::int64_t mtime_ns = -1; // -1: not set by us
        std::uint64_t identity = 0; // of a file, also when it is replaced in place
    };
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("seed " + std::to_string(seed_) + ", operation " + std::to_string(number_) + ", " +
                                 doing_ + ": " + what);
    }
    void expect(int answer, int expected) const {
        if (answer != expected) fail("errno " + std::to_string(answer) + ", expected " + std::to_string(expected));
    }

    static std::string parent_of(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        return slash == std::string::npos ? "" : path.substr(0, slash);
    }
    const Node* find(const std::string& path) const {
        const auto it = nodes_.find(path);
        return it == nodes_.end() ? nullptr : &it->second;
    }
    bool is_directory(const std::string& path) const {
        const Node* node = find(path);
        return path.empty() || (node && node->kind == 'd');
    }
    // 0, or why the folder of a path cannot hold anything.
    int folder_problem(const std::string& path) const {
        const std::string above = parent_of(path);
        if (above.empty()) return 0;
        for (std::size_t end = above.find('/');; end = above.find('/', end + 1)) {
            const std::string part = above.substr(0, end);
            const Node* node = find(part);
            if (!node) return ENOENT;
            if (node->kind == 'l') return ENOENT; // it leads nowhere
            if (node->kind != 'd') return ENOTDIR;
            if (end == std::string::npos) return 0;
        }
    }
    int problem_of_new(const std::string& path) const {
        const int problem = folder_problem(path);
        return problem == 0 && find(path) ? EEXIST : problem;
    }
    static std::string bytes_of(std::uint64_t state, std::uint64_t size) {
        std::string bytes(size, '\0');
        for (char& one : bytes) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            one = static_cast<char>(state >> 56);
        }
        return bytes;
    }
    bool has_children(const std::string& path) const {
        const auto it = nodes_.upper_bound(path + "/");
        return it != nodes_.end() && it->first.starts_with(path + "/");
    }

    void compare(const std::string& got, const Node& node, std::uint64_t offset, std::uint64_t bytes) const {
        const std::string expected = offset < node.content.size() ? node.content.substr(offset, bytes) : std::string();
        if (got == expected) return;
        std::size_t at = 0;
        while (at < got.size() && at < expected.size() && got[at] == expected[at]) ++at;
        fail(std::to_string(got.size()) + " bytes, expected " + std::to_string(expected.size()) +
             "; the first difference at " + std::to_string(offset + at));
    }

    // One path as stat, readlink and its content have it.
    void check(const std::string& path) const {
        if (!target_) return;
        const Node& node = nodes_.at(path);
        FsxStat about;
        expect(target_->stat(path, about), 0);
        if (about.kind != node.kind) fail(path + " is of kind " + about.kind + ", expected " + node.kind);
        if (node.kind == 'l') {
            std::string leads;
            expect(target_->readlink(path, leads), 0);
            if (leads != node.content) fail(path + " leads to " + leads);
        }
        if (node.kind != 'f') return;
        if (about.size != node.content.size())
            fail(path + " has " + std::to_string(about.size) + " bytes, expected " +
                 std::to_string(node.content.size()));
        if ((about.mode & 07777) != node.mode) fail(path + " has another mode: " + std::to_string(about.mode));
        if (node.mtime_ns >= 0 && about.mtime_ns != node.mtime_ns)
            fail(path + " has another time: " + std::to_string(about.mtime_ns));
    }
    std::set<std::string> verify_names(const std::string& path) const {
        std::set<std::string> expected, found;
        const std::string prefix = path.empty() ? "" : path + "/";
        for (const auto& [name, node] : nodes_)
            if (name.starts_with(prefix) && name.size() > prefix.size() &&
                name.find('/', prefix.size()) == std::string::npos)
                expected.insert(name.substr(prefix.size()));
        if (!target_) return expected;
        expect(target_->list(path, found), 0);
        for (const std::string& name : expected)
            if (!found.contains(name)) fail("the listing of '" + path + "' lacks " + name);
        for (const std::string& name : found)
            if (!expected.contains(name))
                fail("the listing of '" + path + "' has " + name + ", which should not be there");
        return expected;
    }
    void verify_directory(const std::string& path) {
        for (const std::string& name : verify_names(path)) {
            const std::string below = path.empty() ? name : path + "/" + name;
            check(below);
            const Node& node = nodes_.at(below);
            if (node.kind == 'd') verify_directory(below);
            if (node.kind != 'f' || !target_) continue;
            std::string got;
            expect(target_->read(below, 0, node.content.size() + 1, got), 0);
            compare(got, node, 0, node.content.size() + 1);
        }
    }

    const std::uint64_t seed_;
    FsxTarget* target_;
    std::uint64_t number_ = 0;
    std::string doing_;
    std::map<std::string, Node> nodes_;
};

} // namespace feedbench::test
