#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace feedbench;
using namespace feedbench::config;

namespace {

const std::string kBase = "framework: pytorch\ntrain:\n  epochs: 2\n  computation_time: 0.3\ndataset:\n  format: npz\n";

Workload good(const std::string& yaml, const LoadRequest& overrides = {}) {
    auto w = load_workload_text(yaml, "dir/sample_h100.yaml", overrides);
    INFO((w ? "" : w.error().describe()));
    REQUIRE(w);
    return *w;
}

std::string bad(const std::string& yaml, const LoadRequest& overrides = {}) {
    const auto w = load_workload_text(yaml, "dir/sample.yaml", overrides);
    INFO(yaml);
    REQUIRE_FALSE(w);
    CHECK(w.error().kind == ErrorKind::config);
    return w.error().describe();
}

} // namespace

TEST_CASE("defaults are DLIO's, and what follows from other keys is computed") {
    const Workload w = good("model:\n  name: x\n");
    CHECK(w.framework == "tensorflow");
    CHECK(w.reader.data_loader == "tensorflow");
    CHECK(w.dataset.format == "tfrecord");
    CHECK(w.reader.batch_size_eval == 1);
    CHECK(w.reader.transfer_size == 262144);
    CHECK(w.workflow == WorkflowSection{});
    CHECK(w.train.computation_time.is_zero());
    CHECK(w.accelerator == "h100");
    CHECK(good("framework: pytorch").reader.data_loader == "pytorch");
    CHECK(good("reader:\n  data_loader: pytorch").framework == "pytorch");
    CHECK(good("framework: pytorch\nreader:\n  data_loader: native").reader.data_loader == "native");
    CHECK(good("dataset:\n  num_samples_per_file: 7").dataset.num_samples_per_file_eval == 7);
}

TEST_CASE("other spellings are obeyed (S7)") {
    const Workload w =
        good("model:\n  model_size: 499153191\ndataset:\n  record_length: 2164832\n  record_length_stdev: 10\n"
             "checkpoint:\n  fsync: True\ndata_reader:\n  batch_size: 9\nmetric:\n  exclude_start_steps: 0\n");
    CHECK(w.model.model_size_bytes == 499153191);
    CHECK(w.dataset.record_length_bytes == 2164832);
    CHECK(w.dataset.record_length_bytes_stdev == 10);
    CHECK(w.checkpoint.fsync);
    CHECK(w.reader.batch_size == 9);
    CHECK_FALSE(w.metric.exclude_first_step);
    CHECK(good("model: unet3d\nframework: pytorch").model.name == "unet3d");
    CHECK(good("dataset:\n  num_dset_per_record: 2\n  chunk_dims: [1, 2]").dataset.num_dset_per_record == 2);
    CHECK(good("dataset:\n  hdf5:\n    chunk_dims: [1, 2]").dataset.chunk_dims == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a file may lie below workload:, as hydra dumps it") {
    const Workload w = good("workload:\n  train:\n    epochs: 3\nhydra:\n  run:\n    dir: x\n");
    CHECK(w.train.epochs == 3);
    CHECK(bad("workload:\n  train:\n    epochs: 3\ntrain:\n  epochs: 4\n")
              .find("sample.yaml:4: unknown key train beside workload") != std::string::npos);
}

TEST_CASE("what AU leaves out is the rules' business: keys that ask for something else say that they have no effect") {
    const Workload w = good("train:\n  epochs: 3\nmetric:\n  exclude_start_steps: 0\n  exclude_end_steps: 1\n");
    std::size_t said = 0;
    for (const ConfigValue& value : w.values)
        if (value.key.find("metric.exclude_") != std::string::npos)
            said += value.effect.find("accepted without effect") == 0;
    CHECK(said == 2);
}

TEST_CASE("an unknown key is an error with its line and the nearest key (S8)") {
    CHECK(bad("train:\n  epochs: 1\n  computaton_time: 0.3\n") ==
          "dir/sample.yaml:3: unknown key train.computaton_time; did you mean computation_time?");
    CHECK(bad("reader:\n  computation_time: 0.3\n") ==
          "dir/sample.yaml:2: unknown key reader.computation_time; did you mean train.computation_time?");
    CHECK(bad("trian:\n  epochs: 1\n") == "dir/sample.yaml:1: unknown key trian; did you mean train?");
    CHECK(bad("batch_size: 1\n") == "dir/sample.yaml:1: unknown key batch_size; did you mean reader.batch_size?");
    CHECK(bad("model:\n  parallelism:\n    tensr: 8\n") ==
          "dir/sample.yaml:3: unknown key model.parallelism.tensr; did you mean tensor?");
    CHECK(bad("reader:\n  zzzzqqqq: 1\n") ==
          "dir/sample.yaml:2: unknown key reader.zzzzqqqq; docs/configuration.md lists every key");
    CHECK(bad(kBase, {.params = {"train.computaton_time=0.3"}}) ==
          "-p train.computaton_time=0.3: unknown key train.computaton_time; did you mean computation_time?");
}

TEST_CASE("wrong types and values say what was found and what was expected") {
    const auto value = [](const std::string& key, const std::string& text) {
        return bad(kBase, {.params = {key + "=" + text}});
    };
    CHECK(value("reader.batch_size", "seven") ==
          "-p reader.batch_size=seven: reader.batch_size is 'seven'; expected a whole number of at least 1");
    CHECK(value("reader.batch_size", "0").find("is '0'; expected a whole number of at least 1") != std::string::npos);
    CHECK(value("reader.batch_size", "-3").find("is '-3'") != std::string::npos);
    CHECK(value("reader.batch_size", "1.5").find("is '1.5'") != std::string::npos);
    CHECK(value("reader.batch_size", "5000000000").find("expected a whole number of at least 1") != std::string::npos);
    CHECK(value("reader.batch_size", "[1]").find("is a list") != std::string::npos);
    CHECK(value("reader.batch_size", "{a: 1}").find("is a mapping") != std::string::npos);
    CHECK(value("reader.batch_size", "").find("is empty") != std::string::npos);
    CHECK(value("dataset.record_length_bytes", "-1").find("expected a number of bytes of at least 1") !=
          std::string::npos);
    CHECK(value("dataset.record_length_bytes", "nan").find("is 'nan'") != std::string::npos);
    CHECK(value("dataset.record_length_bytes", "0").find("is '0'") != std::string::npos);
    CHECK(value("dataset.num_files_train", "0").find("is '0'") != std::string::npos);
    CHECK(value("train.total_training_steps", "0").find("at least 1, or -1") != std::string::npos);
    CHECK(value("workflow.train", "maybe").find("is 'maybe'; expected true or false") != std::string::npos);
    CHECK(value("metric.au", "90").find("from 0 to 1") != std::string::npos);
    CHECK(value("reader.transfer_size", "4Q").find("is '4Q'; expected a whole number of bytes of at least 1") !=
          std::string::npos);
    CHECK(value("dataset.record_dims", "[3, 0]").find("holds '0'; expected a list of whole numbers of at least 1") !=
          std::string::npos);
    CHECK(value("dataset.format", "webdataset")
              .starts_with("-p dataset.format=webdataset: dataset.format is 'webdataset'; expected one of npz, npy, "));
    CHECK(value("reader.data_loader", "dali") ==
          "-p reader.data_loader=dali: reader.data_loader is 'dali'; expected one of pytorch, tensorflow, native");
    CHECK(value("reader.read_type", "memory").find("expected on_demand") != std::string::npos);
    CHECK(value("reader.reader_classname", "my.Reader").find("is refused: classes written in Python cannot run here") !=
          std::string::npos);
    CHECK(value("framework", "jax").find("expected one of pytorch, tensorflow") != std::string::npos);
    CHECK(value("train", "5").find("train is a section") != std::string::npos);
    CHECK(value("dataset.data_folder", "${oc.env:HOME}/x").find("interpolation is not resolved here") !=
          std::string::npos);
    CHECK(value("storage.storage_options", "5").find("is '5'; expected a mapping") != std::string::npos);
}

TEST_CASE("broken files are refused with their line") {
    CHECK(bad("a: [1\nb: 2\n").find("sample.yaml:2: not valid YAML") != std::string::npos);
    CHECK(bad("- a\n").find("holds a list; expected sections") != std::string::npos);
    CHECK(bad("just words").find("holds plain text") != std::string::npos);
    CHECK(bad("# nothing\n").find("holds nothing") != std::string::npos);
    CHECK(bad("train:\n  epochs: 1\n  epochs: 2\n") == "dir/sample.yaml:3: train.epochs is said twice");
    CHECK(bad("train:\n  epochs: 1\ntrain:\n  seed: 2\n").find("sample.yaml:3: train is said twice") !=
          std::string::npos);
    CHECK(bad("model:\n  model_size: 1\n  model_size_bytes: 2\n") ==
          "dir/sample.yaml:3: model.model_size_bytes is said twice, also as model.model_size");
    CHECK(bad("train: [1]\n").find("train is a section; expected keys below it, not a list") != std::string::npos);
    CHECK(bad("? [a]\n: 1\n").find("a key is not plain text") != std::string::npos);
    CHECK(bad("storage:\n  storage_options: &o\n    a: *o\n").find("nested more than 16 deep") != std::string::npos);
    CHECK(bad("train: &t\n  train: *t\n").find("unknown key train.train") != std::string::npos);
    CHECK(bad("workload: 5\n").find("workload is not a mapping") != std::string::npos);
}

TEST_CASE("overrides in every spelling, the last one decides") {
    for (const char* spelling :
         {"++workload.train.epochs=7", "+workload.train.epochs=7", "workload.train.epochs=7", "++train.epochs=7"}) {
        const Workload w = good(kBase, {.dlio_overrides = {spelling}});
        CHECK(w.train.epochs == 7);
    }
    CHECK(good(kBase, {.params = {"train.epochs=7"}}).train.epochs == 7);
    CHECK(good(kBase, {.params = {"train.epochs=7", "train.epochs=8"}}).train.epochs == 8);
    CHECK(good(kBase, {.params = {"train.epochs=7"}, .dlio_overrides = {"++workload.train.epochs=9"}}).train.epochs ==
          7);
    CHECK(good(kBase, {.params = {"dataset.record_length=5"}}).dataset.record_length_bytes == 5);
    CHECK(good(kBase, {.params = {"train={epochs: 4, seed: 5}"}}).train.seed == 5);
    CHECK(good(kBase, {.params = {"dataset.num_files_train=1e6"}}).dataset.num_files_train == 1000000);
    CHECK(good(kBase, {.params = {"reader.transfer_size=1MiB"}}).reader.transfer_size == 1048576);
    CHECK(good(kBase, {.params = {"model.model_size=1.5 GB"}}).model.model_size_bytes == 1500000000);
    CHECK(good(kBase, {.params = {"dataset.data_folder=null:"}}).dataset.data_folder == "null:");
    CHECK(good(kBase, {.params = {"dataset.data_folder=model:bandwidth=1e9,latency=1e-3"}}).dataset.data_folder ==
          "model:bandwidth=1e9,latency=1e-3");
    CHECK(good(kBase, {.params = {"dataset.data_folder='/a b/'"}}).dataset.data_folder == "/a b");
    CHECK(good(kBase, {.params = {"dataset.record_dims=[4, 5]"}}).dataset.record_length_bytes == 20);
    CHECK(good(kBase, {.params = {"reader.prefetch_size=0"}}).reader.prefetch_size == 0);
    CHECK(good(kBase, {.params = {"reader.odirect=yes"}}).reader.odirect);
    CHECK(good(kBase + "reader:\n  file_shuffle: false\n").reader.file_shuffle == Shuffle::off);
    CHECK(bad(kBase, {.params = {"train.epochs"}}) == "-p train.epochs: expected section.key=value");
    CHECK(bad(kBase, {.dlio_overrides = {"~workload.train.epochs"}}).find("removing a key is not possible") !=
          std::string::npos);
    CHECK(bad(kBase, {.dlio_overrides = {"hydra.run.dir=x"}}).find("--results-dir says where results go") !=
          std::string::npos);
    CHECK(bad(kBase, {.params = {"train.computation_time={mean: [}"}}).find("the value is not valid YAML") !=
          std::string::npos);
}

TEST_CASE("think time as a distribution, as DLIO documents it") {
    using Kind = TimeDistribution::Kind;
    const auto time = [](const std::string& text) {
        return good(kBase, {.params = {"train.computation_time=" + text}}).train.computation_time;
    };
    CHECK(time("0.5") == TimeDistribution{.mean_s = 0.5});
    CHECK(time("{mean: 0.5}") == TimeDistribution{.mean_s = 0.5});
    CHECK(time("{mean: 0.3, stdev: 0.1}") == TimeDistribution{.kind = Kind::normal, .mean_s = 0.3, .stdev_s = 0.1});
    CHECK(time("{mean: 0.3, stdev: 0.1, type: normal}") == time("{mean: 0.3, stdev: 0.1}"));
    CHECK(time("{min: 0.5, max: 1.5, type: uniform}").mean_s == 1.0);
    CHECK(time("{mean: 1, stdev: 0.1, type: uniform}").min_s == Approx(1 - 0.1 * std::sqrt(3)));
    CHECK(time("{shape: 4, scale: 0.05, type: gamma}").stdev_s == Approx(0.1));
    CHECK(time("{mean: 0.2, stdev: 0.1, type: gamma}").shape == Approx(4));
    CHECK(time("{scale: 2, type: exponential}").mean_s == 2);
    CHECK(time("{mean: 2, type: exponential}").scale_s == 2);
    CHECK(time("{lam: 3, type: poisson}") == time("{mean: 3, type: poisson}"));
    const Workload w = good(kBase, {.params = {"train.computation_time_stdev=0.1", "reader.preprocess_time=0.01",
                                               "evaluation.eval_time_stdev=0.2"}});
    CHECK(w.train.computation_time == time("{mean: 0.3, stdev: 0.1}"));
    CHECK(w.reader.preprocess_time.mean_s == 0.01);
    CHECK(w.evaluation.eval_time == TimeDistribution{.kind = Kind::normal, .stdev_s = 0.2});
    // A distribution that replaces the file's time replaces the file's deviation too.
    const std::string with_stdev = "train:\n  computation_time: 1\n  computation_time_stdev: 0.1\n";
    CHECK(good(with_stdev).train.computation_time.kind == Kind::normal);
    CHECK(good(with_stdev, {.params = {"train.computation_time={min: 1, max: 2, type: uniform}"}})
              .train.computation_time.kind == Kind::uniform);
    CHECK(good(with_stdev, {.params = {"train.computation_time=2"}}).train.computation_time ==
          TimeDistribution{.kind = Kind::normal, .mean_s = 2, .stdev_s = 0.1});

    const auto wrong = [](const std::string& text) {
        return bad(kBase, {.params = {"train.computation_time=" + text}});
    };
    CHECK(wrong("-1").find("is '-1'; expected seconds of at least 0") != std::string::npos);
    CHECK(wrong("fast").find("is 'fast'") != std::string::npos);
    CHECK(wrong("{mean: -1}").find("train.computation_time.mean is '-1'") != std::string::npos);
    CHECK(wrong("{maen: 1}").find("did you mean mean?") != std::string::npos);
    CHECK(wrong("{mean: 1, type: cauchy}").find("expected one of normal, uniform, gamma, exponential, poisson") !=
          std::string::npos);
    CHECK(wrong("{min: 2, max: 1, type: uniform}").find("0 <= min <= max") != std::string::npos);
    CHECK(wrong("{mean: 1, stdev: 1, type: uniform}").find("0 <= min <= max") != std::string::npos);
    CHECK(wrong("{shape: 0, scale: 1, type: gamma}").find("shape above 0") != std::string::npos);
    CHECK(wrong("{scale: 1, mean: 1, type: exponential}").find("expected scale for type exponential") !=
          std::string::npos);
    CHECK(wrong("{stdev: 1}").find("has no mean") != std::string::npos);
    CHECK(bad(kBase, {.params = {"train.computation_time={lam: 1, type: poisson}", "train.computation_time_stdev=1"}})
              .find("goes with a normal distribution only") != std::string::npos);
}

TEST_CASE("combinations that cannot be") {
    const auto with = [](std::vector<std::string> params) { return bad(kBase, {.params = std::move(params)}); };
    CHECK(with({"workflow.train=false"}).find("nothing to do") != std::string::npos);
    CHECK(with({"workflow.evaluation=true"}).find("num_files_eval is 0") != std::string::npos);
    CHECK(with({"workflow.train=false", "workflow.checkpoint=true"}).find("to know its size") != std::string::npos);
    CHECK(with({"dataset.record_dims=[2]", "dataset.record_length_bytes_stdev=1"}).find("exclude each other") !=
          std::string::npos);
    CHECK(with({"dataset.record_dims=[3]", "dataset.num_dset_per_record=2"}).find("do not divide") !=
          std::string::npos);
    CHECK(with({"dataset.record_element_bytes=4"}).find("record_element_type uint8 has 1") != std::string::npos);
    CHECK(with({"dataset.enable_chunking=true"}).find("chunk_size is 0") != std::string::npos);
    CHECK(with({"dataset.num_files_train=2", "dataset.num_subfolders_train=3"}).find("no more folders than files") !=
          std::string::npos);
    CHECK(with({"reader.read_threads=0", "reader.data_loader=tensorflow"}).find("only the pytorch loader") !=
          std::string::npos);
    CHECK(with({"model.parallelism.zero_stage=3", "model.parallelism.pipeline=2"}).find("exclude each other") !=
          std::string::npos);
    CHECK(with({"model.num_layers=2", "model.parallelism.pipeline=4"}).find("only 2 layers") != std::string::npos);
    CHECK(with({"model.parallelism.data=2"}).find("subset only") != std::string::npos);
    CHECK(with({"checkpoint.mode=subset"}).find("needs model.parallelism.data") != std::string::npos);
    CHECK(
        with({"checkpoint.num_checkpoints_write=2", "checkpoint.num_checkpoints_read=3"}).find("only 2 are written") !=
        std::string::npos);
    // As in DLIO: evaluation belongs to training, so that a datagen run of the same file goes through.
    const Workload datagen =
        good(kBase, {.params = {"workflow.train=false", "workflow.generate_data=true", "workflow.evaluation=true"}});
    CHECK_FALSE(datagen.workflow.evaluation);
    // enable_chunking: a square of ceil(sqrt(chunk_size)), at most the sample's dimension.
    const auto chunk = [](const std::string& size) {
        return good(kBase, {.params = {"dataset.enable_chunking=true", "dataset.chunk_size=" + size,
                                       "dataset.record_length_bytes=10000"}})
            .dataset.chunk_dims;
    };
    CHECK(chunk("50") == std::vector<std::uint64_t>{1, 8, 8});
    CHECK(chunk("1e6") == std::vector<std::uint64_t>{1, 100, 100});
}

TEST_CASE("every value knows its origin and effect") {
    const Workload w = good(kBase + "reader:\n  pin_memory: True\n",
                            {.params = {"train.epochs=7"}, .dlio_overrides = {"++workload.train.seed=1"}});
    const auto find = [&](const std::string& key) {
        for (const auto& value : w.values)
            if (value.key == key) return value;
        FAIL("no " << key);
        return ConfigValue{};
    };
    CHECK(find("train.epochs").value == "7");
    CHECK(find("train.epochs").origin == "-p on the command line");
    CHECK(find("train.seed").origin == "++workload on the command line");
    CHECK(find("train.computation_time").origin == "sample_h100.yaml:4");
    CHECK(find("train.computation_time").value == "0.3");
    CHECK(find("reader.batch_size").origin == "default");
    CHECK(find("reader.data_loader").origin == "computed: follows framework");
    CHECK(find("reader.pin_memory").effect.find("accepted without effect: ") == 0);
    CHECK(find("reader.pin_memory").value == "true");
    CHECK(find("train.epochs").effect.empty());
}

TEST_CASE("data below the storage's root") {
    const auto at = [](std::vector<std::string> params) {
        return data_location(good(kBase, {.params = std::move(params)}));
    };
    CHECK(at({"dataset.data_folder=data/x/"}) == "data/x");
    CHECK(at({"dataset.data_folder=data/x", "storage.storage_root=/mnt/"}) == "/mnt/data/x");
    CHECK(at({"dataset.data_folder=/data", "storage.storage_root=/mnt"}) == "/data");
    CHECK(at({"dataset.data_folder=null:", "storage.storage_root=/mnt"}) == "null:");
    CHECK(at({"dataset.data_folder=train/set", "storage.storage_root=bucket", "storage.storage_type=s3"}) ==
          "s3://bucket/train/set");
    CHECK(checkpoint_location(
              good(kBase, {.params = {"checkpoint.checkpoint_folder=ck/", "storage.storage_root=/mnt"}})) == "/mnt/ck");
}
