#include "storage/feedfs/tool/copy_end.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "storage/feedfs/tool/interruption.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

int tell_end(const Progress& progress, std::string_view verb, bool quiet) {
    const Amount copied = progress.done(), skipped = progress.skipped();
    const double elapsed = std::max(progress.elapsed_s(), 1e-9);
    if (!quiet || is_interrupted())
        std::printf("%s%s files, %s %s in %s (%.0f files/s, %s/s); %s files were there already\n",
                    is_interrupted() ? "interrupted: " : "", count_text(copied.files).c_str(),
                    size_text(copied.bytes).c_str(), std::string(verb).c_str(), duration_text(elapsed).c_str(),
                    static_cast<double>(copied.files) / elapsed,
                    size_text(static_cast<std::uint64_t>(static_cast<double>(copied.bytes) / elapsed)).c_str(),
                    count_text(skipped.files).c_str());
    if (!is_interrupted()) return 0;
    std::printf("the same command goes on where this one stopped\n");
    return exit_code(ErrorKind::interrupted);
}

} // namespace feedbench::feedfs::tool
