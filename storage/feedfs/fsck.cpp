#include "storage/feedfs/fsck.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "harness/engine/clock.hpp"
#include "storage/feedfs/fsck_run.hpp"
#include "storage/feedfs/lease.hpp"
#include "storage/feedfs/target_mark.hpp"

namespace feedbench::feedfs {

FsckRun::FsckRun(const VolumeConfig& volume, std::vector<std::shared_ptr<Target>> targets,
                 std::shared_ptr<MetadataEngine> metadata, const FsckOptions& options)
    : volume_(volume), targets_(std::move(targets)), metadata_(std::move(metadata)), options_(options),
      now_ns_(options.now_ns ? options.now_ns() : engine::unix_time_ns()) {}

Status FsckRun::tell(const char* step, std::uint64_t done, std::uint64_t all) {
    if (!options_.progress || options_.progress({.step = step, .done = done, .all = all})) return {};
    return storage_error("fsck", volume_.folder, EINTR, "stopped");
}

// The repair that belongs to it may be filled until the next call.
Repair& FsckRun::found(FindingKind kind, Finding finding) {
    finding.kind = kind;
    ++report_.found;
    const auto counted = std::find_if(report_.counts.begin(), report_.counts.end(),
                                      [&](const auto& each) { return each.first == kind; });
    if (counted == report_.counts.end())
        report_.counts.emplace_back(kind, 1);
    else
        ++counted->second;
    if (finding_weight(kind) == FindingWeight::loss) ++report_.losses;
    Repair repair;
    repair.kind = kind;
    if (report_.findings.size() < options_.findings_most) {
        repair.finding = report_.findings.size();
        report_.findings.push_back(std::move(finding));
    }
    // Empty ones of earlier findings are not kept: a damaged disk may have millions.
    if (!repairs_.empty() && repairs_.back().batch.empty() && repairs_.back().removals.empty()) repairs_.pop_back();
    return repairs_.emplace_back(std::move(repair));
}

Status FsckRun::repair(Repair& repair) {
    if (repair.batch.empty() && repair.removals.empty()) return {};
    if (repair.cut) {
        auto file = repair.cut->first->open_for_repair(segment_name(repair.cut->second));
        if (!file) return file.error();
        if (auto status = (*file)->finish(repair.cut_bytes); !status) return status;
        if (auto status = (*file)->sync(); !status) return status;
    }
    auto outcome = metadata_->apply(repair.batch, Durability::durable);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) return {}; // changed meanwhile: the next run will see
    for (const auto& [place, name] : repair.removals)
        if (auto status = place->remove(name); !status) return status;
    ++report_.repaired;
    if (finding_weight(repair.kind) == FindingWeight::loss) --report_.losses;
    if (repair.finding != SIZE_MAX) report_.findings[repair.finding].repaired = true;
    return {};
}

Status FsckRun::repair_all() {
    for (Repair& each : repairs_)
        if (auto status = repair(each); !status) return status;
    return {};
}

bool FsckRun::is_alive(const LeaseRecord& lease) const {
    return options_.lease_alive ? options_.lease_alive(lease) : lease_is_alive(lease, now_ns_);
}

// Before anything is looked at, the dead lose their leases, durably: one that only seemed dead can name nothing from
// here on (lease_keeper.hpp), and one that has renewed its lease meanwhile keeps it, and is alive.
Status FsckRun::end_dead_leases() {
    Batch batch;
    {
        auto view = metadata_->read();
        if (!view) return view.error();
        auto end = (*view)->scan(all_leases(), SIZE_MAX, [&](std::string_view key, std::string_view value) {
            auto lease = decode_lease(value);
            if (!lease) return true; // told, and repaired, with the tables
            if (is_alive(*lease)) {
                ++report_.living_writers;
                return true;
            }
            batch.require_equals(std::string(key), std::string(value));
            batch.erase(std::string(key));
            dead_leases_.emplace(id_of_key(key), std::move(*lease));
            return true;
        });
        if (!end) return end.error();
    }
    if (auto status = refuse_beside_writers(); !status || batch.empty()) return status;
    auto outcome = metadata_->apply(batch, Durability::durable);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) {
        ++report_.living_writers;
        return refuse_beside_writers();
    }
    for (const auto& [id, lease] : dead_leases_) {
        const Repair& done = found_dead_lease(id, lease);
        ++report_.repaired;
        if (done.finding != SIZE_MAX) report_.findings[done.finding].repaired = true;
    }
    return {};
}

Status FsckRun::refuse_beside_writers() const {
    if (!options_.repair || report_.living_writers == 0) return {};
    return storage_error("fsck", volume_.folder, EBUSY,
                         std::to_string(report_.living_writers) +
                             " processes have the volume open for writing: repair needs it alone");
}

Expected<FsckReport> FsckRun::run() {
    if (options_.repair)
        if (auto status = end_dead_leases(); !status) return status.error();
    if (auto status = read_tables(); !status) return status.error();
    if (auto status = refuse_beside_writers(); !status) return status.error();
    if (report_.living_writers > 0 && !metadata_->properties().snapshot_spans_calls)
        report_.note = std::to_string(report_.living_writers) +
                       " processes write, and this metadata engine has no snapshots: findings may be their doing";
    if (is_incomplete_)
        report_.note += std::string(report_.note.empty() ? "" : "; ") +
                        "metadata records are damaged: nothing is removed, counters are not judged";
    if (auto status = prepare_lost_found(); !status) return status.error();
    check_tree();
    if (auto status = list_targets(); !status) return status.error();
    if (auto status = check_segments(); !status) return status.error();
    if (auto status = check_records(); !status) return status.error();
    if (options_.repair)
        if (auto status = repair_all(); !status) return status.error();
    return std::move(report_);
}

Expected<FsckReport> fsck(const VolumeConfig& volume, std::vector<std::shared_ptr<Target>> targets,
                          std::shared_ptr<MetadataEngine> metadata, const FsckOptions& options) {
    return FsckRun(volume, std::move(targets), std::move(metadata), options).run();
}

Expected<FsckReport> fsck(const std::string& place, const FsckOptions& options) {
    auto volume = load_volume(place);
    if (!volume) return volume.error();
    if (auto status = check_target_marks(*volume); !status) return status.error();
    MetadataPlace metadata;
    metadata.engine = volume->metadata_engine;
    metadata.place =
        metadata.engine == "lmdb" ? volume->absolute_place(volume->metadata_place) : volume->metadata_place;
    metadata.volume_id = volume->uuid;
    metadata.options = volume->metadata_options;
    auto engine = open_metadata(metadata, options.repair ? OpenMode::read_write : OpenMode::read_only);
    if (!engine) return engine.error();
    return fsck(*volume, make_targets(*volume), *engine, options);
}

bool lease_is_alive(const LeaseRecord& lease, std::int64_t now_ns) {
    const LeaseRecord self = lease_of_this_process({}, now_ns);
    if (lease.host != self.host) return lease.expires_ns > now_ns;
    if (lease.boot_id != self.boot_id) return false;
    // Field 22 of its stat tells it from a later process with its number; the second field is in brackets.
    std::ifstream stream("/proc/" + std::to_string(lease.pid) + "/stat");
    std::string line;
    if (!std::getline(stream, line)) return false;
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos) return false;
    std::istringstream fields(line.substr(bracket + 1));
    std::string field;
    for (int number = 3; number <= 22; ++number) {
        fields >> field;
        if (number == 3 && (field == "Z" || field == "X")) return false; // dead, and not yet waited for
    }
    return field == std::to_string(lease.pid_start);
}

} // namespace feedbench::feedfs
