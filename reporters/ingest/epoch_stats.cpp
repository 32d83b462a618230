#include "reporters/ingest/epoch_stats.hpp"

#include <cstdio>
#include <string>

#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

// Days since 1970-01-01 of a date of the Gregorian calendar.
long long days_of(int year, int month, int day) {
    const int y = year - (month <= 2 ? 1 : 0);
    const int era = (y >= 0 ? y : y - 399) / 400;
    const int year_of_era = y - era * 400;
    const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return static_cast<long long>(era) * 146097 + day_of_era - 719468;
}

// The times are finer than the duration, which has two decimals.
std::optional<double> length_of(const json& part) {
    const auto start = seconds_of_time(text_at(part, "start")), end = seconds_of_time(text_at(part, "end"));
    if (start && end && *end > *start) return *end - *start;
    return number_at(part, "duration");
}

} // namespace

std::optional<double> seconds_of_time(std::string_view text) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
    double second = 0;
    const std::string copy(text.substr(0, 64));
    if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%*1[T ]%2d:%2d:%lf%n", &year, &month, &day, &hour, &minute, &second,
                    &used) != 6)
        return {};
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 24 || minute < 0 || minute > 59 ||
        !(second >= 0 && second < 61))
        return {};
    return static_cast<double>(days_of(year, month, day)) * 86400 + hour * 3600 + minute * 60 + second;
}

void read_epoch_stats(const std::filesystem::path& path, IngestedRun& run, std::vector<Problem>& problems) {
    auto file = read_json(path);
    if (!file) {
        problems.push_back({path.string(), file.error().message, "the epochs' times in JSON", true});
        return;
    }
    for (std::size_t i = 0; i < run.epochs.size(); ++i) {
        const json& epoch = member(file->value, std::to_string(i + 1).c_str());
        if (!epoch.is_object()) continue;
        run.epochs[i].wall_s = length_of(epoch);
        double block_s = 0;
        bool whole = true;
        for (const auto& [name, part] : epoch.items()) {
            if (!name.starts_with("block")) continue;
            const auto length = length_of(part);
            whole = whole && length.has_value();
            block_s += length.value_or(0);
        }
        if (whole && block_s > 0) run.epochs[i].block_s = block_s;
    }
}

} // namespace feedbench::ingest
