// null: nothing is stored and every answer comes at once. It measures what the client itself costs, and it is the
// shortest backend: copy it to write your own. The contract is in backend.hpp and engine/io_op.hpp; the line for the
// table in registry.cpp.
#include <algorithm>
#include <array>
#include <cerrno>

#include "harness/types/option_reader.hpp"
#include "storage/costly_reads.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

class NullBackend final : public Backend {
  public:
    NullBackend() {
        capabilities_.name = "null";
        capabilities_.has_content = false; // so nobody checks what was read
        capabilities_.async = false;       // submit never answers pending
        capabilities_.virtual_time = true; // no clock, no thread, no kernel
    }
    const Capabilities& capabilities() const override { return capabilities_; }

    Submit submit(IoOp& op) override {
        op.result = 0;
        switch (op.kind) {
        case IoKind::open: // any file exists and is as large as the caller's plan says
        case IoKind::create:
            op.opened = std::make_unique<engine::File>();
            op.opened->size_bytes = op.kind == IoKind::open ? op.size_hint : 0;
            break;
        case IoKind::read: { // the buffer is not touched: a read costs nothing but the call
            const std::uint64_t size = op.file->size_bytes;
            const std::uint64_t left = op.offset < size ? size - op.offset : 0;
            op.result = static_cast<std::int64_t>(op.bytes < left ? op.bytes : left);
            break;
        }
        case IoKind::write:
            op.file->size_bytes = std::max(op.file->size_bytes, op.offset + op.bytes);
            op.result = static_cast<std::int64_t>(op.bytes);
            break;
        case IoKind::commit:
            if (op.size_hint > op.file->size_bytes) op.result = -EINVAL;
            break;
        case IoKind::flush:
        case IoKind::close:
            break;
        }
        return Submit::done;
    }

    Expected<FilesystemFacts> facts(const std::string&) override {
        FilesystemFacts facts;
        facts.type = "null";
        facts.free_bytes = facts.total_bytes = ~std::uint64_t{0} >> 1; // never the reason why a dataset does not fit
        return facts;
    }
    Status make_directories(const std::string&) override { return {}; }
    CacheDrop cache_drop() const override {
        return [](const std::string&) { return DropOutcome::dropped; }; // there is none
    }
    std::string display_path(const std::string& path) const override { return "null:" + path; }

  private:
    Capabilities capabilities_;
};

} // namespace

std::span<const Option> null_options() {
    static constexpr std::array<Option, 1> options{{
        {"copy", OptionType::size_bytes, "bytes", "0",
         "reads copy into the buffer, from so much memory in turn: what a page cache costs; 0 = the buffer is not "
         "touched, as with direct I/O"},
    }};
    return options;
}

Expected<std::unique_ptr<Backend>> make_null_backend(const BackendRequest& request) {
    OptionReader reader(null_options(), request.options, request.uri);
    const std::uint64_t bytes = reader.bytes("copy");
    if (auto status = reader.status(); !status) return status.error();
    std::unique_ptr<Backend> null = std::make_unique<NullBackend>();
    if (bytes == 0) return null;
    auto source = CopySource::make(bytes);
    if (!source) return source.error();
    return make_costly_reads(std::move(null), {.source = std::move(*source), .look = {}}, *request.reactor);
}

} // namespace feedbench::storage
