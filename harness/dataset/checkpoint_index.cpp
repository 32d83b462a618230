#include "harness/dataset/checkpoint_index.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "harness/dataset/json_members.hpp"
#include "harness/types/units.hpp"

namespace feedbench::dataset {

namespace {

constexpr std::uint64_t kLargestIndex = 256 * kMiB;

// The one list of members, for both directions.
template <class Entry, class Visit>
void for_each_member(Entry& entry, Visit&& visit) {
    visit("folder", entry.folder);
    visit("model", entry.model);
    visit("run_id", entry.run_id);
    visit("rank_count", entry.rank_count);
    visit("file_count", entry.file_count);
    visit("bytes", entry.bytes);
    visit("content_seed", entry.content_seed);
    visit("content_version", entry.content_version);
    visit("fsync", entry.fsync);
    visit("write_end_unix_ns", entry.write_end_unix_ns);
    visit("hosts", entry.hosts);
}

std::vector<CheckpointEntry>::const_iterator place_of(const CheckpointIndex& index, std::string_view folder) {
    return std::find_if(index.committed.begin(), index.committed.end(),
                        [&](const CheckpointEntry& entry) { return entry.folder == folder; });
}

} // namespace

const CheckpointEntry* CheckpointIndex::find(std::string_view folder) const {
    const auto at = place_of(*this, folder);
    return at == committed.end() ? nullptr : &*at;
}

bool CheckpointIndex::remove(std::string_view folder) {
    const auto at = place_of(*this, folder);
    if (at == committed.end()) return false;
    committed.erase(at);
    return true;
}

void CheckpointIndex::add(CheckpointEntry entry) {
    remove(entry.folder);
    committed.push_back(std::move(entry));
}

std::string to_json(const CheckpointIndex& index) {
    Json all = Json::array();
    for (const CheckpointEntry& entry : index.committed) {
        Json one = Json::object();
        for_each_member(entry, [&](const char* key, const auto& value) { one[key] = value; });
        all.push_back(std::move(one));
    }
    const Json json = {{"schema_version", kCheckpointIndexVersion},
                       {"generator", "feedbench/" FEEDBENCH_VERSION},
                       {"committed", std::move(all)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<CheckpointIndex> parse_checkpoint_index(std::string_view text, const std::string& path) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return format_error(path, "this is not a list of checkpoints: no JSON object");
    const auto wrong = [&](const std::string& key) {
        return format_error(path,
                            fmt::format("damaged list of checkpoints: '{}' is missing or not what it must be", key));
    };
    int version = 0;
    if (!take(json, "schema_version", version)) return wrong("schema_version");
    if (version != kCheckpointIndexVersion)
        return format_error(path, fmt::format("list of checkpoints of version {}, but this feedbench reads version {}",
                                              version, kCheckpointIndexVersion));
    const auto all = json.find("committed");
    if (all == json.end() || !all->is_array()) return wrong("committed");
    CheckpointIndex index;
    for (const Json& one : *all) {
        std::string first_wrong;
        CheckpointEntry entry;
        for_each_member(entry, [&](const char* key, auto& value) {
            if (first_wrong.empty() && !take(one, key, value)) first_wrong = key;
        });
        if (!first_wrong.empty()) return wrong(fmt::format("committed[{}].{}", index.committed.size(), first_wrong));
        // A name from a file becomes a path: one folder below ours, nothing else.
        if (entry.folder.empty() || entry.folder.front() == '.' || entry.folder.find('/') != std::string::npos)
            return wrong(fmt::format("committed[{}].folder", index.committed.size()));
        index.committed.push_back(std::move(entry));
    }
    return index;
}

Expected<CheckpointIndex> read_checkpoint_index(storage::Backend& backend) {
    const std::string path(kCheckpointIndexName);
    Expected<std::string> text = backend.read_file(path, kLargestIndex);
    if (text) return parse_checkpoint_index(*text, backend.display_path(path));
    if (text.error().errno_value == ENOENT) return CheckpointIndex{};
    return text.error();
}

Status write_checkpoint_index(storage::Backend& backend, const CheckpointIndex& index) {
    const std::string text = to_json(index);
    return backend.write_file(std::string(kCheckpointIndexName), std::as_bytes(std::span(text)));
}

} // namespace feedbench::dataset
