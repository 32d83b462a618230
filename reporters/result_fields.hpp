// Which member of a RunResult has which JSON key: one list, walked both by the writer and by the reader.
//
// Thread: any. Owner: none. Units: every key names its own. Errors: those of the visitor. Source:
// reporters/schema/result.schema.json. A new member of RunResult is one line here and one in the schema; the round-trip
// test fails until both are there.
#pragma once

#include <type_traits>

#include "harness/types/run_result.hpp"
#include "reporters/storage_fields.hpp"

namespace feedbench::reporters {

FEEDBENCH_FIELDS(Metric) {
    visit("key", x.key);
    visit("unit", x.unit);
    visit("value", x.value);
    visit("reason", x.reason);
    visit("formula", x.formula);
}
FEEDBENCH_FIELDS(HostFacts) {
    visit("name", x.name);
    visit("rank_count", x.rank_count);
    visit("accelerator_count", x.accelerator_count);
    visit("cpu_count", x.cpu_count);
    visit("cpu_allowed", x.cpu_allowed);
    visit("memory_bytes", x.memory_bytes);
    visit("cpu_model", x.cpu_model);
    visit("kernel", x.kernel);
    visit("process_cpu_s", x.process_cpu_s);
    visit("host_cpu_s", x.host_cpu_s);
    visit("bytes_delivered", x.bytes_delivered);
    visit("peak_rss_bytes", x.peak_rss_bytes);
    visit("nic_bytes_per_second", x.nic_bytes_per_second);
    visit("memory_bytes_per_second", x.memory_bytes_per_second);
}
FEEDBENCH_FIELDS(Attribution) {
    visit("think_s", x.think_s);
    visit("storage_wait_s", x.storage_wait_s);
    visit("client_wait_s", x.client_wait_s);
    visit("barrier_wait_s", x.barrier_wait_s);
    visit("outside_s", x.outside_s);
    visit("total_s", x.total_s);
}
FEEDBENCH_FIELDS(LoaderTime) {
    visit("in_flight_s", x.in_flight_s);
    visit("client_queue_s", x.client_queue_s);
    visit("decode_s", x.decode_s);
    visit("verify_s", x.verify_s);
    visit("buffer_wait_s", x.buffer_wait_s);
}
FEEDBENCH_FIELDS(CacheEvidence) {
    visit("bytes_delivered", x.bytes_delivered);
    visit("source_kind", x.source_kind);
    visit("source", x.source);
    visit("source_bytes", x.source_bytes);
    visit("source_reason", x.source_reason);
    visit("process_read_bytes", x.process_read_bytes);
    visit("sampled_page_count", x.sampled_page_count);
    visit("resident_page_count", x.resident_page_count);
    visit("residency_method", x.residency_method);
    visit("residency_reason", x.residency_reason);
    visit("drop_outcome", x.drop_outcome);
    visit("drop_s", x.drop_s);
}
FEEDBENCH_FIELDS(HostCeiling) {
    visit("host", x.host);
    visit("MB_per_second", x.MB_per_second);
    visit("steps_per_second", x.steps_per_second);
    visit("au_percentage", x.au_percentage);
    visit("cpu_s_per_GB", x.cpu_s_per_GB);
    visit("duration_s", x.duration_s);
}
FEEDBENCH_FIELDS(ScalingPoint) {
    visit("accelerator_count", x.accelerator_count);
    visit("au_percentage", x.au_percentage);
    visit("MB_per_second", x.MB_per_second);
    visit("batch_wait_s_p99", x.batch_wait_s_p99);
    visit("duration_s", x.duration_s);
    visit("verdict", x.verdict);
    visit("passed", x.passed);
    visit("confirmed", x.confirmed);
}
FEEDBENCH_FIELDS(Slice) {
    visit("start_ns", x.start_ns);
    visit("bytes", x.bytes);
    visit("samples", x.samples);
    visit("reads", x.reads);
    visit("steps", x.steps);
    visit("stalled_accelerators", x.stalled_accelerators);
    visit("in_flight_reads", x.in_flight_reads);
    visit("process_cpu_ns", x.process_cpu_ns);
}
FEEDBENCH_FIELDS(BlockResult) {
    visit("index", x.index);
    visit("step_count", x.step_count);
    visit("sample_count", x.sample_count);
    visit("bytes_delivered", x.bytes_delivered);
    visit("start_s", x.start_s);
    visit("end_s", x.end_s);
    visit("metrics", x.metrics);
}
FEEDBENCH_FIELDS(HostEpochResult) {
    visit("host", x.host);
    visit("bytes_delivered", x.bytes_delivered);
    visit("process_cpu_s", x.process_cpu_s);
    visit("host_cpu_s", x.host_cpu_s);
    visit("attribution", x.attribution);
    visit("loader_time", x.loader_time);
    visit("cache", x.cache);
    visit("histograms", x.histograms);
}
FEEDBENCH_FIELDS(EpochResult) {
    visit("index", x.index);
    visit("evaluation", x.evaluation);
    visit("start_s", x.start_s);
    visit("end_s", x.end_s);
    visit("step_count", x.step_count);
    visit("sample_count", x.sample_count);
    visit("dropped_sample_count", x.dropped_sample_count);
    visit("bytes_delivered", x.bytes_delivered);
    visit("samples_proved", x.samples_proved);
    visit("blocks", x.blocks);
    visit("metrics", x.metrics);
    visit("attribution", x.attribution);
    visit("loader_time", x.loader_time);
    visit("histograms", x.histograms);
    visit("hosts", x.hosts);
}
FEEDBENCH_FIELDS(CheckpointRankResult) {
    visit("rank", x.rank);
    visit("host", x.host);
    visit("bytes", x.bytes);
    visit("file_count", x.file_count);
    visit("duration_s", x.duration_s);
    visit("first_byte_s", x.first_byte_s);
    visit("transfer_s", x.transfer_s);
    visit("fsync_s", x.fsync_s);
    visit("commit_s", x.commit_s);
    visit("content_s", x.content_s);
}
FEEDBENCH_FIELDS(CheckpointHostResult) {
    visit("host", x.host);
    visit("bytes", x.bytes);
    visit("process_cpu_s", x.process_cpu_s);
    visit("host_cpu_s", x.host_cpu_s);
    visit("cache", x.cache);
}
FEEDBENCH_FIELDS(CheckpointResult) {
    visit("kind", x.kind);
    visit("mode", x.mode);
    visit("epoch_index", x.epoch_index);
    visit("step_index", x.step_index);
    visit("folder", x.folder);
    visit("bytes", x.bytes);
    visit("file_count", x.file_count);
    visit("start_s", x.start_s);
    visit("duration_s", x.duration_s);
    visit("fsync_s", x.fsync_s);
    visit("fsync", x.fsync);
    visit("first_byte_s", x.first_byte_s);
    visit("data_s", x.data_s);
    visit("synced_s", x.synced_s);
    visit("visible_s", x.visible_s);
    visit("fsync_asked_count", x.fsync_asked_count);
    visit("fsync_done_count", x.fsync_done_count);
    visit("committed", x.committed);
    visit("content_verified", x.content_verified);
    visit("training_wait_s", x.training_wait_s);
    visit("metrics", x.metrics);
    visit("ranks", x.ranks);
    visit("hosts", x.hosts);
    visit("histograms", x.histograms);
}
FEEDBENCH_FIELDS(Finding) {
    visit("rule", x.rule);
    visit("verdict", x.verdict);
    visit("evidence", x.evidence);
    visit("facts", x.facts);
}
FEEDBENCH_FIELDS(ConfigValue) {
    visit("key", x.key);
    visit("value", x.value);
    visit("origin", x.origin);
    visit("effect", x.effect);
}
FEEDBENCH_FIELDS(Error) {
    visit("kind", x.kind);
    visit("message", x.message);
    visit("operation", x.operation);
    visit("path", x.path);
    visit("offset_bytes", x.offset);
    visit("errno", x.errno_value);
    visit("host", x.host);
    visit("rank", x.rank);
    visit("accelerator", x.accelerator);
}
FEEDBENCH_FIELDS(RunResult) {
    visit("schema_version", x.schema_version);
    visit("feedbench_version", x.feedbench_version);
    visit("kind", x.kind);
    visit("status", x.status);
    visit("valid", x.valid);
    visit("invalid_reasons", x.invalid_reasons);
    visit("verdict", x.verdict);
    visit("explanation", x.explanation);
    visit("workload", x.workload);
    visit("model", x.model);
    visit("accelerator_model", x.accelerator_model);
    visit("framework", x.framework);
    visit("format", x.format);
    visit("data_loader", x.data_loader);
    visit("backend", x.backend);
    visit("data_folder", x.data_folder);
    visit("odirect", x.odirect);
    visit("io_engine", x.io_engine);
    visit("command_line", x.command_line);
    visit("start_time", x.start_time);
    visit("end_time", x.end_time);
    visit("run_id", x.run_id);
    visit("results_folder", x.results_folder);
    visit("edition", x.edition);
    visit("accelerator_count", x.accelerator_count);
    visit("rank_count", x.rank_count);
    visit("epoch_count", x.epoch_count);
    visit("batch_size", x.batch_size);
    visit("batch_size_eval", x.batch_size_eval);
    visit("num_files_train", x.num_files_train);
    visit("num_files_eval", x.num_files_eval);
    visit("num_samples_per_file", x.num_samples_per_file);
    visit("record_length_bytes", x.record_length_bytes);
    visit("think_time_mean_s", x.think_time_mean_s);
    visit("au_required_fraction", x.au_required);
    visit("run_seed", x.run_seed);
    visit("virtual_time", x.virtual_time);
    visit("metrics", x.metrics);
    visit("attribution", x.attribution);
    visit("loader_time", x.loader_time);
    visit("ceilings", x.ceilings);
    visit("ceiling_reason", x.ceiling_reason);
    visit("scaling", x.scaling);
    visit("scaling_stop", x.scaling_stop);
    visit("epochs", x.epochs);
    visit("checkpoints", x.checkpoints);
    visit("checkpoint_gap_s", x.checkpoint_gap_s);
    visit("hosts", x.hosts);
    visit("storages", x.storages);
    visit("findings", x.findings);
    visit("histograms", x.histograms);
    visit("slices", x.slices);
    visit("config", x.config);
    visit("errors", x.errors);
}
#undef FEEDBENCH_FIELDS

} // namespace feedbench::reporters
