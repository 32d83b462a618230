// What a page carries with it: our styles and script, and uPlot's, as they were when the binary was built.
//
// Thread: any (constants). Owner: the binary. Units: none. Errors: none; a build without npm stops with a message.
// Source: cmake/embed.cmake writes the definitions; uPlot 1.6 from npm, MIT, pinned in assets/package-lock.json.
#pragma once

#include <string_view>

namespace feedbench::html::assets {

extern const std::string_view page_css, page_js;                  // assets/*.css, assets/*.js
extern const std::string_view uplot_css, uplot_js, uplot_licence; // npm

} // namespace feedbench::html::assets
