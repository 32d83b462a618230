// The folder of one run: made before the run under a name that says "partial", renamed when the result is whole.
//
// Thread: main thread, rank 0 only. Owner: cmd_run. Units: bytes. Errors: said before the run starts (case F5).
// Source: DESIGN section 9: <results-dir>/<type>/<model>/run/<YYYYMMDD_HHMMSS>/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::cli {

class ResultsFolder {
  public:
    // Makes <root>/training/<model>/run/<stamp>.partial with a result.json whose status is "incomplete": should the job
    // be killed, what is left says so by itself. `result` gets its run_id.
    static Expected<ResultsFolder> create(const std::string& root, RunResult& result);

    const std::filesystem::path& path() const { return path_; } // .partial until finish()
    const std::filesystem::path& final_path() const { return final_path_; }
    const std::string& run_id() const { return run_id_; }
    Status write_partial(const RunResult& result) const;
    Status write_text(const std::string& name, const std::string& text) const;
    // Writes every report and gives the folder its name.
    Status finish(const RunResult& result);
    // Nothing was measured: nothing is left behind, not even the parent folders that were made for it.
    void discard();

  private:
    Status make(const std::string& root, RunResult& result);
    std::filesystem::path path_, final_path_;
    std::vector<std::filesystem::path> made_; // parents that were not there before, deepest first
    std::string run_id_;
};

} // namespace feedbench::cli
