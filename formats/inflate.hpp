// Deflate in constant memory: raw, as zip members hold it, both ways; in a zlib stream, as PNG holds it, to read.
//
// Thread: any; one user an object. Owner: the caller. Units: bytes. Errors: format_error where the bytes do not
// inflate. Source: RFC 1950, RFC 1951, through zlib.
#pragma once

#include <functional>
#include <memory>

#include "harness/types/error.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace feedbench::formats {

class Inflater {
  public:
    enum class Container : std::uint8_t { raw, zlib }; // zlib: with its header, and its checksum compared
    explicit Inflater(Container container = Container::raw);
    ~Inflater();
    Inflater(Inflater&&) noexcept;
    Inflater& operator=(Inflater&&) noexcept;

    using Sink = std::function<Status(std::span<const std::byte> content)>;
    // Inflates all of `data`, the next piece of the member. `offset` is its place in the file, for messages.
    Status feed(std::span<const std::byte> data, const Sink& sink, const std::string& path, std::uint64_t offset);
    bool is_finished() const; // the deflate stream said that it ends

  private:
    struct State;
    std::unique_ptr<State> state_;
};

std::uint32_t adler32_of(std::uint32_t adler, std::span<const std::byte> data); // start with 1

// Collects the deflated form of what is added, at zlib's default level as numpy has it.
class Deflater {
  public:
    Deflater();
    ~Deflater();
    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;
    void add(std::span<const std::byte> content);
    std::vector<std::byte> finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace feedbench::formats
