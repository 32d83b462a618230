// The page kit: one self-contained HTML page, made of a shell, styles, one script and a block of data.
//
// Thread: any (pure functions). Owner: the caller. Units: in the texts. Errors: none. Source: DESIGN sections 9 and 10;
// uPlot 1.6 (MIT) is fetched from npm when the binary is built. A page asks nothing of any network, which a content
// security policy in it enforces; it is light or dark as its reader likes, can be read on a phone and in print, and
// without a script everything but the plots is there.
//
// How a page is made (compare and report do it so):
//   html::Page page;
//   page.title = "unet3d, 8 accelerators";
//   page.body += html::section("rates", "Rates", html::table(t) + html::footnotes("rates-notes", notes));   //
//   table.hpp page.body += html::figure(plot); // plot.hpp page.plots.push_back(plot); file << html::render(page);
// Texts given to the pieces (table.hpp, plot.hpp, pieces.hpp) are plain and are escaped there; what is written into a
// body by hand goes through escape() of text.hpp.
#pragma once

#include <string>
#include <vector>

#include "reporters/html/plot.hpp"

namespace feedbench::html {

struct Page {
    std::string title; // of the window and of the page
    std::string lead;  // one line below it; plain text
    std::string body;  // HTML
    std::vector<Plot> plots;
};

std::string render(const Page& page);

// A page of several parts of which one is looked at at a time, with an overview above: put each into part(), and
// chooser() before them. Links to "#<id>" choose a part. Without a script all are shown, one below the other.
struct PartName {
    std::string id, name;
};
std::string chooser(const std::string& label, const std::vector<PartName>& parts);
std::string part(const std::string& id, const std::string& body);

} // namespace feedbench::html
