// Rows of the section reader: how samples come off the storage.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

namespace {

using W = Workload;
using R = ReaderSection;

constexpr std::string_view kShuffles = "off|seed|random";
Shuffle shuffle_of(const Value& v) {
    return v.text == "seed" ? Shuffle::seed : v.text == "random" ? Shuffle::random : Shuffle::off;
}
std::string text_of_shuffle(Shuffle s) {
    return s == Shuffle::seed ? "seed" : s == Shuffle::random ? "random" : "\"off\"";
}
constexpr Binding kFileShuffle = {.set = [](Workload& w, const Value& v) { w.reader.file_shuffle = shuffle_of(v); },
                                  .get = [](const Workload& w) { return text_of_shuffle(w.reader.file_shuffle); }};
constexpr Binding kSampleShuffle = {.set = [](Workload& w, const Value& v) { w.reader.sample_shuffle = shuffle_of(v); },
                                    .get = [](const Workload& w) { return text_of_shuffle(w.reader.sample_shuffle); }};
constexpr Binding kIoEngine = {
    .set = [](Workload& w,
              const Value& v) { w.reader.io_engine = v.text == "threads" ? IoEngine::threads : IoEngine::uring; },
    .get =
        [](const Workload& w) { return std::string(w.reader.io_engine == IoEngine::threads ? "threads" : "uring"); }};
constexpr Binding kVerify = {.set =
                                 [](Workload& w, const Value& v) {
                                     w.reader.verify = v.text == "header"     ? Verify::header
                                                       : v.text == "checksum" ? Verify::checksum
                                                       : v.text == "content"  ? Verify::content
                                                                              : Verify::off;
                                 },
                             .get =
                                 [](const Workload& w) {
                                     constexpr const char* kNames[] = {"\"off\"", "header", "checksum", "content"};
                                     return std::string(kNames[static_cast<int>(w.reader.verify)]);
                                 }};

} // namespace

std::vector<Key> reader_rows() {
    return {
        choice("reader.data_loader", "pytorch|tensorflow|native", "", field<&W::reader, &R::data_loader>,
               "Loader that is emulated; by default that of the framework. native: as fast as the storage can (OPEN "
               "only)."),
        integer("reader.batch_size", "samples", "1", at_least(1), field<&W::reader, &R::batch_size>,
                "Samples that an accelerator takes in a step."),
        integer("reader.batch_size_eval", "samples", "1", at_least(1), field<&W::reader, &R::batch_size_eval>,
                "The same in evaluation."),
        integer("reader.read_threads", "workers", "1", at_least(0), field<&W::reader, &R::read_threads>,
                "Workers of an accelerator that read side by side; 0 (pytorch only): the accelerator reads by itself, "
                "nothing ahead."),
        without_effect(integer("reader.computation_threads", "threads", "1", at_least(0),
                               field<&W::reader, &R::computation_threads>, "Threads that decode samples."),
                       "decoding is not emulated"),
        integer("reader.prefetch_size", "batches", "2", at_least(0), field<&W::reader, &R::prefetch_size>,
                "Batches that are read ahead. 0: pytorch takes its own default of 2 a worker, others read when asked."),
        nullable(integer("reader.transfer_size", "bytes", "262144", at_least(1), field<&W::reader, &R::transfer_size>,
                         "Largest piece that is read at a time.")),
        choice("reader.file_shuffle", kShuffles, "off", kFileShuffle,
               "Order of files: ascending, from train.seed, or another in every run."),
        choice("reader.sample_shuffle", kShuffles, "off", kSampleShuffle, "Order of samples, likewise."),
        integer("reader.shuffle_size", "samples", "1024", at_least(1), field<&W::reader, &R::shuffle_size>,
                "tensorflow: samples in the shuffle buffer."),
        without_effect(time("reader.preprocess_time", "0", field<&W::reader, &R::preprocess_time>,
                            "Time that a worker spends on a sample after reading it."),
                       "decoding is not emulated"),
        [] {
            Key key = number("reader.preprocess_time_stdev", "s", "", at_least(0), nowhere,
                             "Makes preprocess_time a normal distribution.");
            key.part_of = "reader.preprocess_time";
            return without_effect(key, "decoding is not emulated");
        }(),
        boolean("reader.odirect", "false", field<&W::reader, &R::odirect>,
                "Whether files are read with O_DIRECT, past the page cache."),
        choice("reader.io_engine", "uring|threads", "uring", kIoEngine,
               "Ours: how files are read: io_uring, or pread in threads."),
        integer("reader.io_threads", "threads", "4", at_least(1), field<&W::reader, &R::io_threads>,
                "Ours: threads of a rank with io_engine threads, and for blocking libraries."),
        integer("reader.queue_depth", "reads", "32", at_least(1), field<&W::reader, &R::queue_depth>,
                "Ours: reads that the native loader keeps in flight for an accelerator."),
        choice("reader.verify", "off|header|checksum|content", "off", kVerify,
               "Ours: what is checked of each sample that was read; costs CPU."),
        choice("reader.drop_cache", "off|fadvise|system", "off", field<&W::reader, &R::drop_cache>,
               "Ours: how the page cache is emptied before each epoch: not at all, of these files, or the whole host "
               "(needs root)."),
        number("reader.drop_cache_timeout", "s", "60", {.min = 0, .max = 86400, .above_min = true},
               field<&W::reader, &R::drop_cache_timeout_s>,
               "Ours: how long drop_cache is waited for; then the epoch runs, the result says timeout, and the next "
               "epoch tries again."),

        without_effect(boolean("reader.dont_use_mmap", "false", nowhere, "Whether files are not mapped."),
                       "files are never mapped"),
        without_effect(boolean("reader.pin_memory", "true", nowhere, "Whether batches lie in pinned memory."),
                       "data lands in a pool of host buffers; nothing is copied to a device"),
        without_effect(choice("reader.multiprocessing_context", "fork|spawn|forkserver", "fork", nowhere,
                              "How workers are started."),
                       "workers are coroutines, not processes"),
        without_effect(
            choice("reader.data_loader_sampler", "iterative|index|none", "none", nowhere, "How samples are drawn."),
            "the loader model decides it, as in the framework"),
        without_effect(choice("reader.file_access", "multi|shared|collective|mpio|posix", "multi", nowhere,
                              "How files are shared."),
                       "dataset.num_files_train and num_samples_per_file say where samples lie"),
        choice("reader.read_type", "on_demand", "on_demand", nowhere,
               "When samples are read; all at once (memory) is not offered."),
        without_effect(list("reader.transformed_record_dims", KeyType::integer_list, at_least(1), nowhere,
                            "Shape of a decoded sample."),
                       "the decoded tensor lies in the framework's memory and never reaches the storage"),
        alias("reader.transformed_sample", "reader.transformed_record_dims"),
        without_effect(text("reader.transformed_record_element_type", "uint8", nowhere, "Type of a decoded element."),
                       "the decoded tensor lies in the framework's memory and never reaches the storage"),
        alias("reader.transformed_sample_type", "reader.transformed_record_element_type"),
        refused(text("reader.data_loader_classname", "", nowhere, "Python class that loads data."),
                "classes written in Python cannot run here; loaders: pytorch, tensorflow, native"),
        refused(text("reader.reader_classname", "", nowhere, "Python class that reads files."),
                "classes written in Python cannot run here; formats: feedbench list formats"),
    };
}

} // namespace feedbench::config
