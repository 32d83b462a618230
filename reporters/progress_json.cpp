// Live progress for a machine: one JSON object a line. Its schema: reporters/schema/progress.schema.json.
#include <nlohmann/json.hpp>

#include "reporters/live_rate.hpp"
#include "reporters/progress.hpp"

namespace feedbench::reporters {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProgressSchemaVersion = 1;

template <class T>
Json maybe(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
Json unless_negative(double value) { return value >= 0 ? Json(value) : Json(nullptr); }

class ProgressJson final : public ProgressView {
  public:
    explicit ProgressJson(ProgressOutput output) : output_(std::move(output)) {}

    void on_slice(const Slice& slice) override { rate_.on_slice(slice); }

    void on_progress(const Progress& p) override {
        rate_.on_progress(p);
        if (!interval_.due(p, output_.now_s ? output_.now_s() : p.elapsed_s)) return;
        Json json = event("progress");
        json["phase"] = p.phase;
        json["epoch_index"] = p.epoch_count > 0 ? Json(p.epoch_index) : Json(nullptr);
        json["epoch_count"] = p.epoch_count > 0 ? Json(p.epoch_count) : Json(nullptr);
        json["done"] = p.done;
        json["total"] = p.total > 0 ? Json(p.total) : Json(nullptr);
        json["unit"] = p.unit;
        json["elapsed_s"] = p.elapsed_s;
        json["eta_s"] = unless_negative(p.eta_s);
        json["au_so_far_percentage"] = unless_negative(p.au_so_far_percentage);
        json["MB_per_second_now"] = p.MB_per_second_now;
        json["MB_per_second_mean"] = maybe(rate_.mean_MB_per_second());
        json["MB_per_second_min"] = maybe(rate_.min_MB_per_second());
        json["stalled_accelerators"] = p.stalled_accelerators;
        json["in_flight_reads"] = maybe(rate_.in_flight_reads());
        json["cpu_cores"] = maybe(rate_.cpu_cores());
        write(json);
    }

    void on_epoch(const EpochResult& epoch) override {
        rate_.restart();
        Json json = event("epoch");
        json["epoch_index"] = epoch.index;
        json["evaluation"] = epoch.evaluation;
        json["start_s"] = epoch.start_s;
        json["end_s"] = epoch.end_s;
        json["step_count"] = epoch.step_count;
        json["sample_count"] = epoch.sample_count;
        json["bytes_delivered"] = epoch.bytes_delivered;
        json["samples_proved"] = epoch.samples_proved;
        Json metrics = Json::array();
        for (const Metric& metric : epoch.metrics)
            metrics.push_back({{"key", metric.key},
                               {"unit", metric.unit},
                               {"value", maybe(metric.value)},
                               {"reason", metric.reason}});
        json["metrics"] = std::move(metrics);
        write(json);
    }

    void on_message(std::string_view message) override {
        Json json = event("message");
        json["text"] = message;
        write(json);
    }

    void finish(const ProgressEnd& end) override {
        if (std::exchange(finished_, true)) return;
        Json json = event("end");
        json["status"] = end.status;
        json["valid"] = end.valid;
        json["verdict"] = end.verdict;
        json["results_folder"] = end.results_folder;
        json["message"] = end.message;
        write(json);
    }

  private:
    static Json event(std::string_view name) {
        Json json;
        json["progress_schema_version"] = kProgressSchemaVersion;
        json["event"] = name;
        return json;
    }
    void write(const Json& json) const {
        output_.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }

    ProgressOutput output_;
    ShowInterval interval_{1, true};
    LiveRate rate_;
    bool finished_ = false;
};

} // namespace

std::unique_ptr<ProgressView> make_progress_json(ProgressOutput output) {
    return std::make_unique<ProgressJson>(std::move(output));
}

} // namespace feedbench::reporters
