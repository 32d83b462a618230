// The commands of `feedfs`: one function each that declares its options and answers what runs it.
//
// Thread: main thread. Owner: main.cpp; options live in what the returned function captures. Units: bytes. Errors: a
// body returns the exit code (DESIGN section 9: 0, 2 usage or configuration, 3 storage, 130 interrupted) and has said
// what went wrong through report().
#pragma once

#include <functional>
#include <string_view>

#include "harness/types/error.hpp"

namespace CLI {
class App;
}

namespace feedbench::feedfs::tool {

using Body = std::function<int()>;

struct Command {
    std::string_view name;
    Body (*add)(CLI::App& command);
    std::string_view summary;
};

Body add_mkfs(CLI::App& command);
Body add_mount(CLI::App& command);
Body add_stat(CLI::App& command);
Body add_ls(CLI::App& command);
Body add_cat(CLI::App& command);
Body add_import(CLI::App& command);
Body add_export(CLI::App& command);
Body add_fsck(CLI::App& command);
Body add_compact(CLI::App& command);
Body add_tier(CLI::App& command);

// "feedfs: <error>" on stderr; its exit code.
int report(const Error& error);
// "feedfs: warning: ..." on stderr.
void warn(std::string_view sentence);

} // namespace feedbench::feedfs::tool
