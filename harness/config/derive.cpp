#include "harness/config/derive.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace feedbench::config {

namespace {

class Derivation {
  public:
    Derivation(Workload& workload, const Assignments& said) : w_(workload), said_(said) {}

    Expected<ComputedOrigins> run() {
        name_accelerator();
        follow_framework();
        for (auto step :
             {&Derivation::times, &Derivation::record, &Derivation::columns, &Derivation::layout, &Derivation::chunks,
              &Derivation::workflow, &Derivation::loader, &Derivation::checkpoint, &Derivation::parallelism})
            if (auto status = (this->*step)(); !status) return status.error();
        return std::move(origins_);
    }

  private:
    void computed(const std::string& key, const std::string& why) { origins_[key] = "computed: " + why; }
    // The error is at the first of the keys that was said, else at the file.
    Error wrong(std::initializer_list<std::string_view> keys, std::string message) const {
        for (const auto key : keys)
            if (const Assignment* assignment = said_.find(key))
                return config_error(std::move(message), assignment->place);
        return config_error(std::move(message), w_.source);
    }

    void name_accelerator() {
        if (said_.is_set("feedbench.accelerator")) return;
        w_.accelerator = accelerator_in(w_.name);
        if (!w_.accelerator.empty()) computed("feedbench.accelerator", "from the name");
    }

    void follow_framework() {
        const bool has_loader = said_.is_set("reader.data_loader");
        if (!said_.is_set("framework") && has_loader && w_.reader.data_loader != "native") {
            w_.framework = w_.reader.data_loader;
            computed("framework", "follows reader.data_loader");
        }
        if (!has_loader) {
            w_.reader.data_loader = w_.framework;
            computed("reader.data_loader", "follows framework");
        }
    }

    Status times() {
        struct Pair {
            TimeDistribution& time;
            const char* key;
            const char* part;
        };
        for (auto [time, key, part] :
             {Pair{w_.train.computation_time, "train.computation_time", "train.computation_time_stdev"},
              Pair{w_.evaluation.eval_time, "evaluation.eval_time", "evaluation.eval_time_stdev"},
              Pair{w_.reader.preprocess_time, "reader.preprocess_time", "reader.preprocess_time_stdev"}}) {
            if (!said_.is_set(part)) continue;
            using Kind = TimeDistribution::Kind;
            if (time.kind != Kind::constant && time.kind != Kind::normal)
                return wrong({part}, fmt::format("{} goes with a normal distribution only; {} is {}", part, key,
                                                 yaml_text(time)));
            time.kind = Kind::normal;
            time.stdev_s = said_.find(part)->value.number;
            const Assignment* mean = said_.find(key);
            origins_[key] = (mean ? mean->origin + ", " : "") + said_.find(part)->origin;
        }
        return {};
    }

    Status record() {
        auto& d = w_.dataset;
        const std::uint32_t bytes = element_bytes(d.record_element_type);
        if (said_.is_set("dataset.record_element_bytes") && d.record_element_bytes != bytes)
            return wrong({"dataset.record_element_bytes"},
                         fmt::format("dataset.record_element_bytes is {}; dataset.record_element_type {} has {}",
                                     d.record_element_bytes, d.record_element_type, bytes));
        if (d.record_element_bytes != bytes)
            computed("dataset.record_element_bytes", "follows dataset.record_element_type");
        d.record_element_bytes = bytes;
        if (!d.record_dims.empty()) {
            if (d.record_length_bytes_stdev > 0)
                return wrong({"dataset.record_length_bytes_stdev", "dataset.record_dims"},
                             "dataset.record_dims and record_length_bytes_stdev exclude each other; sizes vary with "
                             "record_length_bytes only");
            double product = bytes;
            for (const auto dim : d.record_dims) product *= static_cast<double>(dim);
            if (product > 0x1p53)
                return wrong({"dataset.record_dims"}, "dataset.record_dims make a sample of more than 8 PiB");
            if (d.record_dims.front() % d.num_dset_per_record != 0)
                return wrong({"dataset.hdf5.num_dset_per_record", "dataset.record_dims"},
                             fmt::format("dataset.record_dims begins with {}, which {} datasets a record do not divide",
                                         d.record_dims.front(), d.num_dset_per_record));
            if (d.record_length_bytes != product)
                computed("dataset.record_length_bytes", "follows dataset.record_dims");
            d.record_length_bytes = product;
        }
        if (d.num_samples_per_file_eval == 0) {
            d.num_samples_per_file_eval = d.num_samples_per_file;
            computed("dataset.num_samples_per_file_eval", "as in the training set");
        }
        for (const auto& [subfolders, files, key] :
             {std::tuple{d.num_subfolders_train, d.num_files_train, "dataset.num_subfolders_train"},
              std::tuple{d.num_subfolders_eval, d.num_files_eval, "dataset.num_subfolders_eval"}})
            if (subfolders > 1 && subfolders > files && said_.is_set(key) && files > 0)
                return wrong({key}, fmt::format("{} is {} for {} files; expected no more folders than files", key,
                                                subfolders, files));
        return {};
    }

    // What training is fed with are the columns that it reads (case T12).
    Status columns() {
        auto& d = w_.dataset;
        if (d.parquet_columns.empty()) return {};
        if (std::string why = why_no_table(d); !why.empty()) return wrong({"dataset.parquet.columns"}, std::move(why));
        computed("dataset.record_length_bytes", "the columns of dataset.parquet.columns that are read");
        d.record_length_bytes = 0;
        for (const auto& c : d.parquet_columns) d.record_length_bytes += c.is_read ? double(row_bytes(c)) : 0;
        return {};
    }

    // One file holds what num_files files would have held.
    Status layout() {
        auto& d = w_.dataset;
        if (d.layout != "shared") return {};
        if (d.format != "hdf5")
            return wrong({"dataset.layout", "dataset.format"},
                         fmt::format("dataset.layout is shared, which {} cannot: expected dataset.format hdf5, whose "
                                     "samples can be reached one by one",
                                     d.format));
        if (w_.reader.data_loader == "tensorflow")
            return wrong({"dataset.layout", "reader.data_loader"},
                         "dataset.layout is shared, and the tensorflow loader shares out files, of which there is one; "
                         "expected reader.data_loader pytorch or native");
        if (d.record_length_bytes_stdev > 0)
            return wrong({"dataset.record_length_bytes_stdev", "dataset.layout"},
                         fmt::format("dataset.record_length_bytes_stdev is {}, but samples of one file have one size; "
                                     "expected 0 with dataset.layout shared",
                                     d.record_length_bytes_stdev));
        for (const auto& [folders, key] : {std::pair{d.num_subfolders_train, "dataset.num_subfolders_train"},
                                           std::pair{d.num_subfolders_eval, "dataset.num_subfolders_eval"}})
            if (folders > 1)
                return wrong({key, "dataset.layout"},
                             fmt::format("{} is {}, but dataset.layout shared makes one file", key, folders));
        for (auto [files, samples, key] :
             {std::tuple{&d.num_files_train, &d.num_samples_per_file, "dataset.num_samples_per_file"},
              std::tuple{&d.num_files_eval, &d.num_samples_per_file_eval, "dataset.num_samples_per_file_eval"}}) {
            if (*files <= 1) continue;
            if (*files > std::numeric_limits<std::uint32_t>::max() / std::max(*samples, 1U))
                return wrong({"dataset.layout"},
                             fmt::format("{} files of {} samples are more than one file is counted in (4294967295)",
                                         *files, *samples));
            *samples *= static_cast<std::uint32_t>(*files);
            *files = 1;
            computed(key, "all in one file (dataset.layout shared)");
        }
        return {};
    }

    Status chunks() {
        const Assignment* enable = said_.find("dataset.enable_chunking");
        if (enable == nullptr || !enable->value.flag || said_.is_set("dataset.hdf5.chunk_dims")) return {};
        const double size = said_.is_set("dataset.chunk_size")
                                ? static_cast<double>(said_.find("dataset.chunk_size")->value.integer)
                                : 0;
        if (size < 1)
            return wrong({"dataset.chunk_size", "dataset.enable_chunking"},
                         "dataset.enable_chunking is on, but dataset.chunk_size is 0; expected at least 1");
        // DLIO: one sample, and a square of at most the sample's dimension.
        const auto dimension = static_cast<std::uint64_t>(std::sqrt(w_.dataset.record_length_bytes));
        const std::uint64_t side =
            std::min(static_cast<std::uint64_t>(std::ceil(std::sqrt(size))), std::max<std::uint64_t>(1, dimension));
        w_.dataset.chunk_dims = {1, side, side};
        computed("dataset.hdf5.chunk_dims", "from dataset.enable_chunking and chunk_size");
        return {};
    }

    Status workflow() {
        auto& flow = w_.workflow;
        if (flow.evaluation && !flow.train) { // as in DLIO: evaluation lives inside training
            flow.evaluation = false;
            computed("workflow.evaluation", "off, because workflow.train is");
        }
        if (!flow.generate_data && !flow.train && !flow.checkpoint)
            return wrong({"workflow.train", "workflow.generate_data"},
                         "nothing to do: workflow.generate_data, train and checkpoint are all off");
        if (flow.evaluation && w_.dataset.num_files_eval == 0)
            return wrong({"workflow.evaluation"}, "workflow.evaluation is on, but dataset.num_files_eval is 0");
        return {};
    }

    Status loader() {
        if (w_.reader.read_threads == 0 && w_.reader.data_loader != "pytorch")
            return wrong({"reader.read_threads"},
                         fmt::format("reader.read_threads is 0, which only the pytorch loader allows; the loader is {}",
                                     w_.reader.data_loader));
        return {};
    }

    Status checkpoint() {
        const auto& c = w_.checkpoint;
        if (c.num_checkpoints_write > 0 && c.num_checkpoints_read > c.num_checkpoints_write)
            return wrong({"checkpoint.num_checkpoints_read"},
                         fmt::format("checkpoint.num_checkpoints_read is {}, but only {} are written",
                                     c.num_checkpoints_read, c.num_checkpoints_write));
        if (auto status = shape(); !status) return status.error();
        if (!w_.checkpoint_only()) return {};
        const auto& m = w_.model;
        if (c.asynchronous)
            return wrong({"checkpoint.asynchronous"},
                         "checkpoint.asynchronous is on, but there is no training to go on (workflow.train is false)");
        if (m.num_layers == 0 && m.layer_parameters.empty() && m.optimization_groups.empty() &&
            !said_.is_set("model.model_size_bytes"))
            return wrong({"workflow.checkpoint", "workflow.train"},
                         "a checkpoint without training needs model.num_layers and model.transformer, "
                         "model.layer_parameters, or "
                         "model.model_size_bytes, to know its size");
        return {};
    }

    // Divisions truncate, as in the reference tool: only what leaves nothing to write is no model.
    Status shape() {
        const auto& m = w_.model;
        if (m.num_layers == 0 && !m.layer_parameters.empty())
            return wrong({"model.layer_parameters"},
                         "model.layer_parameters says what a layer holds, but model.num_layers is 0");
        if (m.num_layers == 0 || !m.layer_parameters.empty()) return {};
        if (m.num_attention_heads > m.hidden_size)
            return wrong({"model.transformer.num_attention_heads", "model.transformer.hidden_size"},
                         fmt::format("model.transformer.num_attention_heads is {}, more than the {} values of "
                                     "hidden_size that they share",
                                     m.num_attention_heads, m.hidden_size));
        if (m.parallelism_tensor > m.hidden_size)
            return wrong({"model.parallelism.tensor"},
                         fmt::format("model.parallelism.tensor is {}, more than the {} values of "
                                     "model.transformer.hidden_size",
                                     m.parallelism_tensor, m.hidden_size));
        return {};
    }

    Status parallelism() {
        const auto& m = w_.model;
        if (m.num_layers > 0 && m.num_layers < m.parallelism_pipeline)
            return wrong({"model.parallelism.pipeline", "model.num_layers"},
                         fmt::format("model.parallelism.pipeline is {}, but there are only {} layers",
                                     m.parallelism_pipeline, m.num_layers));
        if (m.zero_stage == 3 && m.parallelism_pipeline > 1)
            return wrong({"model.parallelism.zero_stage", "model.parallelism.pipeline"},
                         "model.parallelism.zero_stage 3 and pipeline parallelism exclude each other");
        const bool subset = w_.checkpoint.mode == "subset";
        if (subset && m.parallelism_data < 1)
            return wrong({"checkpoint.mode"},
                         "checkpoint.mode subset needs model.parallelism.data, the size of the whole job");
        if (!subset && m.parallelism_data > 0)
            return wrong({"model.parallelism.data"}, "model.parallelism.data goes with checkpoint.mode subset only; "
                                                     "otherwise it follows from the rank count");
        return {};
    }

    Workload& w_;
    const Assignments& said_;
    ComputedOrigins origins_;
};

} // namespace

Expected<ComputedOrigins> derive(Workload& workload, const Assignments& said) {
    return Derivation(workload, said).run();
}

std::uint32_t element_bytes(std::string_view type) {
    if (type == "uint8" || type == "int8" || type == "bool") return 1;
    if (type.ends_with("16")) return 2;
    if (type.ends_with("32")) return 4;
    return type.ends_with("64") ? 8 : 0;
}

std::string accelerator_in(std::string_view name) {
    constexpr std::string_view kKnown[] = {"a100", "h100", "b200", "v100", "mi355"};
    std::string word;
    for (std::size_t i = 0; i <= name.size(); ++i) {
        const char c = i < name.size() ? static_cast<char>(std::tolower(static_cast<unsigned char>(name[i]))) : '_';
        if (std::isalnum(static_cast<unsigned char>(c))) {
            word += c;
            continue;
        }
        if (std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown)) return word;
        word.clear();
    }
    return {};
}

} // namespace feedbench::config
