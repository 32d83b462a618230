// What the names in one split's folder say: prefix, format, count, subfolders. Used by adopt only.
//
// Thread: reactor thread (Backend::list may block). Owner: the caller. Units: counts. Memory: constant.
// Errors: names of two datasets side by side, gaps, files in the wrong subfolder.
// Source: reference.md section 1. A name fixes index, count and subfolder, and a folder holds no name twice: so as many
// fitting names as the count says means that none is missing.
#pragma once

#include <string>
#include <vector>

#include "harness/dataset/adopt.hpp"

namespace feedbench::dataset {

struct FolderScan {
    std::uint64_t file_count = 0; // 0: no such folder, or no data in it
    std::uint32_t subfolder_count = 0;
    std::string prefix, format;
    std::uint64_t foreign_count = 0;  // names that are no data file's
    std::vector<std::string> foreign; // the first of them
};

// `reactor`: its heartbeats go on while a folder of millions is listed; nullptr = there is none.
Expected<FolderScan> scan_split(storage::Backend& backend, Split split, engine::Reactor* reactor = nullptr);

} // namespace feedbench::dataset
