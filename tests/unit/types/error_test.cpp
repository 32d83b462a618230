#include <catch2/catch.hpp>

#include <cerrno>

#include "harness/types/error.hpp"

using namespace feedbench;

TEST_CASE("one message names host, rank, accelerator, operation, path, offset and errno") {
    Error error = storage_error("read", "/data/x.npz", EIO, "the disk says no", 262144);
    error.rank = 2;
    error.host = "h1";
    error.accelerator = 5;
    CHECK(error.describe() == "rank 2 (host h1, accelerator 5): read /data/x.npz at offset 262144: Input/output error "
                              "(EIO): the disk says no");
    CHECK(config_error("too few samples").describe() == "too few samples");
}

TEST_CASE("exit codes are those of the documentation") {
    CHECK(exit_code(ErrorKind::usage) == 2);
    CHECK(exit_code(ErrorKind::config) == 2);
    CHECK(exit_code(ErrorKind::storage) == 3);
    CHECK(exit_code(ErrorKind::format) == 3);
    CHECK(exit_code(ErrorKind::stalled) == 3);
    CHECK(exit_code(ErrorKind::invalid) == 4);
    CHECK(exit_code(ErrorKind::interrupted) == 130);
}

TEST_CASE("Expected holds a value or an error") {
    Expected<int> value(3), failed(usage_error("no"));
    CHECK(value);
    CHECK(*value == 3);
    CHECK_FALSE(failed);
    CHECK(failed.error().message == "no");
    CHECK(Status{});
}
