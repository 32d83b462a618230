#include "tests/support/format_files.hpp"

#include "formats/npy_header.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

Bytes with_header(std::string text, std::size_t array_bytes, std::uint16_t length = 0) {
    Bytes out;
    const std::uint16_t size = length != 0 ? length : static_cast<std::uint16_t>(text.size());
    const std::string head =
        std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) + static_cast<char>(size >> 8) + text;
    for (const char c : head) out.push_back(static_cast<std::byte>(c));
    out.resize(out.size() + array_bytes);
    return out;
}

Expected<std::optional<formats::NpyHeader>> parse(const Bytes& bytes) {
    return formats::parse_npy_header(bytes, {"t", 0, bytes.size()});
}

} // namespace

TEST_CASE("npy: the header is numpy's, byte for byte", "[npy]") {
    const Bytes header = formats::make_npy_header("|u1", {15865, 14125, 1});
    const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (15865, 14125, 1), }";
    std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text;
    expected.resize(127, ' ');
    expected += '\n';
    CHECK(std::string(reinterpret_cast<const char*>(header.data()), header.size()) == expected);
    for (std::size_t digits = 1; digits < 200; ++digits) {
        const Bytes any = formats::make_npy_header("|u1", std::vector<std::uint64_t>(digits, 7));
        CHECK(any.size() % 64 == 0);
    }
    CHECK(formats::describe_dims({5}) == "(5,)");
}

TEST_CASE("npy: headers that other versions write are read", "[npy]") {
    const auto old = parse(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L), }      \n", 24));
    CHECK_FALSE(old); // Python 2's long integers: numpy itself warns
    const auto spaced = parse(with_header("{\"shape\":(2,3) ,'fortran_order':True,'descr':'<f4'}\n", 24));
    REQUIRE(spaced);
    REQUIRE(*spaced);
    CHECK((*spaced)->fortran_order);
    CHECK((*spaced)->element_bytes == 4);
    CHECK((*spaced)->dims == std::vector<std::uint64_t>{2, 3});
    const auto scalar = parse(with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8));
    REQUIRE((scalar && *scalar));
    CHECK((*scalar)->array_bytes == 8);
}

TEST_CASE("npy: what is no plain array is refused", "[npy]") {
    for (const char* text :
         {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
          "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }",
          "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1", "", "{",
          "{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }",
          "{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 2), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } import os"}) {
        INFO(text);
        CHECK_FALSE(parse(with_header(text, 4)));
    }
    CHECK_FALSE(parse(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 5))); // trailing byte
    CHECK_FALSE(parse(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, 0xffff)));
}

TEST_CASE("npy: 4 KiB for the header, then the array in pieces", "[npy]") {
    const FileShape shape = shape_of({100, 90});
    const Bytes file = make_file(formats::npy_format(), shape, numbered_content());
    ReadBack result;
    REQUIRE(read_samples(formats::npy_format(), request_for(file, shape), file, {0}, result, {8192, 4}));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const formats::Extent& e : result.extents) found.emplace_back(e.offset, e.bytes);
    CHECK(found ==
          std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 4096}, {4096, 4096}, {8192, 128 + 9000 - 8192}});
}

TEST_CASE("npy: samples are the axis that counts them", "[npy]") {
    formats::NpyHeader header;
    header.element_bytes = 2;
    header.dims = {7, 8, 4};
    CHECK(formats::split_npy_shape(header, 4).dims == std::vector<std::uint64_t>{7, 8});
    CHECK(formats::split_npy_shape(header, 7).dims == std::vector<std::uint64_t>{8, 4});
    const FileShape whole = formats::split_npy_shape(header, 5);
    CHECK(whole.sample_count == 1);
    CHECK(whole.dims == header.dims);
    CHECK(whole.element_bytes == 2);
}
