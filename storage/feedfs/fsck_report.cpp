#include <cstdio>
#include <iterator>

#include "storage/feedfs/compact.hpp"
#include "storage/feedfs/fsck.hpp"

namespace feedbench::feedfs {

namespace {

struct KindEntry {
    const char* name;
    FindingWeight weight;
};
// In the order of FindingKind.
constexpr KindEntry kKinds[] = {
    {"target_missing", FindingWeight::loss},       {"segment_missing", FindingWeight::loss},
    {"record_outside", FindingWeight::loss},       {"record_overlap", FindingWeight::loss},
    {"footer_wrong", FindingWeight::loss},         {"data_wrong", FindingWeight::loss},
    {"record_damaged", FindingWeight::loss},       {"entry_unreachable", FindingWeight::wrong},
    {"directory_row_wrong", FindingWeight::wrong}, {"inode_id_twice", FindingWeight::wrong},
    {"counter_behind", FindingWeight::wrong},      {"root_missing", FindingWeight::wrong},
    {"live_wrong", FindingWeight::wrong},          {"totals_wrong", FindingWeight::wrong},
    {"size_wrong", FindingWeight::wrong},          {"segment_foreign", FindingWeight::wrong},
    {"lease_dead", FindingWeight::left_over},      {"segment_unsealed", FindingWeight::left_over},
    {"segment_tail", FindingWeight::left_over},    {"segment_unnamed", FindingWeight::left_over},
    {"pages_unnamed", FindingWeight::left_over},   {"row_unnamed", FindingWeight::left_over},
};
static_assert(std::size(kKinds) == static_cast<std::size_t>(FindingKind::row_unnamed) + 1);

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            out += escaped;
        } else {
            out += c;
        }
    }
    return out + '"';
}

// Members of one object, in order.
class JsonObject {
  public:
    void add(const char* key, std::uint64_t value) { raw(key, std::to_string(value)); }
    void add(const char* key, const std::string& value) { raw(key, quoted(value)); }
    void add(const char* key, bool value) { raw(key, value ? "true" : "false"); }
    void raw(const char* key, const std::string& json) {
        text_ += (text_.empty() ? "{\"" : ", \"") + std::string(key) + "\": " + json;
    }
    std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

  private:
    std::string text_;
};

std::string json_of(const Finding& finding) {
    JsonObject object;
    object.add("kind", std::string(finding_name(finding.kind)));
    if (!finding.path.empty()) object.add("path", finding.path);
    if (finding.segment != 0) {
        object.add("segment", segment_name(finding.segment));
        object.add("offset", finding.offset);
    }
    object.add("message", finding.message);
    object.add("repaired", finding.repaired);
    return object.text();
}

} // namespace

const char* finding_name(FindingKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }
FindingWeight finding_weight(FindingKind kind) { return kKinds[static_cast<std::size_t>(kind)].weight; }

int FsckReport::exit_code() const {
    std::uint64_t serious = 0;
    for (const auto& [kind, count] : counts)
        if (finding_weight(kind) != FindingWeight::left_over) serious += count;
    if (found == repaired) return found == 0 ? 0 : 1;
    return serious == 0 ? 0 : 4;
}

std::string to_json(const FsckReport& report) {
    JsonObject counts;
    for (const auto& [kind, count] : report.counts) counts.add(finding_name(kind), count);
    std::string findings;
    for (const Finding& finding : report.findings) findings += (findings.empty() ? "\n  " : ",\n  ") + json_of(finding);
    JsonObject object;
    object.add("files", report.files);
    object.add("directories", report.directories);
    object.add("symlinks", report.symlinks);
    object.add("payload_bytes", report.payload_bytes);
    object.add("extents", report.extents);
    object.add("segments", report.segments);
    object.add("segment_bytes", report.segment_bytes);
    object.add("bytes_read", report.bytes_read);
    object.add("living_writers", report.living_writers);
    object.add("found", report.found);
    object.add("repaired", report.repaired);
    object.add("losses", report.losses);
    object.raw("counts", counts.text());
    if (!report.note.empty()) object.add("note", report.note);
    object.raw("exit_code", std::to_string(report.exit_code()));
    object.raw("findings", "[" + findings + "]");
    return object.text() + "\n";
}

std::string to_json(const CompactReport& report) {
    JsonObject object;
    object.add("segments_looked_at", report.segments_looked_at);
    object.add("entries_looked_at", report.entries_looked_at);
    object.add("segments_emptied", report.segments_emptied);
    object.add("records_moved", report.records_moved);
    object.add("bytes_moved", report.bytes_moved);
    object.add("records_changed", report.records_changed);
    object.add("records_damaged", report.records_damaged);
    object.add("segments_removed", report.segments_removed);
    object.add("bytes_reclaimed", report.bytes_reclaimed);
    object.add("segments_waiting", report.segments_waiting);
    object.add("stopped", report.stopped);
    return object.text() + "\n";
}

} // namespace feedbench::feedfs
