// What a batch does to an ordered key space, written once for the engines that do it in this process (LMDB, memory).
//
// Thread: the key space's. Owner: the caller. Units: none. Errors: those of the key space, passed on; what was changed
// before is then the caller's to undo (LMDB: the transaction is aborted). Source: engine.hpp.
#pragma once

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

// One writer's view of all keys, changes included.
class KeySpace {
  public:
    virtual ~KeySpace() = default;
    virtual Expected<std::optional<std::string_view>> get(std::string_view key) = 0; // valid until the next change
    virtual Status put(std::string_view key, std::string_view value) = 0;
    virtual Status erase(std::string_view key) = 0;                             // absent: no error
    virtual Status erase_range(std::string_view from, std::string_view to) = 0; // empty `to`: to the end
    virtual Expected<bool> is_empty(std::string_view from, std::string_view to) = 0;
};

Expected<Outcome> apply_batch(KeySpace& keys, const Batch& batch);

inline constexpr std::size_t kKeyBytesMax = 511;
inline constexpr std::size_t kValueBytesMax = std::size_t{64} << 20;
// EINVAL for a key or value that not every engine takes: refused before anything is applied, by all engines alike.
Status check_sizes(std::span<const Batch> batches);

// bytes += deltas, element by element.
std::string add_counters(std::string_view bytes, std::string_view deltas);
std::string raise_counters(std::string_view bytes, std::string_view least);

} // namespace feedbench::feedfs
