// The embedded metadata engine: LMDB, any number of processes of one host.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: all as engine.hpp says. Commits: threads that apply at the same
// time share one transaction (the first to come commits for all who wait). Durable: data pages, then the root, each
// flushed. Source: lmdb.h of LMDB 0.9.24.
#pragma once

#include <memory>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

Expected<std::unique_ptr<MetadataEngine>> open_lmdb(const MetadataPlace& place, OpenMode mode);

} // namespace feedbench::feedfs
