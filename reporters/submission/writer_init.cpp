// `submit init`: folders, what they say about themselves, descriptions of systems.
#include <cerrno>
#include <fmt/format.h>
#include <system_error>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/submission/description.hpp"
#include "reporters/submission/findings.hpp"
#include "reporters/submission/new_files.hpp"
#include "reporters/submission/writer.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// A name becomes a folder: 3.0 asks for a dash in place of what a file's name cannot hold.
Status check_name(const std::string& what, const std::string& name) {
    if (name.empty() || name.starts_with('.') || name.find_first_of("/ \t\n\r") != std::string::npos)
        return usage_error(
            fmt::format("{} '{}' becomes a folder's name: no slash, no blank, no dot in front, not empty", what, name));
    return {};
}

std::string readme(const NewTree& tree) {
    return fmt::format("# {}: {} division, edition {}\n\n**{}.**\n\n"
                       "The runs below were measured by feedbench, not by the benchmark code of MLCommons. The layout, "
                       "the files and the\n"
                       "rules are those of MLPerf Storage edition {}, as feedbench's own checker knows them. MLPerf is "
                       "a trademark of\n"
                       "MLCommons: a result may be called an MLPerf result only after MLCommons has reviewed it, and "
                       "the CLOSED division\n"
                       "asks for runs of its own code.\n",
                       tree.organisation, tree.division, tree.edition, kStatement, tree.edition);
}

std::string code_readme() {
    return fmt::format(
        "# Code\n\n{}.\n\nThe runs were made with feedbench " FEEDBENCH_VERSION
        ". Put its source of that version here, with the commit that was\nbuilt. The CLOSED division of MLPerf "
        "Storage asks for the benchmark code of MLCommons in this place.\n",
        kStatement);
}

Status check_same_tree(const NewTree& tree) {
    const fs::path path = tree.root / kTreeFile;
    if (!is_there(path)) return {};
    const auto file = ingest::read_yaml(path);
    if (!file) return file.error();
    for (const auto& [key, wanted] : {std::pair{"edition", tree.edition}, std::pair{"organisation", tree.organisation}})
        if (const std::string found = ingest::text_at(*file, key); found != wanted)
            return usage_error(
                fmt::format("{} is a tree of {} '{}', not '{}'", tree.root.string(), key, found, wanted));
    return {};
}

Status place_description(const NewTree& tree, const fs::path& submitter, const EditionFacts& edition) {
    if (tree.description.empty()) return {};
    const std::string wanted = fill(find_row(What::description, edition, kAnyKind)->pattern, {{"system", tree.system}});
    auto text = read_named(tree.description);
    if (!text) return text.error();
    const bool is_json = tree.description.extension() == ".json" || tree.description.extension() == ".JSON";
    if (wanted.ends_with(".json") && !is_json) {
        const auto yaml = ingest::read_yaml(tree.description);
        if (!yaml) return yaml.error();
        *text = description_json(*yaml);
    }
    return write_new(submitter / wanted, *text);
}

Status place_pdf(const NewTree& tree, const fs::path& submitter, const EditionFacts& edition) {
    if (tree.pdf.empty()) return {};
    const auto text = read_named(tree.pdf, std::uintmax_t{1} << 30);
    if (!text) return text.error();
    if (!text->starts_with("%PDF-")) return usage_error(tree.pdf.string() + " is no PDF: it does not begin with %PDF-");
    return write_new(submitter / fill(find_row(What::pdf, edition, kAnyKind)->pattern, {{"system", tree.system}}),
                     *text);
}

} // namespace

Status init_tree(const NewTree& tree) {
    const EditionFacts* edition = find_edition(tree.edition);
    if (edition == nullptr)
        return usage_error(fmt::format("there are no rules of edition '{}': there are {}", tree.edition,
                                       edition_names(kEveryEdition)));
    if (!division_of(tree.division)) return usage_error("the division is closed or open, not '" + tree.division + "'");
    if (Status named = check_name("the organisation", tree.organisation); !named) return named;
    if (!tree.system.empty() || !tree.description.empty() || !tree.pdf.empty())
        if (Status named = check_name("the system", tree.system); !named) return named;
    if (Status same = check_same_tree(tree); !same) return same;

    const fs::path submitter = tree.root / tree.division / tree.organisation;
    for (const char* folder : {"results", "systems"})
        if (Status made = make_folders(submitter / folder); !made) return made;
    if (!is_there(tree.root / kTreeFile))
        if (Status written =
                write_new(tree.root / kTreeFile,
                          fmt::format("# Made by feedbench submit init. {}.\nedition: \"{}\"\norganisation: {}\n",
                                      kStatement, tree.edition, tree.organisation));
            !written)
            return written;
    if (!is_there(submitter / "README.md"))
        if (Status written = write_new(submitter / "README.md", readme(tree)); !written) return written;
    if (const LayoutRow* code = find_row(What::code, *edition, kAnyKind); code != nullptr) {
        if (Status made = make_folders(submitter / code->pattern); !made) return made;
        if (!is_there(submitter / code->pattern / "README.md"))
            if (Status written = write_new(submitter / code->pattern / "README.md", code_readme()); !written)
                return written;
    }
    if (Status placed = place_description(tree, submitter, *edition); !placed) return placed;
    if (Status placed = place_pdf(tree, submitter, *edition); !placed) return placed;
    return write_reports(tree.root);
}

} // namespace feedbench::submission
