// Text that is safe to stand in a page: what a file, a path or a host name holds is never markup and never script.
//
// Thread: any (pure functions). Owner: none. Units: none. Errors: none. Source: HTML standard, "restrictions for
// contents of script elements"; ECMA-404.
#pragma once

#include <string>
#include <string_view>

namespace feedbench::html {

// For element content and for attribute values in double quotes. Control characters become U+FFFD.
std::string escape(std::string_view text);
// JSON text that may stand inside <script type="application/json">: no "<", no "&", no U+2028 is left in it, and it
// still means the same.
std::string script_json(std::string_view json);

} // namespace feedbench::html
