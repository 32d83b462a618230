#include "reporters/ingest/rank_output.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/metrics/editions.hpp"
#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

// Keeps of <epoch> / <what> / <block> what the formulas need; everything else passes by.
class RankOutputSax final : public json::json_sax_t {
  public:
    RankOutput output;

    bool null() override { return take({}); }
    bool boolean(bool) override { return take({}); }
    bool number_integer(number_integer_t value) override { return take(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return take(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return take(value); }
    bool string(string_t& value) override { return take(number(json(value))); }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override {
        ++depth_;
        return true;
    }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool key(string_t& name) override {
        if (depth_ == 1) epoch_ = epoch_of(name);
        if (depth_ == 2) what_ = what_of(name);
        if (depth_ != 3) return true;
        block_ = nullptr;
        if (epoch_ > 0 && what_ != What::other && name.starts_with("block")) block_ = &output.epochs[epoch_][name];
        return true;
    }
    bool start_array(std::size_t) override {
        ++depth_;
        index_ = 0;
        return true;
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

  private:
    enum class What { other, proc, compute, throughput };

    static unsigned epoch_of(const std::string& name) {
        unsigned epoch = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), epoch);
        return error == std::errc() && end == name.data() + name.size() ? epoch : 0;
    }
    static What what_of(const std::string& name) {
        return name == "proc"         ? What::proc
               : name == "compute"    ? What::compute
               : name == "throughput" ? What::throughput
                                      : What::other;
    }
    bool take(std::optional<double> value) {
        if (block_ == nullptr) return true;
        if (depth_ == 3 && what_ == What::throughput) block_->samples_per_second = value;
        if (depth_ != 4) return true; // an element of an array
        const double s = value.value_or(0);
        if (what_ == What::proc && index_ == 0) block_->first_step_s = s;
        if (what_ == What::compute) {
            if (index_ == 0) block_->compute_s_first = s;
            block_->compute_s += s;
            block_->step_count += 1;
        }
        ++index_;
        return true;
    }

    int depth_ = 0;
    unsigned epoch_ = 0;
    What what_ = What::other;
    RankBlock* block_ = nullptr;
    std::size_t index_ = 0;
};

std::optional<double> mean_of(const std::vector<double>& values) {
    if (values.empty()) return {};
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

} // namespace

Expected<RankOutput> read_rank_output(const std::filesystem::path& path) {
    auto text = read_text(path, std::uintmax_t{1} << 30);
    if (!text) return text.error();
    RankOutputSax sax;
    if (json::sax_parse(*text, &sax)) return std::move(sax.output);
    // The parser's reason, or what a repair makes of it.
    if (text->size() > (std::size_t{64} << 20)) return format_error(path.string(), "not valid JSON");
    auto repaired = parse_json(*text, path.string());
    if (!repaired) return repaired.error();
    repair_json(*text);
    RankOutputSax again;
    if (!json::sax_parse(*text, &again)) return format_error(path.string(), "not valid JSON");
    return std::move(again.output);
}

std::optional<double> mean_think_time_s(std::span<const RankOutput> ranks) {
    double compute_s = 0, step_count = 0;
    for (const RankOutput& rank : ranks)
        for (const auto& [epoch, blocks] : rank.epochs)
            for (const auto& [name, block] : blocks) {
                compute_s += block.compute_s;
                step_count += block.step_count;
            }
    return step_count > 0 ? std::optional(compute_s / step_count) : std::nullopt;
}

std::optional<RankFigures> combine_ranks(std::span<const RankOutput> ranks, double batch_size) {
    const metrics::Formula& dlio = *metrics::find_formula("dlio");
    std::map<unsigned, std::vector<metrics::AcceleratorBlock>> epochs;
    double compute_s = 0, block_s = 0;
    std::uint32_t rank_index = 0;
    for (const RankOutput& rank : ranks) {
        for (const auto& [epoch, blocks] : rank.epochs) {
            for (const auto& [name, block] : blocks) {
                if (block.step_count < 1 || !block.samples_per_second || *block.samples_per_second <= 0) continue;
                metrics::BlockInput input;
                input.step_count = block.step_count;
                input.batch_size = batch_size;
                input.block_s = block.step_count * batch_size / *block.samples_per_second;
                input.first_step_s = block.first_step_s;
                input.compute_window_s = block.compute_s - block.compute_s_first;
                epochs[epoch].push_back({rank_index, input});
                compute_s += block.compute_s;
                block_s += input.block_s;
            }
        }
        ++rank_index;
    }
    if (epochs.empty()) return {};
    RankFigures figures;
    figures.rank_count = rank_index;
    std::vector<double> au, rate;
    for (const auto& [epoch, blocks] : epochs) {
        const metrics::Figures whole = metrics::combine(dlio, blocks);
        if (whole.au_percentage) au.push_back(*whole.au_percentage.number);
        if (whole.samples_per_second) rate.push_back(*whole.samples_per_second.number);
    }
    // A mean over only some epochs would be a wrong figure.
    if (au.size() == epochs.size()) figures.au_percentage = mean_of(au);
    if (rate.size() == epochs.size()) figures.samples_per_second = mean_of(rate);
    if (block_s > 0) figures.effective_utilization_percentage = 100 * compute_s / block_s;
    figures.think_time_s = mean_think_time_s(ranks);
    return figures;
}

} // namespace feedbench::ingest
