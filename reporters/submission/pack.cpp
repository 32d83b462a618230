#include "reporters/submission/pack.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "reporters/submission/new_files.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

class Sha256 {
  public:
    Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
    void add(const char* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
    std::string hex() {
        unsigned char bytes[EVP_MAX_MD_SIZE];
        unsigned size = 0;
        EVP_DigestFinal_ex(context_.get(), bytes, &size);
        std::string text;
        for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
        return text;
    }

  private:
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> context_;
};

// Calls `use` with pieces of the file.
template <class Use>
Status read_pieces(const fs::path& path, Use use) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return storage_error("open", path.string(), errno);
    std::vector<char> buffer(1 << 20);
    while (in) {
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        if (in.gcount() > 0) use(buffer.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) return storage_error("read", path.string(), errno);
    return {};
}

Expected<std::string> sha256_of(const fs::path& path) {
    Sha256 digest;
    if (Status read = read_pieces(path, [&](const char* data, std::size_t size) { digest.add(data, size); }); !read)
        return read.error();
    return digest.hex();
}

class TarGz {
  public:
    explicit TarGz(const fs::path& path) : path_(path), file_(gzopen(path.c_str(), "wb6")) {}
    ~TarGz() {
        if (file_ != nullptr) gzclose(file_);
    }
    TarGz(const TarGz&) = delete;
    TarGz& operator=(const TarGz&) = delete;

    Status open_status() const {
        return file_ != nullptr ? Status{} : Status(storage_error("create", path_.string(), errno));
    }

    // A ustar header: name of 100 bytes, or 155 before a slash and 100 behind it; numbers in octal.
    Status begin(const std::string& name, std::uint64_t size, std::int64_t mtime_s) {
        char h[512] = {};
        std::string last = name, first;
        if (name.size() > 100) {
            const std::size_t slash = name.find('/', name.size() - 101);
            if (slash == std::string::npos || slash > 155 || slash == 0)
                return format_error(name, "a path that is too long for a tar archive (100 bytes behind a slash)");
            first = name.substr(0, slash);
            last = name.substr(slash + 1);
        }
        if (size >= std::uint64_t{1} << 33) return format_error(name, "larger than the 8 GiB of a tar archive's entry");
        std::memcpy(h, last.data(), last.size());
        std::memcpy(h + 345, first.data(), first.size());
        const auto octal = [&](int at, int digits, std::uint64_t value) {
            std::memcpy(h + at, fmt::format("{:0{}o}", value, digits).data(), static_cast<std::size_t>(digits));
        };
        octal(100, 7, 0644);
        octal(108, 7, 0);
        octal(116, 7, 0);
        octal(124, 11, size);
        octal(136, 11, static_cast<std::uint64_t>(std::max<std::int64_t>(0, mtime_s)));
        h[156] = '0';
        std::memcpy(h + 257, "ustar\00000", 8);
        std::memset(h + 148, ' ', 8);
        std::uint64_t sum = 0;
        for (const char c : h) sum += static_cast<unsigned char>(c);
        octal(148, 6, sum);
        h[154] = '\0';
        return put(h, sizeof h);
    }
    Status put(const char* data, std::size_t size) {
        if (gzwrite(file_, data, static_cast<unsigned>(size)) == static_cast<int>(size)) return {};
        return storage_error("write", path_.string(), errno);
    }
    Status fill_block(std::uint64_t size) {
        static constexpr char kZeros[512] = {};
        return put(kZeros, (512 - size % 512) % 512);
    }
    Status finish() {
        static constexpr char kZeros[1024] = {};
        if (Status written = put(kZeros, sizeof kZeros); !written) return written;
        const int closed = gzclose(std::exchange(file_, nullptr));
        return closed == Z_OK ? Status{} : Status(storage_error("close", path_.string(), errno));
    }

  private:
    fs::path path_;
    gzFile file_;
};

Status add_text(TarGz& tar, const std::string& name, const std::string& text, std::int64_t mtime_s) {
    if (Status begun = tar.begin(name, text.size(), mtime_s); !begun) return begun;
    if (Status written = tar.put(text.data(), text.size()); !written) return written;
    return tar.fill_block(text.size());
}

Status add_file(TarGz& tar, const std::string& name, const fs::path& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0) return storage_error("stat", path.string(), errno);
    const auto size = static_cast<std::uint64_t>(state.st_size);
    if (Status begun = tar.begin(name, size, state.st_mtime); !begun) return begun;
    std::uint64_t done = 0;
    Status written;
    const Status read = read_pieces(path, [&](const char* data, std::size_t count) {
        done += count;
        if (written && done <= size) written = tar.put(data, count);
    });
    if (!read) return read;
    if (!written) return written;
    if (done != size) return format_error(path.string(), "its size changed while it was packed");
    return tar.fill_block(size);
}

Expected<std::vector<fs::path>> files_below(const fs::path& root) {
    std::vector<fs::path> files;
    std::error_code error, ignored;
    for (fs::recursive_directory_iterator it(root, error); !error && it != fs::recursive_directory_iterator();
         it.increment(error))
        if (it->is_regular_file(ignored) && it->path().filename() != kChecksumFile) files.push_back(it->path());
    if (error) return storage_error("list", root.string(), error.value());
    std::sort(files.begin(), files.end());
    return files;
}

Expected<Packed> write_archive(const fs::path& root, const std::vector<fs::path>& files, const fs::path& path,
                               const std::string& top) {
    TarGz tar(path);
    if (Status opened = tar.open_status(); !opened) return opened.error();
    Packed packed;
    std::string sums;
    for (const fs::path& file : files) {
        const auto sum = sha256_of(file);
        if (!sum) return sum.error();
        const std::string name = file.lexically_relative(root).string();
        sums += fmt::format("{}  {}\n", *sum, name);
        if (Status added = add_file(tar, top + "/" + name, file); !added) return added.error();
        ++packed.file_count;
    }
    if (Status added = add_text(tar, fmt::format("{}/{}", top, kChecksumFile), sums, 0); !added) return added.error();
    if (Status finished = tar.finish(); !finished) return finished.error();
    return packed;
}

} // namespace

Expected<Packed> pack_tree(const fs::path& root, const fs::path& archive) {
    std::error_code ignored;
    if (fs::exists(archive, ignored))
        return usage_error(archive.string() + " is there already: nothing is overwritten");
    const fs::path whole = fs::absolute(root).lexically_normal();
    const fs::path tree = whole.has_filename() ? whole : whole.parent_path();
    auto files = files_below(tree);
    if (!files) return files.error();
    // An archive that lies in the tree is none of it.
    const fs::path partial = fs::absolute(archive.string() + ".partial").lexically_normal();
    std::erase_if(*files, [&](const fs::path& one) { return one == partial; });
    auto packed = write_archive(tree, *files, partial, tree.filename().string());
    const auto sum = packed ? sha256_of(partial) : Expected<std::string>(std::string());
    if (!packed || !sum) {
        fs::remove(partial, ignored);
        return packed ? sum.error() : packed.error();
    }
    packed->sha256 = *sum;
    packed->bytes = fs::file_size(partial, ignored);
    if (::link(partial.c_str(), archive.c_str()) != 0) {
        const int why = errno;
        fs::remove(partial, ignored);
        return storage_error("create", archive.string(), why);
    }
    fs::remove(partial, ignored);
    if (Status written = write_over(archive.string() + ".sha256",
                                    fmt::format("{}  {}\n", packed->sha256, archive.filename().string()));
        !written)
        return written.error();
    return packed;
}

} // namespace feedbench::submission
