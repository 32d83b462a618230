// A bucket as the object tier: one object a file, by the blocking client of storage/s3.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "storage/feedfs/object_target.hpp"
#include "storage/s3/address.hpp"
#include "storage/s3/client.hpp"
#include "storage/s3/credentials.hpp"

namespace feedbench::feedfs {

namespace {

namespace s3 = storage::s3;

Error as_error(Error error) {
    if (error.errno_value == 0) error.errno_value = EIO; // every Error of the library has one
    return error;
}

// An object that is there.
class BucketFile final : public TargetFile {
  public:
    BucketFile(std::shared_ptr<s3::Client> client, std::string key, std::uint64_t size)
        : client_(std::move(client)), key_(std::move(key)), size_(size) {}

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        if (offset >= size_ || into.empty()) return std::uint64_t{0};
        auto got = client_->get(key_, offset, into.first(std::min<std::uint64_t>(into.size(), size_ - offset)));
        if (!got) return as_error(got.error());
        return got;
    }
    Status write(std::uint64_t /*offset*/, std::span<const std::span<const std::byte>> /*pieces*/) override {
        return storage_error("write", key_, EOPNOTSUPP, "an object is written once, as a whole");
    }
    Status sync() override { return {}; }
    Status finish(std::uint64_t /*size*/) override {
        return storage_error("truncate", key_, EOPNOTSUPP, "an object is written once, as a whole");
    }
    Expected<std::uint64_t> size() const override { return size_; }
    int descriptor(bool /*direct*/) const override { return -1; }

  private:
    const std::shared_ptr<s3::Client> client_;
    const std::string key_;
    const std::uint64_t size_;
};

// An object that is being made: in memory until sync().
class NewObject final : public TargetFile {
  public:
    NewObject(std::shared_ptr<s3::Client> client, std::string key) : client_(std::move(client)), key_(std::move(key)) {}

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        if (offset >= bytes_.size()) return std::uint64_t{0};
        const std::size_t length = std::min<std::size_t>(into.size(), bytes_.size() - offset);
        std::memcpy(into.data(), bytes_.data() + offset, length);
        return std::uint64_t{length};
    }
    Status write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
        for (const std::span<const std::byte> piece : pieces) {
            if (bytes_.size() < offset + piece.size()) bytes_.resize(offset + piece.size());
            std::memcpy(bytes_.data() + offset, piece.data(), piece.size());
            offset += piece.size();
        }
        return {};
    }
    Status sync() override {
        std::size_t sent = 0;
        auto made = client_->put_parts(key_, [&](std::span<std::byte> part) -> Expected<std::size_t> {
            const std::size_t length = std::min(part.size(), bytes_.size() - sent);
            std::memcpy(part.data(), bytes_.data() + sent, length);
            sent += length;
            return length;
        });
        if (!made) return as_error(made.error());
        return {};
    }
    Status finish(std::uint64_t size) override {
        bytes_.resize(size);
        return {};
    }
    Expected<std::uint64_t> size() const override { return std::uint64_t{bytes_.size()}; }
    int descriptor(bool /*direct*/) const override { return -1; }

  private:
    const std::shared_ptr<s3::Client> client_;
    const std::string key_;
    std::vector<std::byte> bytes_;
};

class ObjectBucket final : public Target {
  public:
    explicit ObjectBucket(TargetConfig config) : config_(std::move(config)) {}
    const TargetConfig& config() const override { return config_; }

    Expected<std::shared_ptr<TargetFile>> create(const std::string& name, std::uint64_t /*reserve_bytes*/) override {
        if (Status ok = connect(); !ok) return ok.error();
        return std::shared_ptr<TargetFile>(std::make_shared<NewObject>(client_, address_.key(name)));
    }
    Expected<std::shared_ptr<TargetFile>> open(const std::string& name) override {
        if (Status ok = connect(); !ok) return ok.error();
        const std::string key = address_.key(name);
        auto info = client_->head(key);
        if (!info) return as_error(info.error());
        return std::shared_ptr<TargetFile>(std::make_shared<BucketFile>(client_, key, info->size_bytes));
    }
    Expected<std::shared_ptr<TargetFile>> open_for_repair(const std::string& name) override { return open(name); }
    Status list(const std::function<bool(const std::string&, std::uint64_t)>& each) override {
        if (Status ok = connect(); !ok) return ok;
        s3::ListRequest request;
        request.prefix = address_.folder("");
        request.folders = true; // what lies deeper is somebody else's
        Status listed = client_->list(request, [&](const s3::ListEntry& entry) {
            return entry.is_prefix || each(entry.key.substr(request.prefix.size()), entry.object.size_bytes);
        });
        if (!listed) return as_error(listed.error());
        return {};
    }
    Status remove(const std::string& name) override {
        if (Status ok = connect(); !ok) return ok;
        if (Status ok = client_->remove(address_.key(name)); !ok) return as_error(ok.error());
        return {};
    }
    Expected<TargetSpace> space() override { return TargetSpace{}; } // a bucket has no size

  private:
    Status connect() {
        const std::lock_guard lock(mutex_);
        if (client_) return {};
        if (const std::string why = s3::Client::unavailable(); !why.empty())
            return storage_error("open", config_.place, EOPNOTSUPP, why);
        auto address = s3::parse_address(config_.place);
        if (!address) return as_error(address.error());
        auto config = s3::make_config({}, s3::process_environment());
        if (!config) return as_error(config.error());
        auto client = s3::Client::make(std::move(*config), address->bucket);
        if (!client) return as_error(client.error());
        address_ = std::move(*address);
        client_ = std::move(*client);
        return {};
    }

    const TargetConfig config_;
    std::mutex mutex_;
    std::shared_ptr<s3::Client> client_; // set once
    s3::Address address_;
};

} // namespace

std::unique_ptr<Target> make_object_bucket(TargetConfig config) {
    return std::make_unique<ObjectBucket>(std::move(config));
}

} // namespace feedbench::feedfs
