#include <algorithm>
#include <sstream>

#include "harness/types/option_values.hpp"
#include "harness/types/units.hpp"
#include "storage/feedfs/mount/session.hpp"

namespace feedbench::feedfs::mount {

namespace {

struct OwnOption {
    const char* name;
    bool has_value;
    const char* help;
    Status (*apply)(SessionOptions& options, const std::string& value);
};

Status set_count(const char* name, const std::string& value, unsigned most, unsigned& count) {
    const Expected<double> number = parse_number(value);
    if (!number) return number.error();
    if (*number < 1 || *number > most)
        return usage_error(std::string(name) + "=" + value + ": 1 to " + std::to_string(most) + " are possible");
    count = static_cast<unsigned>(*number);
    return {};
}

Status set_seconds(const std::string& value, double& into) {
    const Expected<std::uint64_t> ns = parse_duration_ns(value);
    if (!ns) return ns.error();
    into = seconds(*ns);
    return {};
}

constexpr OwnOption kOwn[] = {
    {"ro", false, "read only",
     [](SessionOptions& o, const std::string&) -> Status { return o.read_only = true, Status{}; }},
    {"rw", false, "read and write (default)",
     [](SessionOptions& o, const std::string&) -> Status { return o.read_only = false, Status{}; }},
    {"sync", false, "close(2) waits until the file is on stable storage",
     [](SessionOptions& o, const std::string&) -> Status { return o.sync_closes = true, Status{}; }},
    {"async", false, "closed files are published in groups, within some 10 ms (default)",
     [](SessionOptions& o, const std::string&) -> Status { return o.sync_closes = false, Status{}; }},
    {"noverify", false, "do not check the CRCs of what is read",
     [](SessionOptions& o, const std::string&) -> Status { return o.verify = false, Status{}; }},
    {"noallow_other", false, "only for the user who mounts (default for all but root)",
     [](SessionOptions& o, const std::string&) -> Status { return o.allow_other = false, Status{}; }},
    {"allow_other", false, "for all users (default for root)",
     [](SessionOptions& o, const std::string&) -> Status { return o.allow_other = true, Status{}; }},
    {"timeout", true, "how long the kernel believes names and attributes it was told (default 1s)",
     [](SessionOptions& o, const std::string& value) -> Status {
         if (Status ok = set_seconds(value, o.entry_timeout_s); !ok) return ok;
         return set_seconds(value, o.attribute_timeout_s);
     }},
    {"entry_timeout", true, "the same, of names",
     [](SessionOptions& o, const std::string& value) { return set_seconds(value, o.entry_timeout_s); }},
    {"attr_timeout", true, "the same, of attributes",
     [](SessionOptions& o, const std::string& value) { return set_seconds(value, o.attribute_timeout_s); }},
    {"read_ahead", true, "how far the kernel reads ahead in a file that is read in order (default 8MiB)",
     [](SessionOptions& o, const std::string& value) -> Status {
         const Expected<std::uint64_t> bytes = parse_size_bytes(value);
         if (!bytes) return bytes.error();
         o.read_ahead_bytes = *bytes;
         return {};
     }},
    {"loops", true, "threads of a read-only mount that wait for nothing (default 1)",
     [](SessionOptions& o, const std::string& value) { return set_count("loops", value, 64, o.loops); }},
    {"threads", true, "requests served at a time, beside the loops (default 16)",
     [](SessionOptions& o, const std::string& value) { return set_count("threads", value, 1024, o.threads); }},
};
// mount(2)'s own.
constexpr const char* kKernelOptions[] = {"suid",  "nosuid",  "dev",     "nodev",    "exec",      "noexec",
                                          "atime", "noatime", "dirsync", "relatime", "norelatime"};
// Written in fstab, without a meaning here.
constexpr const char* kIgnored[] = {"defaults", "auto", "noauto", "nofail", "_netdev", "user", "nouser", "users"};

} // namespace

Status parse_mount_options(const std::string& text, SessionOptions& options) {
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        if (word.empty()) continue;
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const bool has_value = equals != std::string::npos;
        const auto named = [&](const char* one) { return name == one; };
        const auto own =
            std::find_if(std::begin(kOwn), std::end(kOwn), [&](const OwnOption& one) { return named(one.name); });
        if (own != std::end(kOwn)) {
            if (own->has_value != has_value)
                return usage_error("mount option '" + word + "' " +
                                   (has_value ? "takes no value" : "needs a value, as in " + name + "=..."));
            if (Status ok = own->apply(options, has_value ? word.substr(equals + 1) : ""); !ok)
                return usage_error("mount option '" + word + "': " + ok.error().message);
        } else if (std::any_of(std::begin(kKernelOptions), std::end(kKernelOptions), named)) {
            options.kernel_options.push_back(word);
        } else if (std::none_of(std::begin(kIgnored), std::end(kIgnored), named) && !name.starts_with("x-")) {
            std::string names;
            for (const OwnOption& one : kOwn) names += std::string(names.empty() ? "" : ", ") + one.name;
            for (const char* one : kKernelOptions) names += std::string(", ") + one;
            return usage_error("there is no mount option '" + name + "': there are " + names);
        }
    }
    return {};
}

std::string mount_options_help() {
    std::string text;
    for (const OwnOption& one : kOwn) {
        std::string name = std::string(one.name) + (one.has_value ? "=..." : "");
        name.resize(std::max<std::size_t>(name.size() + 1, 20), ' ');
        text += "  " + name + one.help + "\n";
    }
    text += "and nosuid, nodev, noexec, noatime as for any mount\n";
    return text;
}

} // namespace feedbench::feedfs::mount
