#include "storage/fault_plan.hpp"

#include <charconv>

#include "harness/types/option_values.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;

constexpr Option kOptions[] = {
    {"error", OptionType::text, "", "", "errno name and schedule: EIO@7, EACCES@1+, EIO@0.5%"},
    {"on", OptionType::text, "", "read",
     "what `error`, `delay` and `stall` are about: open, create, read, write, fsync, commit, close or any"},
    {"delay", OptionType::duration_s, "s", "0", "added to the operations of `delay_at`"},
    {"delay_at", OptionType::text, "", "1+", "schedule of the delays"},
    {"short", OptionType::text, "", "",
     "schedule of reads that bring half of their bytes (not the end of the file: half is missing)"},
    {"stall", OptionType::text, "", "", "schedule of operations that never complete (until the run is stopped)"},
    {"space", OptionType::size_bytes, "bytes", "0",
     "writes past so many bytes in all end with ENOSPC; 0 = without limit"},
    {"inner", OptionType::text, "", "", "URI of the backend behind; the last option, after ';'"},
};

std::optional<IoKind> kind_named(std::string_view name) {
    for (const IoKind kind :
         {IoKind::open, IoKind::create, IoKind::read, IoKind::write, IoKind::flush, IoKind::commit, IoKind::close})
        if (engine::io_kind_name(kind) == name) return kind;
    return {};
}

int errno_named(std::string_view name) {
    for (int value = 1; value < 200; ++value)
        if (errno_name(value) == name) return value;
    return 0;
}

} // namespace

std::span<const Option> fault_options() { return kOptions; }

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

Expected<FaultPlan> parse_fault_plan(const std::map<std::string, std::string>& options) {
    FaultPlan plan;
    const auto schedule = [&](std::string_view text, Schedule& out) -> Status {
        auto parsed = Schedule::parse(text);
        if (!parsed) return parsed.error();
        out = *parsed;
        return {};
    };
    if (const std::string& error = options.at("error"); !error.empty()) {
        const std::size_t at = error.find('@');
        if (at == std::string::npos) return config_error("error: '" + error + "' is not NAME@SCHEDULE, as EIO@7");
        plan.error = errno_named(error.substr(0, at));
        if (plan.error == 0) return config_error("error: '" + error.substr(0, at) + "' is no errno name, as EIO is");
        if (auto status = schedule(std::string_view(error).substr(at + 1), plan.error_at); !status)
            return status.error();
    }
    if (options.at("on") != "any") {
        plan.on = kind_named(options.at("on"));
        if (!plan.on)
            return config_error("on: '" + options.at("on") +
                                "' is none of open, create, read, write, fsync, commit, close, any");
    }
    if (auto status = schedule(options.at("delay_at"), plan.delay_at); !status) return status.error();
    if (auto status = schedule(options.at("short"), plan.short_at); !status) return status.error();
    if (auto status = schedule(options.at("stall"), plan.stall_at); !status) return status.error();
    auto delay = parse_duration_ns(options.at("delay"));
    if (!delay) return delay.error();
    auto space = parse_size_bytes(options.at("space"));
    if (!space) return space.error();
    plan.delay_ns = *delay;
    plan.space_bytes = *space;
    return plan;
}

} // namespace feedbench::storage
