#include "formats/inflate.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <zlib.h>

namespace feedbench::formats {

namespace {

constexpr int kRawWindowBits = -15, kZlibWindowBits = 15; // without and with zlib's header
constexpr std::size_t kPieceBytes = 256 * 1024;           // zlib counts in 32 bits, and this stays in the cache

Bytef* bytes_of(std::span<const std::byte> data) {
    return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data())); // zlib does not write to its input
}

} // namespace

struct Inflater::State {
    z_stream stream{};
    bool is_finished = false;
    std::array<std::byte, 64 * 1024> out;
    explicit State(Container container) {
        if (inflateInit2(&stream, container == Container::raw ? kRawWindowBits : kZlibWindowBits) != Z_OK)
            throw std::bad_alloc(); // it fails for lack of memory only
    }
    ~State() { inflateEnd(&stream); }
};

Inflater::Inflater(Container container) : state_(std::make_unique<State>(container)) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
bool Inflater::is_finished() const { return state_->is_finished; }

Status Inflater::feed(std::span<const std::byte> data, const Sink& sink, const std::string& path,
                      std::uint64_t offset) {
    State& s = *state_;
    while (!data.empty()) {
        const std::span<const std::byte> piece = data.first(std::min(data.size(), kPieceBytes));
        s.stream.next_in = bytes_of(piece);
        s.stream.avail_in = static_cast<uInt>(piece.size());
        do {
            const std::uint64_t here = offset + piece.size() - s.stream.avail_in;
            if (s.is_finished)
                return format_error(path, "bytes after the end of the deflated stream",
                                    static_cast<std::int64_t>(here));
            s.stream.next_out = reinterpret_cast<Bytef*>(s.out.data());
            s.stream.avail_out = static_cast<uInt>(s.out.size());
            const int result = inflate(&s.stream, Z_NO_FLUSH);
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
                return format_error(path,
                                    std::string("deflated bytes do not inflate: ") +
                                        (s.stream.msg ? s.stream.msg : zError(result)),
                                    static_cast<std::int64_t>(here));
            s.is_finished = result == Z_STREAM_END;
            if (const Status status = sink(std::span(s.out).first(s.out.size() - s.stream.avail_out)); !status)
                return status;
        } while (s.stream.avail_in > 0 || (s.stream.avail_out == 0 && !s.is_finished));
        data = data.subspan(piece.size());
        offset += piece.size();
    }
    return {};
}

std::uint32_t adler32_of(std::uint32_t adler, std::span<const std::byte> data) {
    return static_cast<std::uint32_t>(adler32_z(adler, bytes_of(data), data.size()));
}

struct Deflater::State {
    z_stream stream{};
    std::vector<std::byte> collected;
    std::array<std::byte, 64 * 1024> out;
    State() {
        if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawWindowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~State() { deflateEnd(&stream); }
    void run(int flush) {
        do {
            stream.next_out = reinterpret_cast<Bytef*>(out.data());
            stream.avail_out = static_cast<uInt>(out.size());
            deflate(&stream, flush);
            collected.insert(collected.end(), out.begin(), out.end() - stream.avail_out);
        } while (stream.avail_out == 0);
    }
};

Deflater::Deflater() : state_(std::make_unique<State>()) {}
Deflater::~Deflater() = default;

void Deflater::add(std::span<const std::byte> content) {
    while (!content.empty()) {
        const std::span<const std::byte> piece = content.first(std::min(content.size(), kPieceBytes));
        state_->stream.next_in = bytes_of(piece);
        state_->stream.avail_in = static_cast<uInt>(piece.size());
        state_->run(Z_NO_FLUSH);
        content = content.subspan(piece.size());
    }
}

std::vector<std::byte> Deflater::finish() {
    state_->stream.next_in = nullptr;
    state_->stream.avail_in = 0;
    state_->run(Z_FINISH);
    return std::move(state_->collected);
}

} // namespace feedbench::formats
