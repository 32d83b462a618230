// Rows of the sections train and evaluation.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

std::vector<Key> train_rows() {
    using W = Workload;
    using T = TrainSection;
    using E = EvaluationSection;
    return {
        integer("train.epochs", "epochs", "1", at_least(1), field<&W::train, &T::epochs>,
                "Times that the dataset is gone through."),
        integer("train.total_training_steps", "steps", "-1", at_least_or_minus_one(1),
                field<&W::train, &T::total_training_steps>,
                "Steps of the whole run, over all epochs; -1: as many as the data gives."),
        time("train.computation_time", "0", field<&W::train, &T::computation_time>,
             "Think time: how long an accelerator computes on a batch."),
        [] {
            Key key = number("train.computation_time_stdev", "s", "", at_least(0), nowhere,
                             "Makes computation_time a normal distribution.");
            key.part_of = "train.computation_time";
            return key;
        }(),
        boolean("train.seed_change_epoch", "true", field<&W::train, &T::seed_change_epoch>,
                "Whether every epoch has an order of its own."),
        integer("train.seed", "", "123", at_least(0), field<&W::train, &T::seed>, "Seed of orders and think times."),

        time("evaluation.eval_time", "0", field<&W::evaluation, &E::eval_time>, "Think time of a step of evaluation."),
        [] {
            Key key = number("evaluation.eval_time_stdev", "s", "", at_least(0), nowhere,
                             "Makes eval_time a normal distribution.");
            key.part_of = "evaluation.eval_time";
            return key;
        }(),
        integer("evaluation.eval_after_epoch", "epochs", "1", at_least(1), field<&W::evaluation, &E::eval_after_epoch>,
                "First epoch that is followed by an evaluation, counted from 1."),
        integer("evaluation.epochs_between_evals", "epochs", "1", at_least(1),
                field<&W::evaluation, &E::epochs_between_evals>, "Epochs from one evaluation to the next."),
    };
}

} // namespace feedbench::config
