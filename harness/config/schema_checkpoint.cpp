// Rows of the section checkpoint.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

namespace {

constexpr Binding kWriters = {
    .set =
        [](Workload& w, const Value& v) {
            w.checkpoint.type = v.text == "all_ranks" ? CheckpointWriters::all_ranks : CheckpointWriters::rank_zero;
        },
    .get =
        [](const Workload& w) {
            return std::string(w.checkpoint.type == CheckpointWriters::all_ranks ? "all_ranks" : "rank_zero");
        }};
// -1, DLIO's "not set", is no pause at all.
constexpr Binding kPause = {
    .set = [](Workload& w, const Value& v) { w.checkpoint.time_between_checkpoints_s = v.number < 0 ? 0 : v.number; },
    .get = [](const Workload& w) { return yaml_text(w.checkpoint.time_between_checkpoints_s); }};
constexpr Binding kFolder = {.set =
                                 [](Workload& w, const Value& v) {
                                     std::string folder = v.text;
                                     while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
                                     w.checkpoint.checkpoint_folder = folder;
                                 },
                             .get = field<&Workload::checkpoint, &CheckpointSection::checkpoint_folder>.get};
constexpr std::string_view kNoPageSharing =
    "checkpoint content is made while it is written; no copies of it lie in memory to be merged";

} // namespace

std::vector<Key> checkpoint_rows() {
    using W = Workload;
    using C = CheckpointSection;
    return {
        text("checkpoint.checkpoint_folder", "./checkpoints", kFolder, "Folder or URI of the checkpoints."),
        integer("checkpoint.checkpoint_after_epoch", "epochs", "1", at_least(1),
                field<&W::checkpoint, &C::checkpoint_after_epoch>,
                "First epoch that is followed by a checkpoint, counted from 1."),
        integer("checkpoint.epochs_between_checkpoints", "epochs", "1", at_least(1),
                field<&W::checkpoint, &C::epochs_between_checkpoints>, "Epochs from one checkpoint to the next."),
        integer("checkpoint.steps_between_checkpoints", "steps", "-1", at_least_or_minus_one(1),
                field<&W::checkpoint, &C::steps_between_checkpoints>,
                "Steps from one checkpoint to the next inside an epoch; then epochs_between_checkpoints does not "
                "count. -1: by epochs."),
        choice("checkpoint.type", "rank_zero|all_ranks", "rank_zero", kWriters,
               "Which ranks (accelerators) write the checkpoint of a model without layers."),
        boolean("checkpoint.fsync", "false", field<&W::checkpoint, &C::fsync>,
                "Whether fsync follows the last write of each file."),
        number("checkpoint.time_between_checkpoints", "s", "0", at_least_or_minus_one(0), kPause,
               "Checkpoint-only: pause from one checkpoint to the next; -1: none."),
        integer("checkpoint.num_checkpoints_write", "checkpoints", "-1", at_least_or_minus_one(0),
                field<&W::checkpoint, &C::num_checkpoints_write>,
                "Checkpoint-only: checkpoints to write; -1: not said."),
        integer("checkpoint.num_checkpoints_read", "checkpoints", "-1", at_least_or_minus_one(0),
                field<&W::checkpoint, &C::num_checkpoints_read>,
                "Checkpoint-only: checkpoints to read back; -1: not said."),
        boolean("checkpoint.recovery_rank_shift", "false", field<&W::checkpoint, &C::recovery_rank_shift>,
                "Checkpoint-only: whether a rank reads what the same rank of the next host wrote."),
        choice("checkpoint.mode", "default|subset", "default", field<&W::checkpoint, &C::mode>,
               "subset: these ranks write their part of a larger job's checkpoint (set model.parallelism.data)."),
        boolean("checkpoint.odirect", "false", field<&W::checkpoint, &C::odirect>,
                "Ours: whether checkpoint files are written and read with O_DIRECT."),
        integer("checkpoint.transfer_size", "bytes", "1048576", between(4096, 64.0 * 1048576),
                field<&W::checkpoint, &C::transfer_size>, "Ours: bytes of one write or read of a checkpoint file."),
        integer("checkpoint.queue_depth", "operations", "8", between(1, 1024), field<&W::checkpoint, &C::queue_depth>,
                "Ours: writes or reads that a rank has in flight at a checkpoint file."),
        integer("checkpoint.keep_last", "checkpoints", "0", at_least(0), field<&W::checkpoint, &C::keep_last>,
                "Ours: newest checkpoints that stay while others are written; older ones are removed. 0: all stay."),
        boolean("checkpoint.keep_files", "true", field<&W::checkpoint, &C::keep_files>,
                "Ours: whether checkpoints stay when the run has ended."),
        choice("checkpoint.leftovers", "remove|keep", "remove", field<&W::checkpoint, &C::leftovers>,
               "Ours: what happens to files of a checkpoint that did not commit; they are never read."),
        boolean("checkpoint.asynchronous", "false", field<&W::checkpoint, &C::asynchronous>,
                "Ours: whether training goes on while a checkpoint inside it is written; the next one waits for its "
                "end. Else all accelerators wait until it is written."),
        without_effect(boolean("checkpoint.rank_sync", "false", nowhere, "Whether ranks meet after a checkpoint."),
                       "ranks always meet after a checkpoint, and that time is logged apart"),
        alias("checkpoint.checkpoint_rank_sync", "checkpoint.rank_sync"),
        without_effect(boolean("checkpoint.randomize_tensor", "true", nowhere, "Whether content is random."),
                       "content is always incompressible"),
        refused(text("checkpoint.checkpoint_mechanism_classname", "", nowhere, "Python class that writes checkpoints."),
                "classes written in Python cannot run here"),
        without_effect(choice("checkpoint.checkpoint_mechanism", "none|custom|tf_save|pt_save|pt_s3_save", "none",
                              nowhere, "Library that writes checkpoints."),
                       "files are written by the storage backend with the sizes and names of the reference tool"),
        without_effect(integer("checkpoint.ksm.madv_mergeable_id", "", "12", {}, nowhere, "Merging of equal pages."),
                       kNoPageSharing),
        without_effect(number("checkpoint.ksm.high_ram_trigger", "%", "30", {}, nowhere, "Merging of equal pages."),
                       kNoPageSharing),
        without_effect(number("checkpoint.ksm.low_ram_exit", "%", "15", {}, nowhere, "Merging of equal pages."),
                       kNoPageSharing),
        without_effect(number("checkpoint.ksm.await_time", "s", "200", {}, nowhere, "Merging of equal pages."),
                       kNoPageSharing),
    };
}

} // namespace feedbench::config
