// A random program on a volume: two openings of it write, publish in groups, replace, rename, remove and sync; beside
// it the states that its namespace goes through, one after each change, and where in the journal each step began and
// ended.
//
// Thread: one. Owner: the test. Units: bytes. Errors: Catch assertions: every step of the program must succeed.
// Source: issue 7, "Proof that it does not lose data".
#pragma once

#include <functional>
#include <optional>
#include <random>

#include "tests/support/feedfs_model.hpp"
#include "tests/support/feedfs_rig.hpp"

namespace feedbench::test {

struct ProgramStep {
    std::string what;
    std::size_t begin = 0, end = 0; // of the journal
    std::size_t states_after = 0;   // how many states there were when it had ended; the last is its result
    bool durable = false;           // what it did, and everything before, outlives a loss of power
};

class FeedfsProgram {
  public:
    // Does something that changes no name and no content: compaction, moves between tiers.
    using Neutral = std::function<Status(feedfs::FileSystem&)>;

    FeedfsProgram(FeedfsRig& rig, std::uint64_t seed) : rig_(rig), random_(seed) {
        states.emplace_back();
        step("make", true, [&] { need(rig_.make()); });
        step("open", false, [&] {
            for (auto& volume : volumes_) volume = rig_.opened();
        });
    }
    ~FeedfsProgram() { close(); }

    std::vector<Model> states;
    std::vector<ProgramStep> steps;
    std::vector<Neutral> neutral;
    std::uint64_t neutral_share = 0; // of 16 steps beside the others
    bool expects_errors = false;     // steps may fail, and then change nothing

    void run(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) one_step();
    }
    void close() {
        held_.reset();
        for (auto& volume : volumes_) volume.reset();
    }
    const Model& now() const { return states.back(); }
    feedfs::FileSystem& volume(std::size_t index) { return *volumes_[index]; }

    // Which states a loss of power at a point of the journal may leave: [first, last].
    std::pair<std::size_t, std::size_t> allowed(std::size_t point) const {
        std::size_t first = 0, last = 0;
        for (const ProgramStep& one : steps) {
            if (one.durable && one.end <= point) first = one.states_after - 1;
            if (one.begin < point) last = one.states_after - 1;
        }
        return {first, last};
    }
    std::string doing(std::size_t point) const {
        for (const ProgramStep& one : steps)
            if (one.begin <= point && point <= one.end && one.end > one.begin) return one.what;
        return "nothing";
    }

  private:
    std::uint64_t draw(std::uint64_t below) { return random_() % below; }
    static void need(const Status& status) {
        INFO((status ? std::string() : status.error().describe()));
        if (!status) FAIL("a step of the program failed");
    }
    bool worked(const Status& status) {
        if (status) return true;
        if (!expects_errors) need(status);
        has_failed_ = true;
        return false;
    }
    void step(std::string what, bool durable, const std::function<void()>& act) {
        const std::size_t begin = rig_.journal.size();
        has_failed_ = false;
        act();
        steps.push_back({std::move(what), begin, rig_.journal.size(), states.size(), durable && !has_failed_});
    }
    template <class Change>
    void becomes(Change change) {
        states.push_back(states.back());
        change(states.back());
    }

    std::string random_content() {
        static constexpr std::uint64_t kSizes[] = {0,      1,      100,    4032,   4033,    10'240, 10'240,
                                                   10'240, 65'536, 65'537, 70'000, 131'072, 200'001};
        std::string content(kSizes[draw(std::size(kSizes))], '\0');
        for (std::size_t i = 0; i < content.size(); i += 8) {
            const std::uint64_t word = random_();
            std::memcpy(content.data() + i, &word, std::min<std::size_t>(8, content.size() - i));
        }
        return content;
    }
    std::string random_directory() { // of the model; "" = the root
        std::vector<std::string> directories{""};
        for (const auto& [path, entry] : now())
            if (entry.type == feedfs::InodeType::directory) directories.push_back(path);
        return directories[draw(directories.size())];
    }
    std::optional<std::string> existing(feedfs::InodeType type) {
        std::vector<std::string> paths;
        for (const auto& [path, entry] : now())
            if (entry.type == type) paths.push_back(path);
        if (paths.empty()) return std::nullopt;
        return paths[draw(paths.size())];
    }
    std::string new_path(const char* kind, std::uint64_t names) {
        const std::string directory = random_directory();
        return (directory.empty() ? "" : directory + "/") + kind + std::to_string(draw(names));
    }
    feedfs::InodeId parent_of(feedfs::FileSystem& volume, const std::string& path) {
        auto parent = volume.resolve_parent(path);
        INFO(path << ": " << (parent ? std::string() : parent.error().describe()));
        REQUIRE(parent.has_value());
        return parent->parent;
    }

    // A writer that holds `content`, for `path`.
    std::unique_ptr<feedfs::Writer> writer_for(feedfs::FileSystem& volume, const std::string& path,
                                               const std::string& content) {
        auto writer = volume.create(parent_of(volume, path), last_name(path), {});
        INFO((writer ? std::string() : writer.error().describe()));
        REQUIRE(writer.has_value());
        for (std::size_t at = 0; at < content.size();) {
            const std::size_t piece = std::min<std::size_t>(content.size() - at, 1 + draw(90'000));
            need((*writer)->append(std::as_bytes(std::span(content).subspan(at, piece))));
            at += piece;
        }
        return std::move(*writer);
    }
    void put_in_model(const std::string& path, std::string content) {
        becomes([&](Model& model) {
            model[path] = {feedfs::InodeType::file, 0644, std::make_shared<const std::string>(std::move(content))};
        });
    }

    void write_files(feedfs::FileSystem& volume, std::size_t count, feedfs::Publish how) {
        std::vector<std::unique_ptr<feedfs::Writer>> writers;
        std::vector<feedfs::Writer*> group;
        std::vector<std::pair<std::string, std::string>> files;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string path = new_path("f", 6);
            const auto same = [&](const auto& file) { return file.first == path; };
            if (std::any_of(files.begin(), files.end(), same)) continue; // in which order names appear, nobody promises
            files.emplace_back(path, random_content());
            writers.push_back(writer_for(volume, path, files.back().second));
            group.push_back(writers.back().get());
        }
        const std::vector<Status> published = volume.publish(group, how);
        for (std::size_t i = 0; i < files.size(); ++i)
            if (worked(published[i])) put_in_model(files[i].first, std::move(files[i].second));
    }
    // A file that stays open over several steps, and is published more than once, or never.
    void hold(std::size_t index) {
        if (!held_) {
            const std::string path = new_path("h", 3);
            held_.emplace(Held{path, random_content(), {}, index, {}});
            held_->writer = writer_for(*volumes_[index], path, held_->content);
            return;
        }
        const bool there = parent_path(held_->path).empty() || now().contains(parent_path(held_->path));
        // Published before, and renamed, replaced or removed since: it cannot be published any more.
        const auto entry = now().find(held_->path);
        const bool lost = held_->published && (entry == now().end() || entry->second.content != held_->published);
        if (draw(3) == 0 || !there || lost || held_->content.size() > 300'000) return held_.reset();
        const std::string more = random_content();
        need(held_->writer->append(std::as_bytes(std::span(more))));
        held_->content += more;
        // Its directory may have been renamed, and another made in its place.
        held_->writer->set_destination(parent_of(*volumes_[held_->volume], held_->path), last_name(held_->path));
        if (!worked(volumes_[held_->volume]->publish(*held_->writer, feedfs::Publish::visible))) return;
        put_in_model(held_->path, held_->content);
        held_->published = now().at(held_->path).content;
    }
    void rename(feedfs::FileSystem& volume, const std::string& from, const std::string& to) {
        if (from == to || to.starts_with(from + "/")) return;
        if (now().at(from).type == feedfs::InodeType::directory && now().contains(to)) return;
        const std::string from_name = last_name(from), to_name = last_name(to);
        need(volume.rename({parent_of(volume, from), from_name, parent_of(volume, to), to_name}));
        becomes([&](Model& model) {
            Model moved;
            for (auto& [path, entry] : model)
                if (path == from)
                    moved[to] = entry;
                else if (path.starts_with(from + "/"))
                    moved[to + path.substr(from.size())] = entry;
                else if (path != to)
                    moved[path] = entry;
            model = std::move(moved);
        });
    }

    void one_step() {
        const std::size_t index = draw(volumes_.size());
        feedfs::FileSystem& volume = *volumes_[index];
        if (!neutral.empty() && draw(16) < neutral_share)
            return step("a neutral step", false, [&] { need(neutral[draw(neutral.size())](volume)); });
        switch (draw(16)) {
        case 0:
        case 1:
        case 2:
            return step("write a file", false, [&] { write_files(volume, 1, feedfs::Publish::visible); });
        case 3:
            return step("write a durable file", true, [&] { write_files(volume, 1, feedfs::Publish::durable); });
        case 4:
        case 5: {
            const bool durable = draw(2) == 0;
            return step("write a group", durable, [&] {
                write_files(volume, 2 + draw(5), durable ? feedfs::Publish::durable : feedfs::Publish::visible);
            });
        }
        case 6:
        case 7:
            return step("hold a writer", false, [&] { hold(index); });
        case 8:
            return step("make a directory", false, [&] {
                const std::string path = new_path("d", 3);
                if (now().contains(path) || std::count(path.begin(), path.end(), '/') > 2) return;
                REQUIRE(volume.make_directory(parent_of(volume, path), last_name(path), {.mode = 0750}).has_value());
                becomes([&](Model& model) { model[path] = {feedfs::InodeType::directory, 0750, {}}; });
                states.back()[path].content = std::make_shared<const std::string>();
            });
        case 9:
            return step("make a link", false, [&] {
                const std::string path = new_path("l", 2);
                if (now().contains(path)) return;
                const std::string leads = "../somewhere/" + std::to_string(draw(1000));
                const auto made = volume.make_symlink(parent_of(volume, path), last_name(path), leads, {.mode = 0777});
                REQUIRE(made.has_value());
                becomes([&](Model& model) {
                    model[path] = {feedfs::InodeType::symlink, made->mode, std::make_shared<const std::string>(leads)};
                });
            });
        case 10:
            return step("rename a file", false, [&] {
                if (const auto from = existing(feedfs::InodeType::file)) rename(volume, *from, new_path("f", 6));
            });
        case 11:
            return step("rename a directory", false, [&] {
                if (const auto from = existing(feedfs::InodeType::directory)) rename(volume, *from, new_path("d", 3));
            });
        case 12:
            return step("unlink", false, [&] {
                const auto path = existing(draw(4) == 0 ? feedfs::InodeType::symlink : feedfs::InodeType::file);
                if (!path) return;
                need(volume.unlink(parent_of(volume, *path), last_name(*path)));
                becomes([&](Model& model) { model.erase(*path); });
            });
        case 13:
            return step("remove a directory", false, [&] {
                const auto path = existing(feedfs::InodeType::directory);
                if (!path) return;
                const auto next = now().upper_bound(*path + "/");
                const bool empty = next == now().end() || !next->first.starts_with(*path + "/");
                const Status status = volume.remove_directory(parent_of(volume, *path), last_name(*path));
                REQUIRE(status.has_value() == empty);
                if (empty) becomes([&](Model& model) { model.erase(*path); });
            });
        case 14: // each answers for its own changes
            return step("sync", true, [&] {
                for (auto& one : volumes_) worked(one->sync());
            });
        default:
            return step("close and open", false, [&] {
                if (held_ && held_->volume == index) held_.reset();
                volumes_[index].reset();
                volumes_[index] = rig_.opened();
            });
        }
    }

    struct Held {
        std::string path, content;
        std::unique_ptr<feedfs::Writer> writer;
        std::size_t volume = 0;
        std::shared_ptr<const std::string> published; // its content in the model
    };
    FeedfsRig& rig_;
    std::mt19937_64 random_;
    std::array<std::unique_ptr<feedfs::FileSystem>, 2> volumes_;
    std::optional<Held> held_;
    bool has_failed_ = false; // something in this step
};

} // namespace feedbench::test
