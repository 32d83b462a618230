#include "harness/cluster/mpi_threads.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace feedbench::cluster {
namespace {

bool wanted(const std::vector<std::string>& arguments) {
    std::vector<const char*> pointers;
    for (const std::string& one : arguments) pointers.push_back(one.c_str());
    return wants_mpi_threads(static_cast<int>(pointers.size()), pointers.data());
}

// The variable as the test wants it; afterwards as it was.
struct Environment {
    std::optional<std::string> before;
    explicit Environment(const char* value) {
        if (const char* was = std::getenv("FEEDBENCH_MPI_THREADS")) before = was;
        value ? setenv("FEEDBENCH_MPI_THREADS", value, 1) : unsetenv("FEEDBENCH_MPI_THREADS");
    }
    ~Environment() { before ? setenv("FEEDBENCH_MPI_THREADS", before->c_str(), 1) : unsetenv("FEEDBENCH_MPI_THREADS"); }
};

// A folder of its own: other builds of this test may run at the same time.
struct Folder {
    std::string path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "feedbench-threads.XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream stream(path + "/" + name);
        stream << text;
        stream.close();
        REQUIRE(stream);
        return path + "/" + name;
    }
};

} // namespace

TEST_CASE("MPI is begun for several threads where MPI is to read the files, and nowhere else") {
    const Environment none(nullptr);
    CHECK_FALSE(wanted({"feedbench", "run", "unet3d_h100", "--data-dir", "/data"}));
    CHECK(wanted({"feedbench", "run", "unet3d_h100", "--data-dir", "mpiio:/data"}));
    CHECK(wanted({"feedbench", "run", "unet3d_h100", "-p", "storage.storage_options.collective=true"}));

    const Folder folder;
    const std::string placed = folder.file("placed.yaml", "dataset:\n  data_folder: mpiio:/data\n");
    const std::string together = folder.file("together.yml", "storage: {storage_options: {collective: true}}\n");
    const std::string plain = folder.file("plain.yaml", "dataset:\n  data_folder: /data\n");
    const std::string other = folder.file("placed.txt", "mpiio:");
    CHECK(wanted({"feedbench", "run", placed}));
    CHECK(wanted({"feedbench", "run", together}));
    CHECK_FALSE(wanted({"feedbench", "run", plain}));
    CHECK_FALSE(wanted({"feedbench", "run", other}));
    CHECK_FALSE(wanted({"feedbench", "run", "/no/such/file.yaml"}));
    CHECK_FALSE(wanted({"feedbench", "run", folder.path}));
    {
        const Environment single("single");
        CHECK_FALSE(wanted({"feedbench", "run", placed, "--data-dir", "mpiio:/data"}));
    }
    {
        const Environment multiple("multiple");
        CHECK(wanted({"feedbench", "run", plain}));
    }
}

} // namespace feedbench::cluster
