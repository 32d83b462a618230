// Readers of TFRecord files: a single record, or the file as a stream.
//
// Thread: any; one user an object. Owner: the loader. Units: bytes. Errors: format_error.
// Source: tf.data reads a file front to back in buffers (256 KiB here: transfer_size) whatever the record borders.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

Expected<std::unique_ptr<SampleReader>> make_tfrecord_reader(const ReadRequest& request);
std::unique_ptr<StreamReader> make_tfrecord_stream(const ReadRequest& request);

} // namespace feedbench::formats
