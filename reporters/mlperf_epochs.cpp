// per_epoch_stats.json: when epochs, blocks and checkpoints began and ended, as the reference tool writes it.
//
// Source: reference.md section 4. Times are local, made from the run's start time and seconds since then; durations are
// text.
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/reporter.hpp"

namespace feedbench::reporters {
namespace {

using Json = nlohmann::ordered_json;

// Civil date from days since 1970-01-01 and back (Howard Hinnant's algorithms): no time zone may enter, for the text is
// local time already.
std::int64_t days_from_civil(std::int64_t y, unsigned m, unsigned d) {
    y -= m <= 2;
    const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
    const auto yoe = static_cast<unsigned>(y - era * 400);
    const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return era * 146097 + static_cast<std::int64_t>(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}
std::string civil(std::int64_t days) {
    days += 719468;
    const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const auto doe = static_cast<unsigned>(days - era * 146097);
    const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    const unsigned month = mp < 10 ? mp + 3 : mp - 9;
    return fmt::format("{:04}-{:02}-{:02}", static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2 ? 1 : 0), month,
                       doy - (153 * mp + 2) / 5 + 1);
}

// start_time (ISO 8601 local) plus seconds; empty when start_time is not such a text.
std::string later(const std::string& start_time, double s) {
    long long year = 0;
    unsigned month = 0, day = 0, hour = 0, minute = 0;
    double second = 0;
    if (std::sscanf(start_time.c_str(), "%lld-%u-%uT%u:%u:%lf", &year, &month, &day, &hour, &minute, &second) != 6)
        return {};
    if (month < 1 || month > 12 || day < 1 || day > 31) return {};
    const std::int64_t of_day_us = static_cast<std::int64_t>((hour * 3600.0 + minute * 60.0 + second + s) * 1e6 + 0.5);
    constexpr std::int64_t kDay = 86'400'000'000;
    const std::int64_t shift = of_day_us >= 0 ? of_day_us / kDay : -((-of_day_us + kDay - 1) / kDay),
                       us = of_day_us - shift * kDay;
    return civil(days_from_civil(year, month, day) + shift) + fmt::format("T{:02}:{:02}:{:02}.{:06}",
                                                                          us / 3'600'000'000, us / 60'000'000 % 60,
                                                                          us / 1'000'000 % 60, us % 1'000'000);
}

Json span(const RunResult& r, double start_s, double end_s) {
    Json json;
    json["start"] = later(r.start_time, start_s);
    json["end"] = later(r.start_time, end_s);
    json["duration"] = fmt::format("{:.2f}", end_s - start_s);
    return json;
}

} // namespace

std::string render_mlperf_epochs(const RunResult& r, const RenderOptions&) {
    Json all = Json::object();
    for (const EpochResult& epoch : r.epochs) {
        const std::string key = std::to_string(epoch.index + 1);
        if (epoch.evaluation) {
            all[key]["eval"] = span(r, epoch.start_s, epoch.end_s);
            continue;
        }
        Json entry = span(r, epoch.start_s, epoch.end_s);
        for (const BlockResult& block : epoch.blocks)
            entry["block" + std::to_string(block.index + 1)] = span(r, block.start_s, block.end_s);
        int number = 0;
        for (const CheckpointResult& c : r.checkpoints)
            if (c.epoch_index == epoch.index)
                entry["ckpt" + std::to_string(++number)] = span(r, c.start_s, c.start_s + c.duration_s);
        if (all.contains(key)) entry["eval"] = all[key]["eval"];
        all[key] = entry;
    }
    // The reference tool counts checkpoints without training as blocks of one epoch.
    if (r.kind == "checkpoint" && !r.checkpoints.empty()) {
        const CheckpointResult& last = r.checkpoints.back();
        Json entry = span(r, r.checkpoints.front().start_s, last.start_s + last.duration_s);
        int saved = 0, loaded = 0;
        for (const CheckpointResult& c : r.checkpoints)
            entry[c.kind == "write" ? "save_ckpt" + std::to_string(++saved) : "load_ckpt" + std::to_string(++loaded)] =
                span(r, c.start_s, c.start_s + c.duration_s);
        all["1"] = entry;
    }
    return all.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::reporters
