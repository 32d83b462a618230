// Rows of the sections that say what runs, where, and how it is judged: feedbench, framework, workflow, storage,
// output, metric, profiling.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

namespace {

constexpr Binding kBar = {
    .set =
        [](Workload& w, const Value& v) {
            w.metric.au = v.number;
            w.metric.au_is_set = true;
        },
    .get = [](const Workload& w) { return w.metric.au_is_set ? yaml_text(w.metric.au) : std::string("null"); }};
constexpr Binding kFirstStep = {
    .set = [](Workload& w, const Value& v) { w.metric.exclude_first_step = v.integer == 1; },
    .get = [](const Workload& w) { return std::string(w.metric.exclude_first_step ? "1" : "0"); }};
constexpr Binding kLastStep = {
    .set = [](Workload& w, const Value& v) { w.metric.exclude_last_step = v.integer == 1; },
    .get = [](const Workload& w) { return std::string(w.metric.exclude_last_step ? "1" : "0"); }};

constexpr std::string_view kRulesSay = "AU leaves out what the rules' formula does: the first step, and no other";

constexpr Binding kOptions = {.set = [](Workload& w, const Value& v) { w.storage.storage_options = v.entries; },
                              .get =
                                  [](const Workload& w) {
                                      auto options = w.storage.storage_options;
                                      std::erase_if(options,
                                                    [](const auto& option) { return is_secret(option.first); });
                                      return yaml_text(options);
                                  }};

} // namespace

std::vector<Key> run_rows() {
    using W = Workload;
    using F = WorkflowSection;
    return {
        text("feedbench.name", "", field_of<&W::name>,
             "Ours: name of the workload; by default the file's name without ending."),
        text("feedbench.accelerator", "", field_of<&W::accelerator>,
             "Ours: emulated accelerator; by default what the name says (a100, h100, b200, v100, mi355)."),

        choice("framework", "pytorch|tensorflow", "tensorflow", field_of<&W::framework>,
               "Framework that is emulated; reader.data_loader follows it, and it follows reader.data_loader where "
               "only that is given."),

        boolean("workflow.generate_data", "false", field<&W::workflow, &F::generate_data>,
                "Whether the dataset is to be generated first."),
        boolean("workflow.train", "true", field<&W::workflow, &F::train>,
                "Whether to train: read, think, meet, epoch after epoch."),
        boolean("workflow.evaluation", "false", field<&W::workflow, &F::evaluation>,
                "Whether epochs of evaluation over valid/ are run; off when workflow.train is."),
        boolean(
            "workflow.checkpoint", "false", field<&W::workflow, &F::checkpoint>,
            "Whether checkpoints are written inside training, or, without training, written and read by themselves."),
        without_effect(boolean("workflow.profiling", "false", field<&W::workflow, &F::profiling>,
                               "Whether a profiler runs beside."),
                       "waits, latencies and bytes are always measured"),
        without_effect(boolean("workflow.debug", "false", field<&W::workflow, &F::debug>, "Whether to log more."),
                       "the log's detail is chosen on the command line"),

        choice("storage.storage_type", "local_fs|parallel_fs|s3", "local_fs",
               field<&W::storage, &StorageSection::storage_type>,
               "Kind of storage where dataset.data_folder does not say it as a URI (s3://, nfs://, null:, model:)."),
        text("storage.storage_root", "./", field<&W::storage, &StorageSection::storage_root>,
             "Folder or bucket below which a relative dataset.data_folder lies."),
        [] {
            Key key = make_key(
                "storage.storage_options", KeyType::text_map, "{}", kOptions,
                "Options of the storage (endpoint_url, region, access_key_id, ...); what is called secret is never "
                "written into results.");
            key.nullable = true;
            return key;
        }(),

        without_effect(text("output.folder", "", field<&W::output, &OutputSection::folder>, "Folder of results."),
                       "results go where --results-dir says"),
        without_effect(
            text("output.log_file", "dlio.log", field<&W::output, &OutputSection::log_file>, "Name of the log."),
            "the log is log.txt beside the results"),
        without_effect(integer("output.metric.exclude_start_steps", "steps", "1", between(0, 1), kFirstStep,
                               "Steps at the start of a block that AU leaves out."),
                       kRulesSay),
        without_effect(integer("output.metric.exclude_end_steps", "steps", "0", between(0, 1), kLastStep,
                               "Steps at the end of a block that AU leaves out."),
                       kRulesSay),

        nullable(number("metric.au", "fraction", "", between(0, 1), kBar,
                        "Accelerator utilization to reach, 0.9 for 90 %; without it nothing is failed.")),
        choice(
            "metric.instrumentation", "full|none", "full", field<&W::metric, &MetricSection::instrumentation>,
            "Ours: none measures AU, bytes and CPU only: no latency histograms, no time of the loader, no one-second "
            "slices, no cache evidence. To show what they cost; such a run cannot be judged."),
        alias("metric.exclude_start_steps", "output.metric.exclude_start_steps"),
        alias("metric.exclude_end_steps", "output.metric.exclude_end_steps"),

        without_effect(choice("profiling.profiler", "none|iostat|darshan|tensorboard|dftracer|default", "none", nowhere,
                              "Profiler that runs beside."),
                       "the harness measures by itself"),
        without_effect(
            list("profiling.iostat_devices", KeyType::text_list, {}, nowhere, "Devices that iostat watches."),
            "the harness measures by itself"),
    };
}

} // namespace feedbench::config
