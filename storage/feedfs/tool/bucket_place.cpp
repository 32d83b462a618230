// A bucket below a prefix, as import and export see it: names, sizes and contents, nothing else.
#include <set>

#include "storage/feedfs/tool/outside_place.hpp"
#include "storage/s3/address.hpp"
#include "storage/s3/client.hpp"

namespace feedbench::feedfs::tool {

namespace {

namespace s3 = storage::s3;

class BucketFile final : public OutsideFile {
  public:
    BucketFile(s3::Client& client, std::string key, std::uint64_t size)
        : client_(client), key_(std::move(key)), size_(size) {}
    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) override {
        if (size_ == 0) return std::uint64_t{0}; // servers differ in what the first byte of nothing is
        s3::ObjectInfo info;
        // The same object from its first byte to its last: one that is replaced meanwhile is an error, not a mixture.
        const Expected<std::uint64_t> got = client_.get(key_, offset, into, etag_, &info);
        if (got && etag_.empty()) etag_ = info.etag;
        return got;
    }

  private:
    s3::Client& client_;
    const std::string key_;
    const std::uint64_t size_;
    std::string etag_;
};

class BucketPlace final : public OutsidePlace {
  public:
    BucketPlace(std::unique_ptr<s3::Client> client, s3::Address address)
        : client_(std::move(client)), address_(std::move(address)) {}
    std::string display(const std::string& path) const override {
        return address_.uri() + (path.empty() ? "" : "/" + path);
    }
    bool keeps_attributes() const override { return false; }

    Status list(const std::function<Expected<bool>(OutsideEntry)>& each,
                const std::function<void(const std::string&)>& skipped) override {
        s3::ListRequest request;
        request.prefix = address_.folder("");
        MaybeError problem;
        std::set<std::string> made; // directories that were told of
        const auto tell = [&](OutsideEntry entry) {
            const Expected<bool> answer = each(std::move(entry));
            if (!answer) problem = answer.error();
            return answer && *answer;
        };
        const Status listed = client_->list(request, [&](const s3::ListEntry& one) {
            OutsideEntry entry;
            entry.path = one.key.substr(request.prefix.size());
            const bool is_marker = entry.path.empty() || entry.path.back() == '/';
            if (!is_possible(entry.path)) {
                if (!is_marker)
                    skipped("s3://" + client_->bucket() + "/" + one.key +
                            " has a name that no file can have: left out");
                return true;
            }
            for (std::size_t slash = entry.path.find('/'); slash != std::string::npos;
                 slash = entry.path.find('/', slash + 1)) {
                if (!made.insert(entry.path.substr(0, slash)).second) continue;
                OutsideEntry directory;
                directory.path = entry.path.substr(0, slash);
                directory.type = InodeType::directory;
                directory.mode = 0755;
                if (!tell(std::move(directory))) return false;
            }
            entry.size_bytes = one.object.size_bytes;
            return tell(std::move(entry));
        });
        if (problem) return *problem;
        return listed;
    }

    Expected<std::unique_ptr<OutsideFile>> open(const OutsideEntry& entry) override {
        return std::unique_ptr<OutsideFile>(
            std::make_unique<BucketFile>(*client_, address_.key(entry.path), entry.size_bytes));
    }

    Expected<bool> has(const OutsideEntry& entry) override {
        const Expected<s3::ObjectInfo> info = client_->head(address_.key(entry.path));
        if (!info && info.error().errno_value == ENOENT) return false;
        if (!info) return info.error();
        return info->size_bytes == entry.size_bytes;
    }
    Status write(const OutsideEntry& entry, const NextBytes& next) override {
        const Expected<s3::ObjectInfo> put = client_->put_parts(address_.key(entry.path), next);
        if (!put) return put.error();
        return {};
    }
    Status make_directory(const OutsideEntry&) override { return {}; } // a bucket has none
    Status make_symlink(const OutsideEntry& entry) override {
        return storage_error("symlink", display(entry.path), EOPNOTSUPP, "a bucket holds no symbolic links");
    }
    Status finish_directory(const OutsideEntry&) override { return {}; }

  private:
    static bool is_possible(const std::string& path) {
        std::size_t begin = 0;
        for (;;) {
            const std::size_t end = std::min(path.find('/', begin), path.size());
            const std::string_view name = std::string_view(path).substr(begin, end - begin);
            if (name.empty() || name == "." || name == ".." || name.size() > 255 || name.find('\0') != name.npos)
                return false;
            if (end == path.size()) return true;
            begin = end + 1;
        }
    }

    const std::unique_ptr<s3::Client> client_;
    const s3::Address address_;
};

} // namespace

Expected<std::unique_ptr<OutsidePlace>> make_bucket_place(const std::string& uri) {
    if (const std::string why = s3::Client::unavailable(); !why.empty()) return config_error(why);
    Expected<s3::Address> address = s3::parse_address(uri);
    if (!address) return address.error();
    Expected<s3::Config> config = s3::make_config({}, s3::process_environment());
    if (!config) return config.error();
    Expected<std::unique_ptr<s3::Client>> client = s3::Client::make(std::move(*config), address->bucket);
    if (!client) return client.error();
    return std::unique_ptr<OutsidePlace>(std::make_unique<BucketPlace>(std::move(*client), std::move(*address)));
}

} // namespace feedbench::feedfs::tool
