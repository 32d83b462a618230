// The s3 backend in front of a store in memory.
#pragma once

#include <fstream>

#include "tests/support/backend_rig.hpp"
#include "tests/unit/s3/object_store.hpp"

namespace feedbench::test {

using StorageOptions = std::map<std::string, std::string>;

struct S3Rig {
    ObjectStore store;
    TemporaryFolder folder{"/tmp"};
    std::unique_ptr<Rig> rig;

    explicit S3Rig(StorageOptions options = {}, const std::string& uri = "s3://bucket/p") {
        std::ofstream(folder.path + "/keys")
            << "AWS_ACCESS_KEY_ID=" << kAccessKey << "\nAWS_SECRET_ACCESS_KEY=" << kSecretKey << "\n";
        storage::BackendRequest request;
        request.uri = uri;
        request.options = std::move(options);
        request.options.try_emplace("endpoint_url", store.url());
        request.options.try_emplace("credentials_file", folder.path + "/keys");
        request.options.try_emplace("region", "us-east-1");
        request.options.try_emplace("back_off_first", "1ms");
        request.options.try_emplace("back_off_most", "4ms");
        rig = std::make_unique<Rig>(request);
    }
    std::vector<std::string> gets() const {
        std::vector<std::string> ranges;
        for (const std::string& line : store.seen())
            if (line.starts_with("GET ")) ranges.push_back(line.substr(line.rfind(' ') + 1));
        return ranges;
    }
    std::uint64_t retries() const {
        std::uint64_t count = 0;
        for (const EndpointCounters& counters : rig->backend->statistics())
            for (const std::uint64_t each : counters.retry_count) count += each;
        return count;
    }

    std::string message; // of the last operation that failed
    Task<std::int64_t> perform(engine::IoOp& op) {
        co_await rig->reactor->perform(*rig->backend, op);
        if (op.result < 0) message = op.message;
        co_return op.result;
    }
    Task<std::int64_t> open(std::string path, std::unique_ptr<engine::File>& file, std::uint64_t size_hint = 0,
                            engine::IoKind kind = engine::IoKind::open) {
        engine::IoOp op;
        op.kind = kind;
        op.path = path;
        op.size_hint = size_hint;
        const std::int64_t result = co_await perform(op);
        file = std::move(op.opened);
        co_return result;
    }
    Task<std::int64_t> read(engine::File& file, std::uint64_t offset, std::span<char> into) {
        engine::IoOp op;
        op.kind = engine::IoKind::read;
        op.file = &file;
        op.offset = offset;
        op.data = reinterpret_cast<std::byte*>(into.data());
        op.bytes = into.size();
        const std::int64_t result = co_await perform(op);
        co_return result;
    }
    Task<std::int64_t> write(engine::File& file, std::uint64_t offset, std::span<char> from) {
        engine::IoOp op;
        op.kind = engine::IoKind::write;
        op.file = &file;
        op.offset = offset;
        op.data = reinterpret_cast<std::byte*>(from.data());
        op.bytes = from.size();
        const std::int64_t result = co_await perform(op);
        co_return result;
    }
    Task<std::int64_t> finish(engine::IoKind kind, engine::File& file, std::uint64_t size = 0) {
        engine::IoOp op;
        op.kind = kind;
        op.file = &file;
        op.size_hint = size;
        const std::int64_t result = co_await perform(op);
        co_return result;
    }
};

} // namespace feedbench::test
