// Thrift's compact protocol, as far as parquet's metadata needs it: written field by field, read without believing it.
//
// Thread: one user. Owner: the caller; a reader looks at memory that outlives it. Units: bytes.
// Errors: a reader that meets what cannot be stays failed: every later answer is 0 or empty. `is_short()`: the bytes
// ended, more of them might have been right; a header of unknown length is read so.
// Source: thrift/doc/specs/thrift-compact-protocol.md. Worked example: field 1, i32 150 -> 15 ac 02.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace feedbench::formats::thrift {

enum class Type : std::uint8_t {
    stop = 0,
    true_ = 1,
    false_ = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    double_ = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    struct_ = 12
};

inline constexpr std::size_t kDeepest = 16; // structs within structs; parquet's lie 6 deep

class Writer {
  public:
    void i16(int field, std::int16_t value) { integer(field, Type::i16, value); }
    void i32(int field, std::int32_t value) { integer(field, Type::i32, value); }
    void i64(int field, std::int64_t value) { integer(field, Type::i64, value); }
    // Always 5 bytes of value, so that it may become known after the place of what follows.
    void i32_of_fixed_length(int field, std::int32_t value);
    void text(int field, std::string_view value);
    void begin_struct(int field);
    void end_struct();
    // Then `count` elements: structs between begin_element() and end_struct(), or the elements below.
    void begin_list(int field, Type of, std::size_t count);
    void begin_element();
    void element(std::int32_t value) { varint(zigzag(value)); }
    void element(std::string_view value);
    void stop() { out_.push_back(std::byte{0}); } // of the outermost struct
    const std::vector<std::byte>& bytes() const { return out_; }
    std::vector<std::byte> take() { return std::move(out_); }

  private:
    static std::uint64_t zigzag(std::int64_t value) {
        return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    }
    void integer(int field, Type type, std::int64_t value) {
        header(field, type);
        varint(zigzag(value));
    }
    void varint(std::uint64_t value);
    void header(int field, Type type);

    std::vector<std::byte> out_;
    std::array<int, kDeepest> outer_{};
    std::size_t depth_ = 0;
    int last_ = 0; // field of the struct that is being written
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    struct Field {
        int id = 0;
        Type type = Type::stop; // stop: the struct ends here
    };
    struct List {
        Type of = Type::stop;
        std::uint64_t count = 0; // never more than the bytes that are left
    };

    // Fields of the struct that is open; the outermost is open from the start. A value is read by the method of its
    // type or by skip(); a struct's fields follow begin_struct() and end with the field `stop`.
    Field next_field();
    void begin_struct();
    std::int64_t integer(Type type); // byte, i16, i32, i64
    bool boolean(Type type) const { return type == Type::true_; }
    std::string_view text();
    List list();
    void skip(Type type);

    bool has_failed() const { return has_failed_; }
    bool is_short() const { return is_short_; }
    std::size_t position() const { return position_; } // where it failed, or what has been read
    void fail() { has_failed_ = true; }

  private:
    std::uint8_t byte();
    std::uint64_t varint();
    void skip(Type type, std::size_t depth);
    void skip_element(Type type, std::size_t depth);
    bool has(std::uint64_t bytes); // fails, short, where they are not there

    std::span<const std::byte> bytes_;
    std::size_t position_ = 0;
    bool has_failed_ = false, is_short_ = false;
    std::array<int, kDeepest> outer_{};
    std::size_t depth_ = 0;
    int last_ = 0;
};

} // namespace feedbench::formats::thrift
