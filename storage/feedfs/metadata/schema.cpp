#include "storage/feedfs/metadata/schema.hpp"

#include <cassert>
#include <cerrno>

#include "storage/feedfs/metadata/varint.hpp"

namespace feedbench::feedfs {

namespace {

std::string key_of(char table, std::uint64_t id) {
    std::string key(1, table);
    put_big(key, id);
    return key;
}
KeyRange table_range(char table) { return {std::string(1, table), std::string(1, static_cast<char>(table + 1))}; }

Error damaged_record(const char* record) {
    return storage_error("decode", {}, EUCLEAN, std::string("a metadata record is damaged: ") + record);
}

constexpr std::uint8_t kRecordVersion = 1;

std::string begin_record() { return std::string(1, static_cast<char>(kRecordVersion)); }

Status check_version(std::string_view& bytes, const char* record) {
    if (bytes.empty()) return damaged_record(record);
    const auto version = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (version == kRecordVersion) return {};
    return storage_error("decode", {}, EPROTONOSUPPORT,
                         std::string("a metadata record (") + record + ") has version " + std::to_string(version) +
                             ", this build knows version 1");
}

} // namespace

std::string volume_key() { return "V"; }
std::string counter_key(std::string_view name) { return std::string("C").append(name); }

void entry_key(InodeId parent, std::string_view name, std::string& out) {
    out.assign(1, 'E');
    put_big(out, parent);
    out.append(name);
}
std::string entry_key(InodeId parent, std::string_view name) {
    std::string key;
    key.reserve(9 + name.size());
    entry_key(parent, name, key);
    return key;
}
std::string root_key() { return entry_key(0, {}); }
KeyRange entries_of(InodeId directory) { return {key_of('E', directory), key_of('E', directory + 1)}; }
KeyRange entries_behind(InodeId directory, std::string_view name) {
    KeyRange range{entry_key(directory, name), key_of('E', directory + 1)};
    range.from.push_back('\0'); // no name is between a name and the name with a zero byte behind it
    return range;
}
KeyRange all_entries() { return table_range('E'); }
InodeId parent_of_entry_key(std::string_view key) { return id_of_key(key); }
std::string_view name_of_entry_key(std::string_view key) { return key.size() > 9 ? key.substr(9) : std::string_view(); }

std::string directory_key(InodeId id) { return key_of('D', id); }
std::string directory_times_key(InodeId id) { return key_of('T', id); }
std::string extent_page_key(InodeId inode, std::uint64_t file_end) {
    std::string key = key_of('X', inode);
    put_big(key, file_end);
    return key;
}
KeyRange extent_pages_of(InodeId inode) { return {key_of('X', inode), key_of('X', inode + 1)}; }
std::string segment_key(std::uint64_t segment) { return key_of('S', segment); }
std::string live_key(std::uint64_t segment) { return key_of('L', segment); }
std::string lease_key(std::uint64_t lease) { return key_of('W', lease); }
std::string retired_key(std::uint64_t segment) { return key_of('G', segment); }
KeyRange all_directories() { return table_range('D'); }
KeyRange all_directory_times() { return table_range('T'); }
KeyRange all_extent_pages() { return table_range('X'); }
KeyRange all_segments() { return table_range('S'); }
KeyRange all_live() { return table_range('L'); }
KeyRange all_leases() { return table_range('W'); }
KeyRange all_retired() { return table_range('G'); }

std::uint64_t id_of_key(std::string_view key) {
    std::uint64_t id = 0;
    key.remove_prefix(key.empty() ? 0 : 1);
    return get_big(key, id) ? id : 0;
}

std::string encode(const DirectoryRecord& record) {
    std::string out = begin_record();
    put_varint(out, record.parent);
    out.append(record.name);
    return out;
}
Expected<DirectoryRecord> decode_directory(std::string_view bytes) {
    if (Status version = check_version(bytes, "directory"); !version) return std::move(version.error());
    DirectoryRecord record;
    if (!get_varint(bytes, record.parent)) return damaged_record("directory");
    record.name.assign(bytes);
    return record;
}

std::string encode(const SegmentRecord& record) {
    std::string out = begin_record();
    put_varint(out, record.target);
    put_varint(out, record.object_target);
    put_varint(out, record.lease);
    put_varint(out, record.bytes);
    out.push_back(record.sealed ? 1 : 0);
    out.push_back(static_cast<char>(record.tiers));
    return out;
}
Expected<SegmentRecord> decode_segment(std::string_view bytes) {
    if (Status version = check_version(bytes, "segment"); !version) return std::move(version.error());
    SegmentRecord record;
    std::uint8_t sealed = 0;
    if (!get_varint32(bytes, record.target) || !get_varint32(bytes, record.object_target) ||
        !get_varint(bytes, record.lease) || !get_varint(bytes, record.bytes) || !get_little(bytes, sealed) ||
        !get_little(bytes, record.tiers) || sealed > 1 || !bytes.empty())
        return damaged_record("segment");
    record.sealed = sealed != 0;
    return record;
}

std::string encode(const LeaseRecord& record) {
    std::string out = begin_record();
    put_text(out, record.host);
    put_text(out, record.boot_id);
    put_varint(out, record.pid);
    put_varint(out, record.pid_start);
    put_little(out, record.expires_ns);
    put_text(out, record.purpose);
    return out;
}
Expected<LeaseRecord> decode_lease(std::string_view bytes) {
    if (Status version = check_version(bytes, "lease"); !version) return std::move(version.error());
    LeaseRecord record;
    if (!get_text(bytes, record.host) || !get_text(bytes, record.boot_id) || !get_varint(bytes, record.pid) ||
        !get_varint(bytes, record.pid_start) || !get_little(bytes, record.expires_ns) ||
        !get_text(bytes, record.purpose) || !bytes.empty())
        return damaged_record("lease");
    return record;
}

std::string encode(const RetiredRecord& record) {
    std::string out = begin_record();
    put_little(out, record.retired_ns);
    return out;
}
Expected<RetiredRecord> decode_retired(std::string_view bytes) {
    if (Status version = check_version(bytes, "retired segment"); !version) return std::move(version.error());
    RetiredRecord record;
    if (!get_little(bytes, record.retired_ns) || !bytes.empty()) return damaged_record("retired segment");
    return record;
}

std::string encode(const VolumeRecord& record) {
    std::string out;
    put_little(out, record.schema_version); // first and fixed in all versions, so that any build can tell
    out.append(record.volume_id);
    return out;
}
Expected<VolumeRecord> decode_volume(std::string_view bytes) {
    VolumeRecord record;
    if (!get_little(bytes, record.schema_version)) return damaged_record("volume");
    record.volume_id.assign(bytes);
    return record;
}

} // namespace feedbench::feedfs
