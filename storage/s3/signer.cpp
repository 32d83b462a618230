#include "storage/s3/signer.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <ctime>
#include <memory>

#include "storage/s3/address.hpp"

namespace feedbench::storage::s3 {

namespace {

using Digest = std::array<unsigned char, 32>;

// OpenSSL 3 looks an algorithm up at each use where it was not fetched; a context a thread spares its allocation.
class Sha256 {
  public:
    Sha256() : md_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) { assert(md_ && context_); }
    ~Sha256() {
        EVP_MD_CTX_free(context_);
        EVP_MD_free(md_);
    }
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    Digest of(std::string_view first, std::string_view second = {}) {
        Digest digest{};
        unsigned length = 0;
        EVP_DigestInit_ex2(context_, md_, nullptr);
        EVP_DigestUpdate(context_, first.data(), first.size());
        EVP_DigestUpdate(context_, second.data(), second.size());
        EVP_DigestFinal_ex(context_, digest.data(), &length);
        return digest;
    }

  private:
    EVP_MD* md_;
    EVP_MD_CTX* context_;
};

Sha256& sha256() {
    thread_local Sha256 hash;
    return hash;
}

std::string_view text_of(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

// RFC 2104 with SHA-256: two digests over one padded key.
Digest hmac(std::string_view key, std::string_view message) {
    constexpr std::size_t kBlock = 64;
    std::array<char, kBlock> inner{}, outer{};
    Digest hashed{};
    if (key.size() > kBlock) {
        hashed = sha256().of(key);
        key = text_of(hashed);
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
        const char c = i < key.size() ? key[i] : '\0';
        inner[i] = static_cast<char>(c ^ 0x36);
        outer[i] = static_cast<char>(c ^ 0x5c);
    }
    const Digest first = sha256().of({inner.data(), kBlock}, message);
    return sha256().of({outer.data(), kBlock}, text_of(first));
}

std::string hex(const Digest& digest) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(2 * digest.size());
    for (const unsigned char byte : digest) {
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
    }
    return out;
}

// Values without blanks at their ends, inner runs of blanks as one.
std::string trimmed(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
        out += c;
    }
    if (out.ends_with(' ')) out.pop_back();
    return out;
}

} // namespace

std::string sha256_hex(std::string_view bytes) { return hex(sha256().of(bytes)); }

std::string amz_date(std::int64_t unix_s) {
    const auto seconds = static_cast<std::time_t>(unix_s);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
    return {text.data(), length};
}

std::string canonical_query(Query query) {
    for (auto& [name, value] : query) {
        name = encode(name, false);
        value = encode(value, false);
    }
    std::sort(query.begin(), query.end());
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

Signer::Signer(Credentials credentials, std::string region, std::string service)
    : credentials_(std::move(credentials)), region_(std::move(region)), service_(std::move(service)) {}

std::string Signer::authorization(const SignRequest& request) {
    const std::string date = amz_date(request.unix_s);
    if (const std::string day = date.substr(0, 8); day != day_) {
        day_ = day;
        scope_ = day_ + "/" + region_ + "/" + service_ + "/aws4_request";
        Digest key = hmac("AWS4" + credentials_.secret_key, day_);
        key = hmac(text_of(key), region_);
        key = hmac(text_of(key), service_);
        key_ = text_of(hmac(text_of(key), "aws4_request"));
    }
    Headers headers = request.headers;
    std::sort(headers.begin(), headers.end());
    std::string canonical, names;
    canonical.reserve(512);
    canonical.append(request.method).append("\n").append(request.path).append("\n").append(request.query).append("\n");
    for (const auto& [name, value] : headers) {
        canonical.append(name).append(":").append(trimmed(value)).append("\n");
        names.append(names.empty() ? "" : ";").append(name);
    }
    canonical.append("\n").append(names).append("\n").append(request.payload_hash);
    const std::string to_sign = "AWS4-HMAC-SHA256\n" + date + "\n" + scope_ + "\n" + sha256_hex(canonical);
    return "AWS4-HMAC-SHA256 Credential=" + credentials_.access_key + "/" + scope_ + ", SignedHeaders=" + names +
           ", Signature=" + hex(hmac(key_, to_sign));
}

} // namespace feedbench::storage::s3
