#include "storage/fault_plan.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "harness/types/option_reader.hpp"
#include "harness/types/option_values.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;

constexpr Option kFaultOptions[] = {
    {"error", OptionType::text, "", "", "errno name, and a schedule unless `rate` says which: EIO@7, EACCES@1+, EIO"},
    {"rate", OptionType::number, "", "0",
     "share of the operations that fail with `error` (EIO if that is empty): 0.001"},
    {"on", OptionType::text, "", "read",
     "what `error`, `rate`, `delay` and `stall` are about: open, create, read, write, fsync, commit, close, namespace "
     "(stat, list, mkdir, remove, small files), several as read+close, or any"},
    {"delay", OptionType::duration_s, "s", "0", "added to the operations of `delay_at`"},
    {"delay_at", OptionType::text, "", "1+", "schedule of the delays"},
    {"short", OptionType::text, "", "",
     "schedule of reads that bring half of their bytes (not the end of the file: half is missing)"},
    {"stall", OptionType::text, "", "",
     "schedule of operations that never complete (until the run is stopped); a stalled namespace call blocks for ever"},
    {"space", OptionType::size_bytes, "bytes", "0",
     "writes past so many bytes in all end with ENOSPC; 0 = without limit"},
    {"seed", OptionType::integer, "", "0", "of schedules in percent and of `rate`; 0 = the run's seed"},
    {"inner", OptionType::text, "", "", "URI of the backend behind; the last option, after ';'"},
};

// Names joined by '+' to a set of kinds; nothing where a name is unknown.
std::optional<FaultKinds> kinds_named(std::string_view names) {
    FaultKinds kinds;
    while (!names.empty()) {
        const std::size_t end = std::min(names.find('+'), names.size());
        const std::string_view name = names.substr(0, end);
        names.remove_prefix(std::min(end + 1, names.size()));
        bool known = name == "namespace" || name == "any";
        if (known) kinds.name_space = true;
        for (const IoKind kind : {IoKind::open, IoKind::create, IoKind::read, IoKind::write, IoKind::flush,
                                  IoKind::commit, IoKind::close}) {
            const bool is_meant = name == "any" || engine::io_kind_name(kind) == name;
            if (is_meant) kinds.add(kind);
            known |= is_meant;
        }
        if (!known) return {};
        if (name == "any") kinds.name_space = false; // operations; the namespace has to be asked for by name
    }
    return kinds;
}

int errno_named(std::string_view name) {
    for (int value = 1; value < 200; ++value)
        if (errno_name(value) == name) return value;
    return 0;
}

} // namespace

std::span<const Option> fault_options() { return kFaultOptions; }

Expected<Schedule> Schedule::parse(std::string_view text) {
    Schedule s;
    if (text.empty()) return s;
    const Error bad = config_error("'" + std::string(text) + "' is no schedule: 7, 7+ or 5% is expected");
    const char last = text.back();
    if (last == '%') {
        auto percent = parse_number(text.substr(0, text.size() - 1));
        if (!percent || *percent < 0 || *percent > 100) return bad;
        s.probability_ = *percent / 100;
        return s;
    }
    s.and_later_ = last == '+';
    if (s.and_later_) text.remove_suffix(1);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), s.number_);
    if (code != std::errc{} || end != text.data() + text.size() || s.number_ == 0) return bad;
    return s;
}

Expected<FaultPlan> parse_fault_plan(const std::map<std::string, std::string>& options, const std::string& uri) {
    FaultPlan plan;
    OptionReader reader(kFaultOptions, options, uri);
    const auto schedule = [&reader](const char* key, std::string_view text) {
        const auto parsed = Schedule::parse(text);
        if (!parsed) reader.refuse(key, parsed.error().message);
        return parsed ? *parsed : Schedule{};
    };
    const double rate = reader.number("rate", 0, 1);
    std::string error = reader.text("error");
    const std::size_t at = error.find('@');
    if (rate > 0) {
        if (at != std::string::npos) reader.refuse("error", "'" + error + "' has a schedule, and rate is given too");
        if (error.empty()) error = "EIO";
        plan.error_at = Schedule::with_probability(rate);
    } else if (!error.empty()) {
        if (at == std::string::npos)
            reader.refuse("error", "'" + error + "' says not when: NAME@SCHEDULE, as EIO@7, or rate=0.001");
        else
            plan.error_at = schedule("error", std::string_view(error).substr(at + 1));
    }
    if (!error.empty()) {
        plan.error = errno_named(error.substr(0, at));
        if (plan.error == 0) reader.refuse("error", "'" + error.substr(0, at) + "' is no errno name, as EIO is");
    }
    if (const auto kinds = kinds_named(reader.text("on")))
        plan.on = *kinds;
    else
        reader.refuse("on", "'" + reader.text("on") +
                                "' is none of open, create, read, write, fsync, commit, close, namespace, any, nor "
                                "several of them joined by +");
    if (const auto seed = reader.integer("seed", 0, std::numeric_limits<std::int64_t>::max()); seed != 0)
        plan.seed = static_cast<std::uint64_t>(seed);
    plan.delay_at = schedule("delay_at", reader.text("delay_at"));
    plan.short_at = schedule("short", reader.text("short"));
    plan.stall_at = schedule("stall", reader.text("stall"));
    plan.delay_ns = reader.duration_ns("delay");
    plan.space_bytes = reader.bytes("space");
    if (auto status = reader.status(); !status) return status.error();
    return plan;
}

} // namespace feedbench::storage
