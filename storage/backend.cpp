#include "storage/backend.hpp"

#include <cerrno>

namespace feedbench::storage {

namespace {
Error not_offered(const Backend& backend, const char* operation, const std::string& path) {
    return storage_error(operation, backend.display_path(path), EOPNOTSUPP,
                         "the backend '" + backend.capabilities().name + "' does not offer this");
}
} // namespace

Expected<FileStat> Backend::stat(const std::string& path) { return not_offered(*this, "stat", path); }
Status Backend::list(const std::string& path, const std::function<bool(std::string_view, bool)>&) {
    return not_offered(*this, "list", path);
}
Status Backend::make_directories(const std::string& path) { return not_offered(*this, "mkdir", path); }
Status Backend::remove(const std::string& path) { return not_offered(*this, "remove", path); }
Status Backend::remove_leftovers(const std::string&) { return {}; }

Status Backend::settle() { return {}; }
Status Backend::write_file(const std::string& path, std::span<const std::byte>) {
    return not_offered(*this, "write", path);
}
Expected<std::string> Backend::read_file(const std::string& path, std::uint64_t) {
    return not_offered(*this, "read", path);
}
Expected<FilesystemFacts> Backend::facts(const std::string& path) { return not_offered(*this, "statfs", path); }
std::vector<EndpointCounters> Backend::statistics() const { return {}; }
CacheDrop Backend::cache_drop() const { return {}; }
std::string Backend::local_path(const std::string&) const { return {}; }
void Backend::cancel_pending() {}

Error operation_error(const Backend& backend, const engine::IoOp& op, const std::string& path) {
    const bool has_place = op.kind == engine::IoKind::read || op.kind == engine::IoKind::write;
    return storage_error(std::string(engine::io_kind_name(op.kind)), backend.display_path(path),
                         op.result < 0 ? static_cast<int>(-op.result) : 0, op.message,
                         has_place ? static_cast<std::int64_t>(op.offset) : -1);
}

} // namespace feedbench::storage
