// Blocking calls on one bucket: what namespaces, tools and feedfs' object tier use.
//
// Thread: any, several at once; each call may block until its last retry. Owner: the maker. Units: bytes.
// Errors: storage_error with operation, "s3://bucket/key", errno (ENOENT, EACCES, ETIMEDOUT, ...) and one sentence;
// what can be retried has been, Config::attempts times. Source: Amazon S3 API Reference (REST); docs/s3.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/types/endpoint_counters.hpp"
#include "storage/s3/config.hpp"

namespace feedbench::storage::s3 {

struct ObjectInfo {
    std::uint64_t size_bytes = 0;
    std::string etag; // with its quotes; "" in listings of common prefixes
};
struct ListEntry {
    std::string key;        // whole key; of a common prefix with its '/' at the end
    bool is_prefix = false; // only where a delimiter was given
    ObjectInfo object;
};
struct ListRequest {
    std::string prefix;
    bool folders = false;         // '/' ends a name: one level, the rest as common prefixes
    std::string start_after = {}; // only keys behind this one
    unsigned page_size = 1000;
};

class Client {
  public:
    // Empty where this build has libcurl; else the sentence to print.
    static std::string unavailable();
    static Expected<std::unique_ptr<Client>> make(Config config, std::string bucket);
    virtual ~Client() = default;

    virtual Expected<ObjectInfo> head(const std::string& key) = 0;
    // Reads into all of `into`, short only at the object's end; answers how many. `if_match`: an ETag it must still
    // have (ESTALE else). `info`, if given, learns size and ETag.
    virtual Expected<std::uint64_t> get(const std::string& key, std::uint64_t offset, std::span<std::byte> into,
                                        std::string_view if_match = {}, ObjectInfo* info = nullptr) = 0;
    // One PUT; visible as a whole or not at all.
    virtual Expected<ObjectInfo> put(const std::string& key, std::span<const std::byte> content) = 0;
    // `next` fills what it is given, in order, and says how much it filled (less = the end). Parts of
    // Config::part_bytes, sent one after another; anything that fails aborts the upload, so that nothing is left. One
    // part: a plain PUT.
    virtual Expected<ObjectInfo> put_parts(const std::string& key,
                                           const std::function<Expected<std::size_t>(std::span<std::byte>)>& next) = 0;
    // Streams pages; `each` answers false to end. In the order of keys.
    virtual Status list(const ListRequest& request, const std::function<bool(const ListEntry&)>& each) = 0;
    // Of what is not there: success, as S3 has it.
    virtual Status remove(const std::string& key) = 0;
    // Ends all multipart uploads below `prefix` (exact: of that very key) that were begun and never finished; answers
    // how many.
    virtual Expected<std::uint64_t> abort_uploads(const std::string& prefix, bool exact = false) = 0;

    virtual std::vector<EndpointCounters> statistics() const = 0;
    virtual const Config& config() const = 0;
    virtual const std::string& bucket() const = 0;
};

} // namespace feedbench::storage::s3
