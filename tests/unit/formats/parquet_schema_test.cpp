// Which leaves of a file a plan's names stand for.
#include "parquet_files.hpp"

#include "formats/parquet_schema.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::parquet::Leaf;
using formats::thrift::Reader;
using formats::thrift::Type;
using formats::thrift::Writer;

namespace {

// A flat schema of floats with these names, as a plan that is adopted chooses from it.
Expected<std::vector<Leaf>> choose_from(const std::vector<std::string>& names, std::vector<TableColumn> columns) {
    Writer out;
    out.begin_list(2, Type::struct_, names.size() + 1);
    out.begin_element();
    out.text(4, "schema");
    out.i32(5, static_cast<std::int32_t>(names.size()));
    out.end_struct();
    for (const std::string& name : names) {
        out.begin_element();
        out.i32(1, 4);
        out.text(4, name);
        out.end_struct();
    }
    Reader in(out.bytes());
    (void)in.next_field();
    formats::parquet::FooterRequest request;
    request.path = "test_file";
    request.expected = table_of(std::move(columns), 1);
    request.expected.dims.clear();
    return formats::parquet::read_schema(in, request);
}

std::string names_read(const std::vector<std::string>& names, std::vector<TableColumn> columns) {
    const auto leaves = choose_from(names, std::move(columns));
    if (!leaves) return leaves.error().message;
    std::string text;
    for (const Leaf& leaf : *leaves)
        if (leaf.is_read) text += (text.empty() ? "" : " ") + leaf.name;
    return text;
}

} // namespace

TEST_CASE("parquet: a column may have another's name and a point in its name", "[parquet]") {
    const FileShape shape = table_of({column("a", "float32"), column("a.b", "float64"), column(".", "int8")}, 100, 30);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, shape, Check::checksum), file, all_samples(shape), result);
    if (!status) FAIL(status.error().describe());
    CHECK(result.payload == content_bytes(numbered_content(), 1300));
}

TEST_CASE("parquet: a leaf belongs to the longest name that stands for it", "[parquet]") {
    const std::vector<std::string> names = {"a", "a.b", "a.b.c", "a.d.e", "ab", "ab.c", "", "..", ".a"};
    CHECK(names_read(names, {column("a", "float32")}) == "a a.b a.b.c a.d.e");
    CHECK(names_read(names, {column("a", "float32", false), column("a.b", "float32")}) == "a.b a.b.c");
    CHECK(names_read(names, {column("a", "float32"), column("a.b", "float32", false)}) == "a a.d.e");
    CHECK(names_read(names, {column("a.b", "float32", false), column("a.b.c", "float32")}) == "a.b.c");
    CHECK(names_read(names, {column("a.d", "float32")}) == "a.d.e");
    CHECK(names_read(names, {column(".", "float32")}) == "..");
    CHECK(names_read(names, {column("ab.c", "float32")}) == "ab.c");
    CHECK_THAT(names_read(names, {column("b", "float32")}), Catch::Contains("no column 'b'; it has a, a.b,"));
    CHECK_THAT(names_read(names, {column("a.d.e.f", "float32")}), Catch::Contains("no column 'a.d.e.f'"));
    // Names in a file may be of any length: what is longer than the plan's is not looked up piece by piece.
    CHECK(names_read({"a." + std::string(4 << 20, '.'), "b"}, {column("a", "float32")}).size() == (4 << 20) + 2);
}

TEST_CASE("parquet: a table of 10,000 columns is opened by its plan", "[parquet]") {
    const FileShape shape = table_of(many_columns(10000, [](int i) { return i % 1000 == 3; }), 2, 2);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, shape, Check::checksum), file, all_samples(shape), result);
    if (!status) FAIL(status.error().describe());
    CHECK(result.payload_bytes == 10 * 2 * 2); // float16
}
