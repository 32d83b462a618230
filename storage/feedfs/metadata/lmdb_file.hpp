// What is looked at in an LMDB's file before and after LMDB opens it. Internal to storage/feedfs/metadata.
//
// LMDB fills an empty file, says "invalid" of a foreign one, and ends the process with SIGBUS where a file ends before
// the pages that it names.
//
// Thread: any; functions of their arguments. Owner: none. Units: bytes. Errors: storage_error with the file, what was
// found and what was expected (EUCLEAN). Source: lmdb.h; the layout of a meta page is mdb.c's (MDB_meta).
#pragma once

#include <cstdint>
#include <string>

#include "harness/types/error.hpp"

struct MDB_env;

namespace feedbench::feedfs {

inline constexpr std::uint32_t kLmdbMagic = 0xBEEFC0DE;
// `may_be_empty`: it is about to be made.
Status check_lmdb_file(const std::string& file, bool may_be_empty);
// Lengthens a file that was cut, so that looking at what is gone is an error of LMDB's: zeros are no page of its.
void lengthen_lmdb_file(MDB_env* environment);

} // namespace feedbench::feedfs
