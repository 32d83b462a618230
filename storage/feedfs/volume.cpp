#include "storage/feedfs/volume.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "storage/feedfs/target_mark.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kChunkLeast = kCrcBlockBytes, kChunkMost = 1ULL << 30, kSegmentMost = 1ULL << 32;
constexpr std::uint32_t kTargetsMost = 4096;

bool is_object_place(const std::string& place) { return place.find("://") != std::string::npos; }

Error refused(const std::string& file, const std::string& message) {
    Error error = config_error(message, file);
    error.errno_value = EINVAL;
    return error;
}

template <class T>
T required(const YAML::Node& node, const char* key) {
    const YAML::Node value = node[key];
    if (!value) throw YAML::Exception(node.Mark(), std::string("the key '") + key + "' is missing");
    try {
        return value.as<T>();
    } catch (const YAML::BadConversion&) {
        throw YAML::Exception(value.Mark(), "the key '" + std::string(key) + "' is '" + value.as<std::string>("") +
                                                "', which is not what belongs there");
    }
}

Expected<std::string> new_uuid() {
    std::ifstream source("/proc/sys/kernel/random/uuid");
    std::string uuid;
    if (!(source >> uuid) || uuid.size() != 36)
        return storage_error("read", "/proc/sys/kernel/random/uuid", EIO, "no uuid could be had");
    return uuid;
}

std::string as_yaml(const VolumeConfig& config) {
    YAML::Emitter out;
    out << YAML::Comment("A feedfs volume. What is said here must not be changed by hand, except places that moved.");
    out << YAML::Newline << YAML::BeginMap;
    out << YAML::Key << "format_version" << YAML::Value << config.format_version;
    out << YAML::Key << "uuid" << YAML::Value << config.uuid;
    out << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted << config.name;
    out << YAML::Key << "metadata" << YAML::Value << YAML::BeginMap;
    out << YAML::Key << "engine" << YAML::Value << config.metadata_engine;
    out << YAML::Key << "place" << YAML::Value << YAML::DoubleQuoted << config.metadata_place;
    if (!config.metadata_options.empty()) {
        out << YAML::Key << "options" << YAML::Value << YAML::BeginMap;
        for (const auto& [key, value] : config.metadata_options)
            out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << value;
        out << YAML::EndMap;
    }
    out << YAML::EndMap;
    out << YAML::Key << "chunk_bytes" << YAML::Value << config.chunk_bytes;
    out << YAML::Key << "segment_bytes" << YAML::Value << config.segment_bytes;
    out << YAML::Key << "fast_capacity_bytes" << YAML::Value << config.fast_capacity_bytes;
    out << YAML::Key << "targets" << YAML::Value << YAML::BeginSeq;
    for (const TargetConfig& target : config.targets) {
        out << YAML::BeginMap << YAML::Key << "id" << YAML::Value << target.id;
        out << YAML::Key << "place" << YAML::Value << YAML::DoubleQuoted << target.place;
        out << YAML::Key << "tier" << YAML::Value << (target.tier == Tier::fast ? "fast" : "object") << YAML::EndMap;
    }
    out << YAML::EndSeq << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

VolumeConfig from_yaml(const YAML::Node& node) {
    VolumeConfig config;
    config.format_version = required<std::uint32_t>(node, "format_version");
    if (config.format_version != kFormatVersion)
        throw YAML::Exception(node.Mark(), "the volume has format version " + std::to_string(config.format_version) +
                                               ", this program opens version " + std::to_string(kFormatVersion) +
                                               " only");
    config.uuid = required<std::string>(node, "uuid");
    config.name = required<std::string>(node, "name");
    const auto metadata = required<YAML::Node>(node, "metadata");
    config.metadata_engine = required<std::string>(metadata, "engine");
    config.metadata_place = required<std::string>(metadata, "place");
    for (const auto& option : metadata["options"])
        config.metadata_options.emplace_back(option.first.as<std::string>(), option.second.as<std::string>());
    config.chunk_bytes = required<std::uint64_t>(node, "chunk_bytes");
    config.segment_bytes = required<std::uint64_t>(node, "segment_bytes");
    config.fast_capacity_bytes = required<std::uint64_t>(node, "fast_capacity_bytes");
    for (const auto& item : required<YAML::Node>(node, "targets")) {
        TargetConfig target;
        target.id = required<std::uint32_t>(item, "id");
        target.place = required<std::string>(item, "place");
        const auto tier = required<std::string>(item, "tier");
        if (tier != "fast" && tier != "object")
            throw YAML::Exception(item.Mark(), "the tier '" + tier + "' is neither fast nor object");
        target.tier = tier == "fast" ? Tier::fast : Tier::object;
        config.targets.push_back(std::move(target));
    }
    return config;
}

Status write_durably(const std::string& folder, const std::string& name, const std::string& text) {
    const std::string path = folder + "/" + name, temporary = path + ".new";
    const auto failed = [&](const char* operation) { return storage_error(operation, path, errno); };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return failed("create");
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    const int error = errno;
    ::close(fd);
    if (!written) return storage_error("write", path, error);
    // Not over a volume that somebody else made meanwhile: link() refuses, where rename() would not.
    if (::link(temporary.c_str(), path.c_str()) != 0) return failed("link");
    ::unlink(temporary.c_str());
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = directory >= 0 && ::fsync(directory) == 0;
    const int sync_error = errno;
    if (directory >= 0) ::close(directory);
    return synced ? Status{} : storage_error("fsync", folder, sync_error);
}

Status make_folder(const std::string& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) return storage_error("mkdir", folder, code.value());
    return {};
}

} // namespace

std::uint64_t VolumeConfig::volume_id() const {
    std::string digits;
    for (const char c : uuid)
        if (c != '-' && digits.size() < 16) digits += c;
    std::uint64_t id = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
    return id;
}

std::string VolumeConfig::absolute_place(const std::string& place) const {
    return place.starts_with('/') ? place : folder + "/" + place;
}

Status check_volume(const VolumeConfig& config) {
    const std::string file = config.folder + "/" + kVolumeFile;
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    if (config.chunk_bytes < kChunkLeast || config.chunk_bytes > kChunkMost ||
        (config.chunk_bytes & (config.chunk_bytes - 1)) != 0)
        return refused(file, "chunk_bytes is " + number(config.chunk_bytes) +
                                 "; a power of two from 65536 to 1073741824 is expected");
    if (config.segment_bytes < 2 * (config.chunk_bytes + kBlockBytes) || config.segment_bytes > kSegmentMost ||
        config.segment_bytes % kBlockBytes != 0)
        return refused(file, "segment_bytes is " + number(config.segment_bytes) +
                                 "; a multiple of 4096 of at least two chunks with their footers (" +
                                 number(2 * (config.chunk_bytes + kBlockBytes)) + ") and at most 4 GiB is expected");
    std::set<std::uint32_t> ids;
    std::set<std::string> places;
    bool has_fast = false;
    for (const TargetConfig& target : config.targets) {
        if (!ids.insert(target.id).second)
            return refused(file, "the target id " + number(target.id) + " is there twice");
        if (target.place.empty() || !places.insert(target.place).second)
            return refused(file, "the target place '" + target.place + "' is empty or there twice");
        if (target.tier == Tier::fast && is_object_place(target.place))
            return refused(file, "the fast target '" + target.place + "' is no folder");
        const std::size_t colon = target.place.find(":/");
        if (target.tier == Tier::object && colon != std::string::npos && colon < target.place.find('/') &&
            !target.place.starts_with("s3://"))
            return refused(file, "the object target '" + target.place +
                                     "' is neither s3://BUCKET/PREFIX nor a folder (./" + target.place + " is one)");
        has_fast = has_fast || target.tier == Tier::fast;
    }
    if (!has_fast) return refused(file, "there is no target of the fast tier");
    if (config.targets.size() > kTargetsMost)
        return refused(file, number(config.targets.size()) + " targets; at most 4096 are expected");
    if (config.uuid.size() != 36 || config.volume_id() == 0)
        return refused(file, "the uuid '" + config.uuid + "' is none");
    return {};
}

Expected<VolumeConfig> load_volume(const std::string& place) {
    std::error_code code;
    std::filesystem::path file = std::filesystem::absolute(place, code);
    if (std::filesystem::is_directory(file, code)) file /= kVolumeFile;
    std::ifstream stream(file);
    if (!stream)
        return storage_error("open", file.string(), ENOENT, "no feedfs volume is here; `feedfs mkfs FOLDER` makes one");
    std::stringstream text;
    text << stream.rdbuf();
    VolumeConfig config;
    try {
        config = from_yaml(YAML::Load(text.str()));
    } catch (const YAML::Exception& problem) {
        return refused(file.string(),
                       (problem.mark.is_null() ? "" : "line " + std::to_string(problem.mark.line + 1) + ": ") +
                           problem.msg);
    }
    config.folder = file.parent_path().lexically_normal().string();
    if (auto status = check_volume(config); !status) return status.error();
    return config;
}

Expected<VolumeConfig> make_volume(const std::string& folder, VolumeConfig config, TargetMarks& marks) {
    std::error_code code;
    std::string absolute = std::filesystem::absolute(folder, code).lexically_normal().string();
    while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
    config.folder = absolute;
    const std::string file = absolute + "/" + kVolumeFile;
    const bool is_there = std::filesystem::exists(file, code);
    std::string left_uuid;
    if (is_there) {
        const auto left = load_volume(absolute);
        if (!left || !is_unfinished(*left))
            return storage_error("mkfs", absolute, EEXIST, "there is a feedfs volume here already");
        if (auto status = refuse_used_targets(*left); !status) return status.error(); // it has data after all
        left_uuid = left->uuid;
    }
    if (config.targets.empty()) config.targets.push_back({.id = 1, .place = "data", .tier = Tier::fast});
    // The metadata of a mkfs that was killed may be there, under its uuid.
    if (config.uuid.empty()) config.uuid = is_there ? left_uuid : unfinished_uuid(config);
    if (config.uuid.empty()) {
        auto uuid = new_uuid();
        if (!uuid) return uuid.error();
        config.uuid = std::move(*uuid);
    }
    if (config.name.empty()) config.name = std::filesystem::path(absolute).filename().string();
    if (auto status = check_volume(config); !status) return status.error();
    if (auto status = refuse_used_targets(config); !status) return status.error();
    if (auto status = make_folder(absolute); !status) return status.error();
    for (const TargetConfig& target : config.targets)
        if (!is_object_place(target.place))
            if (auto status = make_folder(config.absolute_place(target.place)); !status) return status.error();
    if (auto status = marks.take(config); !status) return status.error();
    if (is_there && ::unlink(file.c_str()) != 0) return storage_error("remove", file, errno);
    if (auto status = write_durably(absolute, kVolumeFile, as_yaml(config)); !status) return status.error();
    return config;
}

} // namespace feedbench::feedfs
