// Rows of the section model: what a checkpoint is made of.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

namespace {
constexpr std::string_view kDatatypes = "fp16|fp32|bf16|int8|uint8|fp8|fp64";
}

std::vector<Key> model_rows() {
    using W = Workload;
    using M = ModelSection;
    return {
        text("model.name", "default", field<&W::model, &M::name>,
             "Name of the model; a folder of the results is called after it."),
        alias("model", "model.name"),
        text("model.type", "default", field<&W::model, &M::type>,
             "Kind of the model, such as cnn or transformer; a label."),
        integer("model.model_size_bytes", "bytes", "10240", at_least(0), field<&W::model, &M::model_size_bytes>,
                "Bytes that a writing rank puts into a checkpoint of a model without layers."),
        alias("model.model_size", "model.model_size_bytes"),
        choice("model.model_datatype", kDatatypes, "fp16", field<&W::model, &M::model_datatype>,
               "Type of the weights in a checkpoint."),
        choice("model.optimizer_datatype", kDatatypes, "fp32", field<&W::model, &M::optimizer_datatype>,
               "Type of the optimizer state in a checkpoint."),
        nullable(integer("model.num_layers", "layers", "0", at_least_or_minus_one(0),
                         {.set =
                              [](W& w, const Value& v) {
                                  w.model.num_layers = v.integer < 0 ? 0 : static_cast<std::uint64_t>(v.integer);
                              },
                          .get = field<&W::model, &M::num_layers>.get},
                         "Layers of the transformer in a checkpoint; 0 (or -1): the model has none.")),
        integer("model.parallelism.tensor", "ranks", "1", at_least(1), field<&W::model, &M::parallelism_tensor>,
                "Tensor parallelism: ranks that share a layer."),
        integer("model.parallelism.pipeline", "ranks", "1", at_least(1), field<&W::model, &M::parallelism_pipeline>,
                "Pipeline parallelism: stages that the layers are spread over."),
        integer("model.parallelism.data", "ranks", "-1", at_least_or_minus_one(1),
                field<&W::model, &M::parallelism_data>,
                "Data parallelism of the whole job in checkpoint.mode subset; -1: from the rank count."),
        integer("model.parallelism.zero_stage", "", "0", between(0, 3), field<&W::model, &M::zero_stage>,
                "ZeRO stage: what the data-parallel ranks share (1, 2: optimizer; 3: weights too)."),
        integer("model.transformer.vocab_size", "tokens", "32000", at_least(1), field<&W::model, &M::vocab_size>,
                "Vocabulary: rows of the embedding and of the output layer."),
        integer("model.transformer.hidden_size", "values", "2048", at_least(1), field<&W::model, &M::hidden_size>,
                "Hidden dimension of a layer."),
        integer("model.transformer.ffn_hidden_size", "values", "8196", at_least(1),
                field<&W::model, &M::ffn_hidden_size>, "Hidden dimension of the feed-forward part of a layer."),
        integer("model.transformer.num_attention_heads", "heads", "32", at_least(1),
                field<&W::model, &M::num_attention_heads>, "Attention heads."),
        integer("model.transformer.num_kv_heads", "heads", "8", at_least(1), field<&W::model, &M::num_kv_heads>,
                "Key and value heads; fewer than attention heads with grouped-query attention."),
        list("model.layer_parameters", KeyType::integer_list, at_least(0), field<&W::model, &M::layer_parameters>,
             "Values of each tensor of a layer, instead of a transformer's; shared among the tensor-parallel ranks."),
        list("model.optimization_groups", KeyType::integer_list, at_least(0), field<&W::model, &M::optimization_groups>,
             "Values of each optimizer tensor a rank, instead of a transformer's."),
        number("model.scale", "", "1", {.min = 0, .max = 1, .above_min = true}, field<&W::model, &M::scale>,
               "Ours: shrinks every file of a checkpoint by this factor; such a result is not comparable."),
    };
}

} // namespace feedbench::config
