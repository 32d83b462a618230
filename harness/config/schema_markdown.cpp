// docs/configuration.md, made from the rows, so that it cannot say something else than the parser does.
#include "harness/config/schema.hpp"

#include <fmt/format.h>
#include <map>

namespace feedbench::config {

namespace {

constexpr std::string_view kHead = R"(# Configuration: every key

<!-- Made from harness/config/schema_*.cpp; a unit test compares it. Change the rows, not this page. -->

A workload is a YAML file with the layout of the DLIO benchmark and MLPerf Storage; their files are read unmodified, bare or below
a top-level `workload:`. A workload is given as a name (`unet3d_h100`) or as a path. Names are looked up in
`$FEEDBENCH_CONFIGS`, in `configs/workloads` beside the binary (`../../configs/workloads`, `../share/feedbench/configs/workloads`)
and in the source tree.

**Overrides.** `-p section.key=value`, or as hydra spells it `++workload.section.key=value`, `+workload.section.key=value`,
`workload.section.key=value`. The value is YAML: `-p train.computation_time='{mean: 0.3, stdev: 0.1, type: normal}'`. A file is
read first, then hydra's spellings, then `-p`, each in order; the last one decides.

**Nothing is ignored in silence.** A key that is not in these tables is an error with its line and the nearest known key, and so
is a key that is said twice, a wrong type, or a number out of its range. Keys that are accepted without effect are listed as such
here, and in the log of a run. `--dry-run` prints every value with its origin; a run writes the same as `config.yaml`.

**Numbers.** `1e6` is a number. Sizes in bytes may have a suffix: kB, MB, GB, TB (10^3, 10^6, ...) or KiB, MiB, GiB, TiB (2^10,
2^20, ...). Booleans are true, false, yes, no, on, off in any case.

**Times** are seconds, or a distribution that every think time is drawn from, with numpy's meaning of the parameters:

| type | parameters | a draw |
|---|---|---|
| (none) | mean | the mean itself |
| normal (also when only stdev is given) | mean, stdev | a draw below zero is mirrored |
| uniform | min, max; or mean, stdev | from min to max |
| gamma | shape, scale; or mean, stdev | mean = shape x scale, variance = shape x scale^2 |
| exponential | scale; or mean | scale is the mean |
| poisson | lam; or mean | whole seconds, lam on average |

**Other spellings.** The section `data_reader` is `reader`. `model: unet3d` is `model.name`.
)";

std::string section_of(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

std::string cell(std::string_view text) {
    std::string result;
    for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
}

std::string type_text(const Key& key) {
    std::string text;
    switch (key.type) {
    case KeyType::choice: {
        for (const char c : key.choices) text += c == '|' ? std::string(", ") : std::string(1, c);
        return text;
    }
    default:
        text = expectation(key);
    }
    if (key.type == KeyType::time) return "time";
    if (!key.unit.empty() && key.type == KeyType::integer && key.unit != "bytes") text += fmt::format("; {}", key.unit);
    return text;
}

std::string meaning(const Key& key) {
    if (!key.alias_of.empty()) return fmt::format("The same as `{}`.", key.alias_of);
    std::string text(key.help);
    if (key.effect == Effect::none) text += fmt::format(" **Without effect:** {}.", key.why);
    if (key.effect == Effect::refused) text += fmt::format(" **Refused:** {}.", key.why);
    if (!key.also_known.empty()) {
        std::string names;
        for (const char c : key.also_known) names += c == '|' ? std::string(", ") : std::string(1, c);
        text += fmt::format(" Known to files, but refused when they run: {}.", names);
    }
    return text;
}

std::string default_text(const Key& key) {
    if (!key.alias_of.empty()) return "";
    if (key.name == "reader.data_loader") return "follows framework";
    return key.default_value.empty() ? "not set" : fmt::format("`{}`", key.default_value);
}

} // namespace

std::string schema_markdown() {
    std::string text(kHead), section;
    for (const Key& key : schema()) {
        if (const std::string next = section_of(key.name); next != section) {
            section = next;
            text += fmt::format("\n## {}\n\n| key | value | default | meaning |\n|---|---|---|---|\n", section);
        }
        const Key& shown = canonical(key);
        text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.alias_of.empty() ? cell(type_text(shown)) : "",
                            cell(default_text(key)), cell(meaning(key)));
    }
    return text;
}

} // namespace feedbench::config
