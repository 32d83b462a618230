// Every published workload file of the corpus loads and means what it says (S7).
#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

using namespace feedbench;
using namespace feedbench::config;

namespace {

const std::string kCorpus = std::string(FEEDBENCH_SOURCE_DIR) + "/../shared/corpus/workloads/";

bool have_corpus() {
    if (std::filesystem::is_directory(kCorpus)) return true;
    std::cout << "skipped: corpus not found\n";
    return false;
}

Workload corpus(const std::string& file) {
    auto workload = load_workload({.workload = kCorpus + file});
    INFO(file << ": " << (workload ? "" : workload.error().describe()));
    REQUIRE(workload);
    return *workload;
}

} // namespace

TEST_CASE("all files of the corpus load, and their effective form loads to the same") {
    if (!have_corpus()) return;
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kCorpus)) {
        if (entry.path().extension() != ".yaml") continue;
        const Workload w = corpus(std::filesystem::relative(entry.path(), kCorpus).string());
        CHECK(w.name == entry.path().stem().string());
        ++count;
    }
    CHECK(count == 21);
}

TEST_CASE("unet3d of edition 2.0") {
    if (!have_corpus()) return;
    for (const auto& [file, think_s, accelerator] :
         {std::tuple{"mlperf-storage-v2.0/unet3d_a100.yaml", 0.636, "a100"},
          std::tuple{"mlperf-storage-v2.0/unet3d_h100.yaml", 0.323, "h100"}}) {
        const Workload w = corpus(file);
        CHECK(w.accelerator == accelerator);
        CHECK(w.model.name == "unet3d");
        CHECK(w.model.type == "cnn");
        CHECK(w.model.model_size_bytes == 499153191); // spelt model_size
        CHECK(w.framework == "pytorch");
        CHECK(w.workflow == WorkflowSection{.train = true, .checkpoint = true});
        CHECK(w.dataset.data_folder == "data/unet3d");
        CHECK(w.dataset.format == "npz");
        CHECK(w.dataset.num_files_train == 168);
        CHECK(w.dataset.num_samples_per_file == 1);
        CHECK(w.dataset.record_length_bytes == 146600628);
        CHECK(w.dataset.record_length_bytes_stdev == 68341808);
        CHECK(w.dataset.record_length_bytes_resize == 2097152);
        CHECK(w.reader.data_loader == "pytorch");
        CHECK(w.reader.batch_size == 7);
        CHECK(w.reader.read_threads == 4);
        CHECK(w.reader.file_shuffle == Shuffle::seed);
        CHECK(w.reader.sample_shuffle == Shuffle::seed);
        CHECK(w.reader.prefetch_size == 2);
        CHECK(w.reader.transfer_size == 262144);
        CHECK(w.train.epochs == 5);
        CHECK(w.train.computation_time == TimeDistribution{.mean_s = think_s});
        CHECK(w.checkpoint.checkpoint_folder == "checkpoints/unet3d");
        CHECK(w.checkpoint.checkpoint_after_epoch == 5);
        CHECK(w.checkpoint.epochs_between_checkpoints == 2);
        CHECK(w.metric.au_is_set);
        CHECK(w.metric.au == 0.9);
    }
}

TEST_CASE("resnet50 of edition 2.0") {
    if (!have_corpus()) return;
    for (const auto& [file, think_s] : {std::pair{"mlperf-storage-v2.0/resnet50_a100.yaml", 0.435},
                                        std::pair{"mlperf-storage-v2.0/resnet50_h100.yaml", 0.224}}) {
        const Workload w = corpus(file);
        CHECK(w.framework == "tensorflow");
        CHECK(w.dataset.format == "tfrecord");
        CHECK(w.dataset.num_files_train == 1024);
        CHECK(w.dataset.num_samples_per_file == 1251);
        CHECK(w.dataset.num_samples_per_file_eval == 1251);
        CHECK(w.dataset.record_length_bytes == 114660.07);
        CHECK(w.dataset.record_length_bytes_stdev == 0);
        CHECK(w.reader.data_loader == "tensorflow");
        CHECK(w.reader.batch_size == 400);
        CHECK(w.reader.read_threads == 8);
        CHECK(w.reader.computation_threads == 8);
        CHECK(w.reader.file_shuffle == Shuffle::off);
        CHECK(w.train.computation_time.mean_s == think_s);
        CHECK(w.metric.au == 0.9);
    }
}

TEST_CASE("cosmoflow of edition 2.0") {
    if (!have_corpus()) return;
    for (const auto& [file, think_s] : {std::pair{"mlperf-storage-v2.0/cosmoflow_a100.yaml", 0.00551},
                                        std::pair{"mlperf-storage-v2.0/cosmoflow_h100.yaml", 0.00350}}) {
        const Workload w = corpus(file);
        CHECK(w.dataset.num_files_train == 524288);
        CHECK(w.dataset.record_length_bytes == 2828486);
        CHECK(w.dataset.record_length_bytes_stdev == 71311);
        CHECK(w.reader.batch_size == 1);
        CHECK(w.reader.read_threads == 4);
        CHECK(w.reader.shuffle_size == 2);
        CHECK(w.reader.file_shuffle == Shuffle::seed);
        CHECK(w.reader.sample_shuffle == Shuffle::seed);
        CHECK(w.train.epochs == 5);
        CHECK(w.train.computation_time.mean_s == think_s);
        CHECK(w.metric.au == 0.7);
    }
}

TEST_CASE("the datagen files of edition 2.0 generate and do nothing else") {
    if (!have_corpus()) return;
    for (const auto& [file, format, files] :
         {std::tuple{"mlperf-storage-v2.0/unet3d_datagen.yaml", "npz", 168u},
          std::tuple{"mlperf-storage-v2.0/resnet50_datagen.yaml", "tfrecord", 1024u},
          std::tuple{"mlperf-storage-v2.0/cosmoflow_datagen.yaml", "tfrecord", 524288u}}) {
        const Workload w = corpus(file);
        CHECK(w.workflow == WorkflowSection{.generate_data = true, .train = false});
        CHECK(w.dataset.format == format);
        CHECK(w.dataset.num_files_train == files);
        CHECK_FALSE(w.metric.au_is_set);
        CHECK(w.accelerator.empty());
    }
}

TEST_CASE("the llama files checkpoint only, and fsync: True is obeyed") {
    if (!have_corpus()) return;
    struct Row {
        const char *file, *name;
        std::uint64_t layers;
        std::uint32_t tensor, pipeline, zero;
        std::uint64_t vocab, hidden, ffn;
        std::uint32_t heads, kv;
    };
    for (const auto& row :
         {Row{"mlperf-storage-v2.0/llama3_8b.yaml", "llama_8b", 32, 1, 1, 3, 128256, 4096, 14336, 32, 8},
          Row{"mlperf-storage-v2.0/llama3_70b.yaml", "llama_70b", 80, 8, 1, 3, 128256, 8192, 28672, 128, 8},
          Row{"mlperf-storage-v2.0/llama3_405b.yaml", "llama_405b", 126, 8, 32, 1, 128256, 16384, 53248, 128, 8},
          Row{"mlperf-storage-v2.0/llama3_1t.yaml", "llama_1t", 128, 8, 64, 1, 128256, 25872, 98304, 192, 32},
          Row{"dlio/llama_7b.yaml", "llama_7b", 32, 1, 1, 1, 32000, 4096, 11008, 32, 32}}) {
        INFO(row.file);
        const Workload w = corpus(row.file);
        CHECK(w.checkpoint_only());
        CHECK(w.model.name == row.name);
        CHECK(w.model.type == "transformer");
        CHECK(w.model.num_layers == row.layers);
        CHECK(w.model.model_datatype == "fp16");
        CHECK(w.model.optimizer_datatype == "fp32");
        CHECK(w.model.parallelism_tensor == row.tensor);
        CHECK(w.model.parallelism_pipeline == row.pipeline);
        CHECK(w.model.parallelism_data == -1);
        CHECK(w.model.zero_stage == row.zero);
        CHECK(w.model.vocab_size == row.vocab);
        CHECK(w.model.hidden_size == row.hidden);
        CHECK(w.model.ffn_hidden_size == row.ffn);
        CHECK(w.model.num_attention_heads == row.heads);
        CHECK(w.model.num_kv_heads == row.kv);
        CHECK(w.checkpoint.fsync);
        CHECK(w.checkpoint.time_between_checkpoints_s == 5);
        CHECK(w.checkpoint.num_checkpoints_write == 10);
        CHECK(w.checkpoint.num_checkpoints_read == 10);
    }
}

TEST_CASE("the files that come with DLIO") {
    if (!have_corpus()) return;
    const Workload plain = corpus("dlio/default.yaml");
    CHECK(plain.workflow == WorkflowSection{.train = true, .evaluation = true});
    CHECK(plain.dataset.num_files_eval == 8);
    CHECK(plain.dataset.num_subfolders_train == 2);
    CHECK(plain.dataset.num_subfolders_eval == 2);
    CHECK(plain.dataset.record_length_bytes == 4096);
    CHECK(plain.reader.batch_size == 4);
    CHECK(plain.reader.batch_size_eval == 1);
    CHECK(plain.train.epochs == 10);
    CHECK(plain.train.computation_time.mean_s == 1);
    CHECK(plain.evaluation.eval_time.mean_s == 0.5);
    CHECK(plain.evaluation.epochs_between_evals == 1);
    CHECK_FALSE(plain.metric.au_is_set);

    const Workload bert = corpus("dlio/bert_v100.yaml");
    CHECK(bert.accelerator == "v100");
    CHECK(bert.model.model_size_bytes == 4034713312);
    CHECK(bert.dataset.file_prefix == "part");
    CHECK(bert.dataset.num_samples_per_file == 313532);
    CHECK_FALSE(bert.train.seed_change_epoch);
    CHECK(bert.train.total_training_steps == 1000);
    CHECK(bert.checkpoint.steps_between_checkpoints == 250);

    const Workload dlrm = corpus("dlio/dlrm.yaml");
    CHECK(dlrm.dataset.format == "indexed_binary");
    CHECK(dlrm.dataset.record_length_bytes == 671088640);
    CHECK(dlrm.dataset.num_files_eval == 1);
    CHECK(dlrm.reader.sample_shuffle == Shuffle::random);
    CHECK(dlrm.reader.file_shuffle == Shuffle::off);
    CHECK(dlrm.train.computation_time.mean_s == 0.064296);

    const Workload s3 = corpus("dlio/unet3d_h100_s3.yaml");
    CHECK(s3.accelerator == "h100");
    CHECK(s3.workflow == WorkflowSection{.generate_data = true, .train = true});
    CHECK(s3.storage.storage_type == "s3");
    CHECK(s3.storage.storage_root == "s3pytorchconnector");
    CHECK(s3.storage.storage_options.at("endpoint_url") == "http://localhost:9020");
    CHECK(s3.storage.storage_options.at("s3_force_path_style") == "False");
    CHECK(s3.storage.storage_options.at("secret_access_key") == "secret-key");
    CHECK(data_location(s3) == "s3://s3pytorchconnector");
    CHECK(s3.train.epochs == 7);

    CHECK(corpus("dlio/cosmoflow_v100.yaml").model.type == "CNN");
    CHECK(corpus("dlio/resnet50_v100.yaml").reader.batch_size_eval == 128);
    CHECK(corpus("dlio/unet3d_v100.yaml").train.computation_time.mean_s == 1.3604);
}
