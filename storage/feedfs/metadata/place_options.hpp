// The options of a metadata place, taken one by one by its engine; what nobody took is refused.
//
// Thread: its own. Owner: the caller keeps the place. Units: as the option's name says. Errors: kind config, with the
// option's name and what was expected. Source: engine.hpp (MetadataPlace::options).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

class PlaceOptions {
  public:
    explicit PlaceOptions(const MetadataPlace& place) : place_(place), taken_(place.options.size(), false) {}
    // Leaves `value` as it is where the option is not given.
    void take(std::string_view name, std::uint64_t& value);
    void take(std::string_view name, std::uint32_t& value);
    void take(std::string_view name, std::string& value);
    Status check() const; // after the last take

  private:
    const std::string* find(std::string_view name);
    const MetadataPlace& place_;
    std::vector<bool> taken_;
    std::string names_; // of what can be given, for the message
    std::string complaint_;
};

} // namespace feedbench::feedfs
