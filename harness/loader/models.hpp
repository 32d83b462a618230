// The loader models' makers, for the table in registry.cpp.
//
// Thread: reactor thread. Owner: the caller. Units: counts. Errors: none.
#pragma once

#include "harness/loader/loader.hpp"

namespace feedbench::loader {

std::unique_ptr<Loader> make_pytorch_loader(const LoaderContext& context);
std::unique_ptr<Loader> make_tensorflow_loader(const LoaderContext& context);
std::unique_ptr<Loader> make_native_loader(const LoaderContext& context);

// Buffers that one accelerator may hold at once.
std::uint32_t pytorch_buffers(const ReaderSection& reader);
std::uint32_t tensorflow_buffers(const ReaderSection& reader);
std::uint32_t native_buffers(const ReaderSection& reader);

// ceil(prefetch_size / read_threads), at least 1; 0 asks for the reference's default of 2. read_threads > 0.
std::uint32_t pytorch_batches_per_worker(const ReaderSection& reader);

} // namespace feedbench::loader
