#include "harness/cli/gate_inputs.hpp"

#include <cerrno>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <set>

#include "harness/accelerator/steps_h5.hpp"
#include "reporters/gate/baseline.hpp"
#include "reporters/gate/step_blocks.hpp"
#include "reporters/ingest/find_results.hpp"
#include "reporters/result_json.hpp"

namespace feedbench::cli {

namespace {

namespace fs = std::filesystem;

// Whatever is wrong with a file that the command line named is wrong usage: exit code 2, not that of storage under
// test.
Error as_usage(Error error) {
    error.kind = ErrorKind::config;
    return error;
}

void take_steps(const RunResult& result, const fs::path& folder, gate::GateRun& run,
                std::vector<std::string>& warnings) {
    const std::string path = (folder / "steps.h5").string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return;
    std::uint64_t step_count = 0;
    for (const EpochResult& epoch : result.epochs)
        if (!epoch.evaluation) step_count += epoch.step_count;
    gate::StepBlocks blocks(step_count);
    const auto read = accelerator::read_steps(path, [&](std::span<const StepRecord> records) -> Status {
        blocks.add(records);
        return {};
    });
    if (read)
        gate::take_finer_parts(run, blocks.parts());
    else
        warnings.push_back(read.error().describe() + "; slices and epochs are used instead");
}

class InputReader {
  public:
    GateInputs found;
    explicit InputReader(bool steps) : steps_(steps) {}

    Status read(const std::string& input) {
        std::error_code code;
        if (!fs::exists(input, code))
            return config_error(
                "there is no such file or folder; expected a result, a folder of results, or a baseline", input);
        if (!fs::is_directory(input, code)) return read_file(input);
        const ingest::FoundResults inside = ingest::find_results(input);
        bool any = false;
        for (const ingest::RunFolder& folder : inside.runs) {
            if (folder.result.empty()) continue;
            any = true;
            if (Status status = read_file(folder.result); !status) return status;
        }
        if (any) return {};
        return read_newest_baseline(input);
    }

  private:
    Status read_file(const fs::path& path) {
        // The same file twice would make runs look steadier than they are.
        std::error_code code;
        if (!seen_.insert(fs::weakly_canonical(path, code)).second) {
            found.warnings.push_back(path.string() + " was given twice and counts once");
            return {};
        }
        auto text = read_whole_file(path);
        if (!text) return as_usage(text.error());
        if (gate::is_baseline(*text)) {
            auto baseline = gate::baseline_from_json(*text, path.string());
            if (!baseline) return as_usage(baseline.error());
            for (gate::GateRun& run : baseline->runs) found.runs.push_back(std::move(run));
            return {};
        }
        auto result = reporters::from_json(*text, path.string());
        if (!result) return as_usage(result.error());
        gate::GateRun run = gate::gate_run(*result, path.string());
        if (steps_) take_steps(*result, path.parent_path(), run, found.warnings);
        found.runs.push_back(std::move(run));
        return {};
    }

    // A folder of baselines of one key: the file names are time stamps.
    Status read_newest_baseline(const std::string& folder) {
        fs::path newest;
        std::error_code code;
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
            if (entry->path().extension() != ".json" ||
                (!newest.empty() && entry->path().filename() <= newest.filename()))
                continue;
            const auto text = read_whole_file(entry->path());
            if (text && gate::is_baseline(*text)) newest = entry->path();
        }
        if (newest.empty())
            return config_error("there is neither a result.json below this folder nor a baseline in it", folder);
        return read_file(newest);
    }

    bool steps_;
    std::set<fs::path> seen_;
};

} // namespace

Expected<std::string> read_whole_file(const fs::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return storage_error("open", path.string(), errno);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (file.bad()) return storage_error("read", path.string(), errno);
    return text;
}

Expected<GateInputs> read_gate_inputs(const std::vector<std::string>& inputs, bool steps) {
    InputReader reader(steps);
    for (const std::string& input : inputs)
        if (Status status = reader.read(input); !status) return status.error();
    return std::move(reader.found);
}

} // namespace feedbench::cli
