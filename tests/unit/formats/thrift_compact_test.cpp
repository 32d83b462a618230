#include <catch2/catch.hpp>

#include "formats/thrift_compact.hpp"

using namespace feedbench::formats::thrift;

namespace {

std::vector<std::byte> thrift_bytes(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

} // namespace

TEST_CASE("thrift compact: the bytes of the specification", "[thrift]") {
    Writer out;
    out.i32(1, 150);
    out.i64(3, -1);
    out.text(20, "ab"); // 17 fields further: a long header
    out.begin_list(21, Type::i32, 2);
    out.element(1);
    out.element(-2);
    out.stop();
    CHECK(out.bytes() ==
          thrift_bytes({0x15, 0xac, 0x02, 0x26, 0x01, 0x08, 0x28, 0x02, 'a', 'b', 0x19, 0x25, 0x02, 0x03, 0x00}));
}

TEST_CASE("thrift compact: what is written is read back, what is unknown is skipped", "[thrift]") {
    Writer out;
    out.i16(1, -7);
    out.begin_struct(2);
    out.i64(1, 1LL << 40);
    out.begin_list(2, Type::binary, 20);
    for (int i = 0; i < 20; ++i) out.element("x");
    out.end_struct();
    out.i32_of_fixed_length(3, -123456);
    out.stop();
    for (const bool skips : {false, true}) {
        Reader in(out.bytes());
        auto field = in.next_field();
        CHECK(field.id == 1);
        CHECK(in.integer(field.type) == -7);
        field = in.next_field();
        CHECK(field.id == 2);
        CHECK(field.type == Type::struct_);
        if (skips) {
            in.skip(field.type);
        } else {
            in.begin_struct();
            field = in.next_field();
            CHECK(in.integer(field.type) == 1LL << 40);
            field = in.next_field();
            const auto list = in.list();
            CHECK(list.count == 20);
            for (std::uint64_t i = 0; i < list.count; ++i) CHECK(in.text() == "x");
            CHECK(in.next_field().type == Type::stop);
        }
        field = in.next_field();
        CHECK(field.id == 3);
        CHECK(in.integer(field.type) == -123456);
        CHECK(in.next_field().type == Type::stop);
        CHECK_FALSE(in.has_failed());
        CHECK(in.position() == out.bytes().size());
    }
}

TEST_CASE("thrift compact: a number of fixed length has the same length whatever it is", "[thrift]") {
    for (const std::int32_t value : {0, 1, -1, 0x7fffffff, -0x7fffffff - 1}) {
        Writer out;
        out.i32_of_fixed_length(4, value);
        CHECK(out.bytes().size() == 6);
        Reader in(out.bytes());
        CHECK(in.integer(in.next_field().type) == value);
    }
}

TEST_CASE("thrift compact: what ends early is short, what cannot be has failed", "[thrift]") {
    Writer out;
    out.text(1, "a name of some length");
    out.i64(2, 123456789);
    out.stop();
    for (std::size_t size = 0; size < out.bytes().size(); ++size) {
        Reader in(std::span(out.bytes()).first(size));
        for (auto field = in.next_field(); field.type != Type::stop; field = in.next_field()) in.skip(field.type);
        CHECK(in.has_failed());
        CHECK(in.is_short());
    }
    const auto fails = [](const std::vector<std::byte>& bytes) {
        Reader in(bytes);
        for (auto field = in.next_field(); field.type != Type::stop; field = in.next_field()) in.skip(field.type);
        return in.has_failed();
    };
    CHECK(fails(thrift_bytes({0x1d, 0x00})));                                     // a type that is none
    CHECK(fails(thrift_bytes({0x08, 0x01, 0x00, 0x00})));                         // field -1
    CHECK(fails(thrift_bytes({0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 'a', 0x00})));  // a text of 4 GiB
    CHECK(fails(thrift_bytes({0x19, 0xf5, 0xff, 0xff, 0xff, 0x7f, 0x00, 0x00}))); // a list of 2^28
    CHECK(fails(std::vector<std::byte>(4096, std::byte{0x1c})));                  // structs without end
    CHECK(fails(std::vector<std::byte>(4096, std::byte{0x19})));                  // lists of lists without end
    CHECK(fails(thrift_bytes({0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00})));
}

TEST_CASE("thrift compact: numbers beyond their type are refused", "[thrift]") {
    Writer out;
    out.i64(1, 1LL << 33);
    Reader in(out.bytes());
    CHECK(in.next_field().id == 1);
    CHECK(in.integer(Type::i32) == 0);
    CHECK(in.has_failed());
}

TEST_CASE("thrift compact: booleans in lists, sets and maps have a byte each", "[thrift]") {
    const auto is_skipped_to = [](const std::vector<std::byte>& bytes, std::size_t end) {
        Reader in(bytes);
        in.skip(in.next_field().type);
        return !in.has_failed() && in.position() == end;
    };
    CHECK(is_skipped_to(thrift_bytes({0x19, 0x31, 1, 2, 1, 0x00}), 5));             // list
    CHECK(is_skipped_to(thrift_bytes({0x1a, 0x22, 1, 2, 0x00}), 4));                // set
    CHECK(is_skipped_to(thrift_bytes({0x1b, 2, 0x11, 1, 2, 2, 1, 0x00}), 7));       // map of two
    CHECK(is_skipped_to(thrift_bytes({0x1b, 1, 0x81, 2, 'a', 'b', 1, 0x00}), 7));   // text to boolean
    CHECK(is_skipped_to(thrift_bytes({0x1b, 1, 0x2b, 1, 1, 0x12, 2, 1, 0x00}), 8)); // boolean to a map
    CHECK(is_skipped_to(thrift_bytes({0x1b, 0, 0x00}), 2));                         // an empty one says no types
    CHECK_FALSE(is_skipped_to(thrift_bytes({0x1b, 2, 0x11, 1, 2, 2}), 6));          // one too few
}
