#include "formats/thrift_compact.hpp"

#include <cassert>
#include <limits>

#include "formats/little_endian.hpp"

namespace feedbench::formats::thrift {

void Writer::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
    out_.push_back(static_cast<std::byte>(value));
}

void Writer::header(int field, Type type) {
    assert(field > last_);
    if (field - last_ <= 15) {
        out_.push_back(static_cast<std::byte>((field - last_) << 4 | static_cast<int>(type)));
    } else {
        out_.push_back(static_cast<std::byte>(type));
        varint(zigzag(field));
    }
    last_ = field;
}

void Writer::i32_of_fixed_length(int field, std::int32_t value) {
    header(field, Type::i32);
    const std::uint64_t bits = zigzag(value) & 0xffffffffU;
    for (int shift = 0; shift < 28; shift += 7) out_.push_back(static_cast<std::byte>(bits >> shift | 0x80));
    out_.push_back(static_cast<std::byte>(bits >> 28));
}

void Writer::text(int field, std::string_view value) {
    header(field, Type::binary);
    element(value);
}

void Writer::element(std::string_view value) {
    varint(value.size());
    append_text(out_, value);
}

void Writer::begin_struct(int field) {
    header(field, Type::struct_);
    begin_element();
}

void Writer::begin_element() {
    assert(depth_ < kDeepest);
    outer_[depth_++] = last_;
    last_ = 0;
}

void Writer::end_struct() {
    stop();
    last_ = outer_[--depth_];
}

void Writer::begin_list(int field, Type of, std::size_t count) {
    header(field, Type::list);
    const auto type = static_cast<unsigned>(of);
    if (count < 15) {
        out_.push_back(static_cast<std::byte>(count << 4 | type));
    } else {
        out_.push_back(static_cast<std::byte>(0xf0U | type));
        varint(count);
    }
}

bool Reader::has(std::uint64_t bytes) {
    if (has_failed_) return false;
    if (bytes <= bytes_.size() - position_) return true;
    has_failed_ = is_short_ = true;
    return false;
}

std::uint8_t Reader::byte() { return has(1) ? std::to_integer<std::uint8_t>(bytes_[position_++]) : std::uint8_t{0}; }

std::uint64_t Reader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t next = byte();
        value |= std::uint64_t{next & 0x7fU} << shift;
        if ((next & 0x80U) == 0) return has_failed_ ? 0 : value;
    }
    fail();
    return 0;
}

Reader::Field Reader::next_field() {
    const std::uint8_t head = byte();
    const auto type = static_cast<Type>(head & 0x0fU);
    if (has_failed_ || type == Type::stop) {
        if (depth_ > 0) last_ = outer_[--depth_];
        return {};
    }
    if (type > Type::struct_) {
        fail();
        return {};
    }
    const int delta = head >> 4;
    std::int64_t id = last_ + delta;
    if (delta == 0) id = integer(Type::i16);
    if (has_failed_ || id <= 0 || id > std::numeric_limits<std::int16_t>::max()) {
        fail();
        return {};
    }
    last_ = static_cast<int>(id);
    return {last_, type};
}

void Reader::begin_struct() {
    if (depth_ == kDeepest) return fail();
    outer_[depth_++] = last_;
    last_ = 0;
}

std::int64_t Reader::integer(Type type) {
    if (type == Type::byte) return static_cast<std::int8_t>(byte());
    if (type != Type::i16 && type != Type::i32 && type != Type::i64) {
        fail();
        return 0;
    }
    const std::uint64_t bits = varint();
    const auto value = static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
    const std::int64_t most = type == Type::i64   ? std::numeric_limits<std::int64_t>::max()
                              : type == Type::i32 ? std::numeric_limits<std::int32_t>::max()
                                                  : std::numeric_limits<std::int16_t>::max();
    if (value <= most && value >= -most - 1) return value;
    fail();
    return 0;
}

std::string_view Reader::text() {
    const std::uint64_t bytes = varint();
    if (!has(bytes)) return {};
    const std::string_view value = as_text(bytes_.subspan(position_, bytes));
    position_ += bytes;
    return value;
}

Reader::List Reader::list() {
    const std::uint8_t head = byte();
    List list{static_cast<Type>(head & 0x0fU), static_cast<std::uint64_t>(head >> 4U)};
    if (list.count == 15) list.count = varint();
    // Each element has a byte or more: no count is believed that the bytes cannot hold.
    if (!has(list.count)) return {};
    if (list.of <= Type::struct_) return list;
    fail();
    return {};
}

void Reader::skip(Type type) { skip(type, depth_); }

// In a list or a map a boolean has a byte of its own.
void Reader::skip_element(Type type, std::size_t depth) {
    if (type == Type::true_ || type == Type::false_)
        byte();
    else
        skip(type, depth);
}

void Reader::skip(Type type, std::size_t depth) {
    if (has_failed_) return;
    if (depth > kDeepest) return fail();
    switch (type) {
    case Type::true_:
    case Type::false_:
        return; // a field's type is its value
    case Type::byte:
        byte();
        return;
    case Type::i16:
    case Type::i32:
    case Type::i64:
        varint();
        return;
    case Type::double_:
        if (has(8)) position_ += 8;
        return;
    case Type::binary:
        text();
        return;
    case Type::list:
    case Type::set: {
        const List all = list();
        for (std::uint64_t i = 0; i < all.count && !has_failed_; ++i) skip_element(all.of, depth + 1);
        return;
    }
    case Type::map: {
        const std::uint64_t count = varint();
        if (count == 0 || !has(count)) return;
        const std::uint8_t types = byte();
        for (std::uint64_t i = 0; i < count && !has_failed_; ++i) {
            skip_element(static_cast<Type>(types >> 4U), depth + 1);
            skip_element(static_cast<Type>(types & 0x0fU), depth + 1);
        }
        return;
    }
    case Type::struct_:
        begin_struct();
        for (Field field = next_field(); field.type != Type::stop; field = next_field()) skip(field.type, depth + 1);
        return;
    case Type::stop:
        break;
    }
    fail();
}

} // namespace feedbench::formats::thrift
