// s3: objects of a bucket as files. What is asked of the store is in storage/s3/ (the client library), which GETs serve
// which reads in s3_reading, how parts become an object in s3_writing. Folders are what keys have before a '/'; none is
// ever made.
#include <cerrno>

#include "storage/registry.hpp"
#include "storage/s3/address.hpp"
#include "storage/s3/client.hpp"
#include "storage/s3_writing.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

class S3Backend final : public Backend {
  public:
    S3Backend(s3::Config config, s3::Address address, std::unique_ptr<s3::Client> client,
              std::unique_ptr<s3::Engine> engine)
        : config_(std::move(config)), address_(std::move(address)), client_(std::move(client)),
          buffers_(config_.part_bytes), heads_(config_.open_bytes),
          engine_(std::move(engine)), place_{config_, *engine_}, next_writer_(config_.rank) {
        capabilities_.name = "s3";
        capabilities_.direct_io = true; // nothing of it goes through this host's page cache
        capabilities_.object_semantics = true;
        if (!config_.verify_tls) capabilities_.note = "certificates of the object store were not checked";
    }
    const Capabilities& capabilities() const override { return capabilities_; }

    Submit submit(IoOp& op) override {
        switch (op.kind) {
        case IoKind::open: {
            const auto endpoint = static_cast<unsigned>(op.client % config_.endpoints.size());
            return S3Reading::open(std::make_unique<S3Reading>(place_, heads_, address_.key(op.path), endpoint), op);
        }
        case IoKind::create: {
            const auto endpoint = static_cast<unsigned>(next_writer_++ % config_.endpoints.size());
            op.opened =
                std::make_unique<S3Writing>(place_, *client_, buffers_, address_.key(op.path), endpoint, op.size_hint);
            op.result = 0;
            return Submit::done;
        }
        case IoKind::read:
            if (auto* file = dynamic_cast<S3Reading*>(op.file)) return file->read(op);
            return refuse(op, "the object is being written");
        case IoKind::write:
            if (auto* file = dynamic_cast<S3Writing*>(op.file)) return file->write(op);
            return refuse(op, "the object is open for reading");
        case IoKind::commit:
            if (auto* file = dynamic_cast<S3Writing*>(op.file)) return file->commit(op);
            return refuse(op, "the object is open for reading");
        case IoKind::flush: // an object that was not committed is nowhere, one that was is on the store's stable
                            // storage
            op.result = 0;
            return Submit::done;
        case IoKind::close:
            if (auto* file = dynamic_cast<S3Writing*>(op.file)) return file->close(op);
            op.result = 0;
            return Submit::done;
        }
        return Submit::done;
    }
    void cancel_pending() override { engine_->cancel_all(); }

    Expected<FileStat> stat(const std::string& path) override {
        const std::string key = address_.key(path);
        Error missing = storage_error("stat", display_path(path), ENOENT, "there is no such object");
        if (!key.empty()) {
            auto found = client_->head(key);
            if (found) return FileStat{found->size_bytes, false};
            if (found.error().errno_value != ENOENT) return found.error();
            missing = found.error();
        }
        bool is_folder = key.empty(); // a bucket that is there is one
        auto listed = client_->list({.prefix = address_.folder(path), .page_size = 1}, [&](const s3::ListEntry&) {
            is_folder = true;
            return false;
        });
        if (!listed) return listed.error();
        if (!is_folder) return missing;
        return FileStat{0, true};
    }
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override {
        const std::string prefix = address_.folder(path);
        return client_->list({.prefix = prefix, .folders = true}, [&](const s3::ListEntry& entry) {
            std::string_view name = entry.key;
            if (!name.starts_with(prefix)) return true;
            name.remove_prefix(prefix.size());
            if (name.ends_with('/')) name.remove_suffix(1); // of a folder, or of a marker that other tools make
            return name.empty() || each(name, entry.key.ends_with('/'));
        });
    }
    Status make_directories(const std::string&) override { return {}; }
    Status remove(const std::string& path) override { return client_->remove(address_.key(path)); }
    Status remove_leftovers(const std::string& path) override {
        auto aborted = client_->abort_uploads(address_.folder(path));
        if (aborted || aborted.error().errno_value == EOPNOTSUPP) return {}; // a server that cannot list them
        return aborted.error();
    }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        auto written = client_->put(address_.key(path), content);
        return written ? Status{} : Status(written.error());
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override {
        const std::string key = address_.key(path);
        constexpr std::uint64_t kFirst = 1 << 20;
        std::string content(std::min(limit_bytes, kFirst) + 1, '\0'); // one more tells whether it is too large
        s3::ObjectInfo info;
        auto got = client_->get(key, 0, std::as_writable_bytes(std::span(content)), {}, &info);
        if (!got) return got.error();
        if (info.size_bytes > limit_bytes)
            return storage_error("read", display_path(path), EFBIG,
                                 "it has " + std::to_string(info.size_bytes) + " bytes, at most " +
                                     std::to_string(limit_bytes) + " are expected");
        content.resize(*got);
        if (*got == info.size_bytes) return content;
        content.resize(info.size_bytes);
        auto rest = client_->get(key, *got, std::as_writable_bytes(std::span(content)).subspan(*got), info.etag);
        if (!rest) return rest.error();
        return content;
    }
    Expected<FilesystemFacts> facts(const std::string&) override {
        FilesystemFacts facts;
        facts.type = "s3";
        for (const s3::Endpoint& endpoint : config_.endpoints)
            facts.device += (facts.device.empty() ? "" : ",") + endpoint.url();
        facts.free_bytes = facts.total_bytes = ~std::uint64_t{0} >> 1; // no S3 store says
        facts.is_network = true;
        facts.server = config_.endpoints.front().host;
        if (const std::size_t colon = facts.server.rfind(':');
            colon != std::string::npos && facts.server.find(']', colon) == std::string::npos)
            facts.server.resize(colon);
        facts.mount_options = "bucket " + address_.bucket + ", region " + config_.region +
                              (config_.addressing == s3::Addressing::path ? ", path-style" : ", virtual-host") + ", " +
                              config_.endpoints.front().scheme + (config_.credentials.anonymous ? ", unsigned" : "");
        facts.filesystem_id = std::hash<std::string>{}(facts.device + "/" + address_.bucket);
        return facts;
    }
    std::vector<EndpointCounters> statistics() const override {
        std::vector<EndpointCounters> all = client_->statistics();
        for (std::size_t i = 0; i < all.size(); ++i) all[i].merge(engine_->statistics()[i]);
        return all;
    }
    CacheDrop cache_drop() const override {
        return [](const std::string&) { return DropOutcome::dropped; }; // this client keeps nothing
    }
    std::string display_path(const std::string& path) const override {
        const std::string key = address_.key(path);
        return "s3://" + address_.bucket + (key.empty() ? "" : "/" + key);
    }

  private:
    static Submit refuse(IoOp& op, const char* why) {
        op.result = -EBADF;
        op.message = why;
        return Submit::done;
    }

    Capabilities capabilities_;
    const s3::Config config_;
    const s3::Address address_;
    std::unique_ptr<s3::Client> client_;
    S3Buffers buffers_, heads_;
    std::unique_ptr<s3::Engine> engine_;
    const S3Place place_;
    std::uint64_t next_writer_; // spreads files over endpoints
};

} // namespace

std::span<const Option> s3_options() { return s3::config_options(); }
std::string s3_unavailable() { return s3::Client::unavailable(); }

Expected<std::unique_ptr<Backend>> make_s3_backend(const BackendRequest& request) {
    auto address = s3::parse_address(request.root);
    if (!address) return address.error();
    auto config = s3::make_config(request.options, s3::process_environment());
    if (!config) return config.error();
    config->seed = request.seed;
    config->rank = request.rank;
    auto client = s3::Client::make(*config, address->bucket);
    if (!client) return client.error();
    auto engine = s3::Engine::make(*request.reactor, *config, address->bucket);
    if (!engine) return engine.error();
    return std::unique_ptr<Backend>(
        std::make_unique<S3Backend>(std::move(*config), std::move(*address), std::move(*client), std::move(*engine)));
}

} // namespace feedbench::storage
