// The table of formats.
//
// Thread: any; constant. Owner: static. Units: none. Errors: an unknown name lists the known ones.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

std::span<const Format* const> all_formats();
Expected<const Format*> find_format(std::string_view name);

} // namespace feedbench::formats
