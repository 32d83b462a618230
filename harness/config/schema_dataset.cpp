// Rows of the section dataset: what lies on the storage.
#include "harness/config/schema_rows.hpp"

namespace feedbench::config {

namespace {

// DLIO cuts trailing slashes off, and so do we, so that names of files are the same.
constexpr Binding kDataFolder = {.set =
                                     [](Workload& w, const Value& v) {
                                         std::string folder = v.text;
                                         while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
                                         w.dataset.data_folder = folder;
                                     },
                                 .get = field<&Workload::dataset, &DatasetSection::data_folder>.get};

} // namespace

std::vector<Key> dataset_rows() {
    using W = Workload;
    using D = DatasetSection;
    return {
        text("dataset.data_folder", "./data", kDataFolder,
             "Folder or URI of the dataset; below it lie train/ and valid/."),
        choice("dataset.format", "npz|npy|tfrecord|hdf5|parquet|raw|indexed_binary|jpeg|png|csv", "tfrecord",
               field<&W::dataset, &D::format>, "How samples lie in files.", "mmap_indexed_binary|hdf5_opt|synthetic"),
        choice("dataset.layout", "files|shared", "files", field<&W::dataset, &D::layout>,
               "Ours: shared: all samples of the training set lie in one file (hdf5), and all of the evaluation set in "
               "another; every loader worker of every rank keeps it open and reads its samples there. How many there "
               "are is num_files_train times num_samples_per_file, as before."),
        text("dataset.file_prefix", "img", field<&W::dataset, &D::file_prefix>, "First part of every file's name."),
        integer("dataset.num_files_train", "files", "1", at_least(1), field<&W::dataset, &D::num_files_train>,
                "Files of the training set."),
        integer("dataset.num_files_eval", "files", "0", at_least(0), field<&W::dataset, &D::num_files_eval>,
                "Files of the evaluation set."),
        integer("dataset.num_samples_per_file", "samples", "1", at_least(1),
                field<&W::dataset, &D::num_samples_per_file>, "Samples in a file."),
        integer("dataset.num_samples_per_file_eval", "samples", "0", at_least(0),
                field<&W::dataset, &D::num_samples_per_file_eval>,
                "Ours: samples in a file of the evaluation set; 0: as in the training set."),
        integer("dataset.num_subfolders_train", "folders", "0", at_least(0),
                field<&W::dataset, &D::num_subfolders_train>,
                "Folders below train/; file i lies in folder i mod n. 0 and 1: none."),
        integer("dataset.num_subfolders_eval", "folders", "0", at_least(0), field<&W::dataset, &D::num_subfolders_eval>,
                "Folders below valid/."),
        number("dataset.record_length_bytes", "bytes", "65536", at_least(1),
               field<&W::dataset, &D::record_length_bytes>, "Mean bytes of a sample."),
        alias("dataset.record_length", "dataset.record_length_bytes"),
        number("dataset.record_length_bytes_stdev", "bytes", "0", at_least(0),
               field<&W::dataset, &D::record_length_bytes_stdev>, "Standard deviation of the bytes of a sample."),
        alias("dataset.record_length_stdev", "dataset.record_length_bytes_stdev"),
        without_effect(number("dataset.record_length_bytes_resize", "bytes", "0", at_least(0),
                              field<&W::dataset, &D::record_length_bytes_resize>, "Bytes of a sample after decoding."),
                       "the decoded tensor lies in the framework's memory and never reaches the storage"),
        alias("dataset.record_length_resize", "dataset.record_length_bytes_resize"),
        list("dataset.record_dims", KeyType::integer_list, at_least(1), field<&W::dataset, &D::record_dims>,
             "Shape of a sample; takes the place of record_length_bytes."),
        choice("dataset.record_element_type",
               "uint8|int8|bool|uint16|int16|float16|uint32|int32|float32|uint64|int64|float64", "uint8",
               field<&W::dataset, &D::record_element_type>, "Type of an element of a sample."),
        integer("dataset.record_element_bytes", "bytes", "1", between(1, 8),
                field<&W::dataset, &D::record_element_bytes>,
                "Bytes of an element; follows record_element_type and may not contradict it."),
        choice("dataset.compression", "none|gzip|zip", "none", field<&W::dataset, &D::compression>,
               "How the format compresses: zip for npz, gzip for hdf5."),
        integer("dataset.compression_level", "", "4", between(0, 9), field<&W::dataset, &D::compression_level>,
                "Level of gzip compression."),
        integer("dataset.hdf5.num_dset_per_record", "datasets", "1", at_least(1),
                field<&W::dataset, &D::num_dset_per_record>, "hdf5: datasets that a sample is spread over."),
        alias("dataset.num_dset_per_record", "dataset.hdf5.num_dset_per_record"),
        alias("dataset.num_dataset_per_record", "dataset.hdf5.num_dset_per_record"),
        list("dataset.hdf5.chunk_dims", KeyType::integer_list, at_least(1), field<&W::dataset, &D::chunk_dims>,
             "hdf5: shape of a chunk; empty: contiguous."),
        alias("dataset.chunk_dims", "dataset.hdf5.chunk_dims"),
        list("dataset.hdf5.max_shape", KeyType::integer_list, at_least(1), field<&W::dataset, &D::max_shape>,
             "hdf5: largest shape a dataset may grow to; empty: fixed."),
        alias("dataset.max_shape", "dataset.hdf5.max_shape"),
        boolean("dataset.enable_chunking", "false", nowhere,
                "hdf5: whether chunk_size decides hdf5.chunk_dims (older files say it so)."),
        integer("dataset.chunk_size", "bytes", "0", at_least(0), nowhere,
                "hdf5, with enable_chunking: bytes of a chunk, which becomes a square of ceil(sqrt(chunk_size)), at "
                "most the sample."),
        list("dataset.parquet.columns", KeyType::columns, {}, field<&W::dataset, &D::parquet_columns>,
             "parquet: columns of a row, which is a sample: name, dtype (one of float32, the default, or uint8, int8, "
             "bool, binary, uint16, int16, float16, uint32, int32, list, uint64, int64, float64), size (values in a "
             "row, 1), read (whether training reads it, true). Empty: one column, data, of record_length_bytes. "
             "record_length_bytes becomes the bytes of the columns that are read."),
        integer("dataset.parquet.row_group_size", "rows", "1024", at_least(1),
                field<&W::dataset, &D::parquet_row_group_size>,
                "parquet: rows in a row group. A row costs its row group's columns that are read, once while a worker "
                "has them at hand."),
        without_effect(choice("dataset.parquet.read_mode", "default|row_group", "default", nowhere,
                              "How the reference's reader reads."),
                       "what is read are always the columns of a row group"),
        without_effect(integer("dataset.parquet.generation_batch_size", "rows", "0", at_least(0), nowhere,
                               "Rows that the generator makes at once."),
                       "content is made page by page"),
        without_effect(boolean("dataset.parquet.use_s3dlio_gen", "false", nowhere, "Which generator is used."),
                       "there is one generator"),
        refused(text("dataset.parquet.partition_by", "", nowhere, "Column by whose values files lie in folders."),
                "names of files are computed, not listed; num_subfolders_train spreads them over folders"),
        without_effect(boolean("dataset.keep_files", "true", field<&W::dataset, &D::keep_files>,
                               "Whether the dataset stays after the run."),
                       "a dataset is never removed by a run"),
        without_effect(integer("dataset.generation_buffer_size", "bytes", "2147483648", at_least(1), nowhere,
                               "Memory that the generator may take."),
                       "content is made block by block in a small pool of buffers"),
        integer("dataset.seed", "", "10", at_least(0), field<&W::dataset, &D::seed>,
                "Ours: seed of sizes and content; 10 gives the sizes that DLIO gives."),
        number("dataset.compress_percent", "%", "0", between(0, 100), field<&W::dataset, &D::compress_percent>,
               "Ours: part of the content that a compressing storage could save."),
        number("dataset.dedupe_percent", "%", "0", between(0, 100), field<&W::dataset, &D::dedupe_percent>,
               "Ours: part of the blocks that repeat others."),
    };
}

} // namespace feedbench::config
