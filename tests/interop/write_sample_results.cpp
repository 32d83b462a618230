// Writes the result.json of every sample result into the folder given: what result_schema.py validates.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "reporters/result_json.hpp"
#include "tests/unit/reporters/samples.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_sample_results FOLDER\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    for (const auto& [name, result] : feedbench::reporters::test::samples()) {
        std::ofstream file(folder / (name + ".json"));
        file << feedbench::reporters::to_json(result);
        if (!file.flush()) return 1;
    }
    return 0;
}
