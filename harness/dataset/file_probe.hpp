// A look at one file outside measured time: opened, a few small pieces read, closed; one operation after another.
//
// Thread: reactor thread, outside of Reactor::run (each operation runs the loop until it is there). Owner: the caller.
// Units: bytes. Errors: storage_error with path and offset; a piece beyond the end of the file is one as well.
// Source: DESIGN section 3 (adopt and the spot check look into files). Direct I/O is served through an aligned buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "formats/format.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/types/error.hpp"
#include "storage/backend.hpp"

namespace feedbench::dataset {

// Where files are looked at. `reactor` may be left out for a backend that never answers pending.
struct Storage {
    storage::Backend& backend;
    engine::Reactor* reactor = nullptr;
};

class FileProbe {
  public:
    static Expected<FileProbe> open(Storage storage, std::string path);
    std::uint64_t size_bytes() const { return file_->size_bytes; }
    Status read(std::uint64_t offset, std::span<std::byte> out);
    // What the format says that the file holds; `expected` may have no dims.
    Expected<FileShape> inspect(const formats::Format& format, const FileShape& expected);

  private:
    Expected<std::shared_ptr<const formats::IndexBytes>> read_index(const formats::Format& format) const;
    FileProbe(Storage storage, std::string path, std::unique_ptr<engine::File> file)
        : storage_(storage), path_(std::move(path)), file_(std::move(file)) {}
    Storage storage_;
    std::string path_;
    std::unique_ptr<engine::File> file_;
};

} // namespace feedbench::dataset
