// Files that are not what they should be: sentences, never a crash, a hang or memory that the file does not have.
#include "parquet_files.hpp"

#include "formats/thrift_compact.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::parquet::WrittenFile;
using formats::thrift::Type;
using formats::thrift::Writer;

namespace {

const FileShape& small_table() {
    static const FileShape shape = table_of(
        {column("label", "float32"), column("id", "int64", false), column("vector", "float16", true, 8)}, 10, 4);
    return shape;
}

std::string error_of(const FileShape& shape, const Bytes& file, Check check = Check::framing,
                     ReadOptions options = {}) {
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, shape, check), file, all_samples(shape), result, options);
    return status ? std::string() : status.error().describe();
}

// The file with another footer.
Bytes with_footer(const Bytes& file, const FileShape& shape, const std::vector<std::byte>& footer) {
    Bytes made(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(WrittenFile(shape).footer_begin()));
    made.insert(made.end(), footer.begin(), footer.end());
    for (unsigned shift = 0; shift < 32; shift += 8) made.push_back(static_cast<std::byte>(footer.size() >> shift));
    for (const char c : std::string("PAR1")) made.push_back(static_cast<std::byte>(c));
    return made;
}

struct Made {
    std::int64_t rows = 10, group_rows = 10, chunk_at = 4, chunk_bytes = 40, values = 10;
    int children = 1, columns_in_group = 1, codec = 0, encoding = 0, repetition = 0, physical = 4;
    bool has_path = false, has_metadata = true;
    std::string name = "label";
};
std::vector<std::byte> footer_of(const Made& m) {
    Writer out;
    out.i32(1, 1);
    out.begin_list(2, Type::struct_, 2);
    out.begin_element();
    out.text(4, "schema");
    out.i32(5, m.children);
    out.end_struct();
    out.begin_element();
    out.i32(1, m.physical);
    out.i32(3, m.repetition);
    out.text(4, m.name);
    out.end_struct();
    out.i64(3, m.rows);
    out.begin_list(4, Type::struct_, 1);
    out.begin_element();
    out.begin_list(1, Type::struct_, static_cast<std::size_t>(m.columns_in_group));
    for (int i = 0; i < m.columns_in_group; ++i) {
        out.begin_element();
        if (m.has_path) out.text(1, "elsewhere.parquet");
        out.i64(2, m.chunk_at);
        if (m.has_metadata) {
            out.begin_struct(3);
            out.i32(1, m.physical);
            out.begin_list(2, Type::i32, 1);
            out.element(m.encoding);
            out.i32(4, m.codec);
            out.i64(5, m.values);
            out.i64(7, m.chunk_bytes);
            out.i64(9, m.chunk_at);
            out.end_struct();
        }
        out.end_struct();
    }
    out.i64(3, m.group_rows);
    out.end_struct();
    out.stop();
    return out.take();
}

// A file of one column of 10 floats, whose footer says what `m` says.
std::string said(const Made& m) {
    const FileShape shape = table_of({column("label", "float32")}, 10, 10);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    Made real = m;
    if (real.chunk_bytes == 40) real.chunk_bytes = static_cast<std::int64_t>(WrittenFile(shape).chunk(0, 0).bytes);
    return error_of(shape, with_footer(file, shape, footer_of(real)));
}

} // namespace

TEST_CASE("parquet: every byte of a small file, changed in every bit pattern that matters, does no harm",
          "[parquet][damage]") {
    const FileShape& shape = small_table();
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const std::size_t footer_begin = WrittenFile(shape).footer_begin();
    FileShape adopted; // nothing is known of it
    adopted.sample_count = shape.sample_count;
    std::size_t refused = 0, read = 0;
    for (std::size_t at = 0; at < file.size(); ++at)
        for (unsigned mask : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0xffU, 0x7fU}) {
            if (at < footer_begin && mask != 0x01U && mask != 0xffU) continue;
            Bytes damaged = file;
            damaged[at] ^= static_cast<std::byte>(mask);
            INFO("byte " << at << " of " << file.size() << " mask " << mask);
            for (const FileShape& asked : {shape, adopted}) {
                const std::string error = error_of(asked, damaged, Check::checksum);
                (error.empty() ? read : refused) += 1;
                if (!error.empty()) CHECK_THAT(error, Catch::Contains("test_file"));
                ReadBack streamed;
                (void)read_stream(parquet(), request_for(damaged, asked, Check::checksum), damaged, streamed);
            }
            (void)inspect(parquet(), request_for(damaged, FileShape{}), damaged);
        }
    CHECK(refused > file.size()); // most of it; names and what nobody looks at may change
    CHECK(read > 0);
}

TEST_CASE("parquet: footers of random bytes do no harm", "[parquet][damage]") {
    const FileShape& shape = small_table();
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const Bytes good = [&] {
        const auto all = WrittenFile(shape).footer();
        return Bytes(all.begin(), all.end() - 8);
    }();
    std::uint64_t state = 7;
    const auto draw = [&state] { return state = mix64(state + 1); };
    for (int round = 0; round < 3000; ++round) {
        Bytes footer = good;
        if (round % 3 == 0) { // nothing of it
            footer.resize(draw() % 600 + 1);
            for (std::byte& b : footer) b = static_cast<std::byte>(draw());
        } else if (round % 3 == 1) { // some bytes
            for (int i = 0; i < 4; ++i) footer[draw() % footer.size()] = static_cast<std::byte>(draw());
        } else { // a part taken out, or doubled
            const std::size_t from = draw() % footer.size(), bytes = draw() % (footer.size() - from);
            const auto begin = footer.begin() + static_cast<std::ptrdiff_t>(from);
            if (round % 2 == 0)
                footer.erase(begin, begin + static_cast<std::ptrdiff_t>(bytes));
            else
                footer.insert(footer.end(), good.begin() + static_cast<std::ptrdiff_t>(from),
                              good.begin() + static_cast<std::ptrdiff_t>(from + bytes));
            if (footer.empty()) continue;
        }
        const std::string error = error_of(shape, with_footer(file, shape, footer), Check::checksum);
        if (!error.empty()) CHECK_THAT(error, Catch::Contains("test_file"));
    }
}

TEST_CASE("parquet: a file cut short, another magic, a footer that cannot lie there", "[parquet][damage]") {
    const FileShape& shape = small_table();
    const Bytes file = make_file(parquet(), shape, numbered_content());
    CHECK(error_of(shape, file, Check::checksum).empty());
    Bytes cut(file.begin(), file.end() - 1);
    CHECK_THAT(error_of(shape, cut), Catch::Contains("does not end with PAR1"));
    CHECK_THAT(error_of(shape, Bytes(file.begin(), file.begin() + 11)), Catch::Contains("at least 12 bytes, found 11"));
    Bytes other = file;
    other[other.size() - 1] = std::byte{'E'};
    CHECK_THAT(error_of(shape, other), Catch::Contains("encrypted"));
    Bytes beyond = file; // the footer's length
    beyond[beyond.size() - 6] = std::byte{0xff};
    CHECK_THAT(error_of(shape, beyond), Catch::Contains("is said in a file of " + std::to_string(file.size())));
    Bytes none = file;
    for (std::size_t i = 8; i > 4; --i) none[none.size() - i] = std::byte{0};
    CHECK_THAT(error_of(shape, none), Catch::Contains("a footer of 0 bytes"));
}

TEST_CASE("parquet: a column that is missing or of another width, other counts of rows, are named",
          "[parquet][damage]") {
    const FileShape& shape = small_table();
    const Bytes file = make_file(parquet(), shape, numbered_content());
    std::vector<TableColumn> columns = *shape.columns;
    columns[0].name = "price";
    FileShape asked = table_of(columns, 10, 4);
    CHECK_THAT(error_of(asked, file), Catch::Contains("no column 'price'; it has label, id, vector"));
    asked.dims.clear(); // adopted: the same sentence
    CHECK_THAT(error_of(asked, file), Catch::Contains("no column 'price'"));
    columns = *shape.columns;
    columns[2].size = 9;
    CHECK_THAT(error_of(table_of(columns, 10, 4), file),
               Catch::Contains("column 'vector' has 16 bytes a row, expected 18"));
    columns = {column("label", "float32")};
    CHECK_THAT(error_of(table_of(columns, 10, 4), file), Catch::Contains("a row has 28 bytes, expected 4"));
    CHECK_THAT(error_of(table_of(*shape.columns, 11, 4), file), Catch::Contains("has 10 rows, expected 11"));
}

TEST_CASE("parquet: an adopted table is read by the names that are asked for", "[parquet]") {
    const Bytes file = make_file(parquet(), small_table(), numbered_content());
    FileShape asked = table_of({column("vector", "float32")}, 10); // the type is the file's
    asked.dims.clear();
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, asked, Check::checksum), file, all_samples(asked), result);
    if (!status) FAIL(status.error().describe());
    CHECK(result.payload_bytes == 160);
}

TEST_CASE("parquet: what a footer says is held against the file", "[parquet][damage]") {
    CHECK(said({}).empty());
    CHECK_THAT(said({.rows = 11}), Catch::Contains("have 10 rows, it says 11"));
    CHECK_THAT(said({.rows = -1}), Catch::Contains("missing"));
    CHECK_THAT(said({.rows = 10, .group_rows = -4}), Catch::Contains("a row group of -4 rows"));
    CHECK_THAT(said({.rows = 1LL << 40, .group_rows = 1LL << 40}),
               Catch::Contains("a row group of 1099511627776 rows"));
    CHECK_THAT(said({.chunk_at = 1LL << 40}), Catch::Contains("not between head and footer"));
    CHECK_THAT(said({.chunk_at = -5}), Catch::Contains("no place or size"));
    CHECK_THAT(said({.chunk_at = 2}), Catch::Contains("not between head and footer"));
    CHECK_THAT(said({.chunk_bytes = 1LL << 62}), Catch::Contains("not between head and footer"));
    CHECK_THAT(said({.chunk_bytes = -1}), Catch::Contains("no place or size"));
    CHECK_THAT(said({.chunk_bytes = 0}), Catch::Contains("hold 0 values, the row group has 10 rows"));
    CHECK_THAT(said({.chunk_bytes = 41}), Catch::Contains("the chunk has"));
    CHECK_THAT(said({.children = 2}), Catch::Contains("the schema ends early"));
    CHECK_THAT(said({.children = 0}), Catch::Contains("no tree"));
    CHECK_THAT(said({.children = -1}), Catch::Contains("no tree"));
    CHECK_THAT(said({.columns_in_group = 2}), Catch::Contains("a row group of 2 columns, the schema has 1"));
    CHECK_THAT(said({.has_path = true}), Catch::Contains("in another file"));
    CHECK_THAT(said({.has_metadata = false}), Catch::Contains("no place or size"));
    // Ours must be plain; of somebody else's only the ranges are read.
    CHECK_THAT(said({.codec = 1}), Catch::Contains("not plain values of fixed size, expected 4 bytes a row"));
    CHECK_THAT(said({.encoding = 8}), Catch::Contains("not plain values of fixed size"));
    CHECK_THAT(said({.repetition = 1}), Catch::Contains("not plain values of fixed size"));
    CHECK_THAT(said({.physical = 2}), Catch::Contains("column 'label' has 8 bytes a row, expected 4"));
    CHECK_THAT(said({.name = "other"}), Catch::Contains("no column 'label'; it has other"));
}

TEST_CASE("parquet: columns that overlap, and pages that are not what they say, are refused", "[parquet][damage]") {
    const FileShape shape = table_of({column("a", "float32")}, 10, 10);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    Bytes wrong_page = file;
    wrong_page[4] = std::byte{0x35}; // the first field of the first page's header becomes another
    CHECK_THAT(error_of(shape, wrong_page), Catch::Contains("column 'a'"));
    Bytes wrong_value = file;
    wrong_value[WrittenFile(shape).footer_begin() - 1] ^= std::byte{1};
    CHECK(error_of(shape, wrong_value).empty()); // framing looks at no value
    CHECK_THAT(error_of(shape, wrong_value, Check::checksum), Catch::Contains("CRC-32"));

    Writer out;
    out.begin_list(2, Type::struct_, 3);
    for (const auto& [name, children] : {std::pair{"schema", 2}, std::pair{"a", 0}, std::pair{"b", 0}}) {
        out.begin_element();
        if (children == 0) out.i32(1, 4);
        out.text(4, name);
        if (children > 0) out.i32(5, children);
        out.end_struct();
    }
    out.i64(3, 10);
    out.begin_list(4, Type::struct_, 1);
    out.begin_element();
    out.begin_list(1, Type::struct_, 2);
    for (int i = 0; i < 2; ++i) {
        out.begin_element();
        out.begin_struct(3);
        out.i64(5, 10);
        out.i64(7, 30);
        out.i64(9, 4 + i);
        out.end_struct();
        out.end_struct();
    }
    out.i64(3, 10);
    out.end_struct();
    out.stop();
    FileShape adopted;
    adopted.sample_count = 10;
    CHECK_THAT(error_of(adopted, with_footer(file, shape, out.bytes())), Catch::Contains("'b' overlaps"));
}

TEST_CASE("parquet: a map of booleans in a page's header needs a byte of each", "[parquet][damage]") {
    Writer header; // of an index page of 0 bytes, and a field that nobody knows
    header.i32(1, 1);
    header.i32(2, 0);
    header.i32(3, 0);
    Bytes file(4 + 150000);
    std::copy(header.bytes().begin(), header.bytes().end(), file.begin() + 4);
    auto at = file.begin() + 4 + static_cast<std::ptrdiff_t>(header.bytes().size());
    for (const unsigned b : {0x6bU, 0xa0U, 0x8dU, 0x06U, 0x11U}) *at++ = static_cast<std::byte>(b); // 100,000 of them
    const std::vector<std::byte> footer = footer_of({.chunk_bytes = 150000});
    file.insert(file.end(), footer.begin(), footer.end());
    for (unsigned shift = 0; shift < 32; shift += 8) file.push_back(static_cast<std::byte>(footer.size() >> shift));
    for (const char c : std::string("PAR1")) file.push_back(static_cast<std::byte>(c));
    FileShape adopted;
    adopted.sample_count = 10;
    CHECK_THAT(error_of(adopted, file, Check::framing, {65536}), Catch::Contains("ends within a page's header"));
}

TEST_CASE("parquet: maps in a footer cannot claim each other's bytes", "[parquet][damage]") {
    const FileShape shape = table_of({column("label", "float32")}, 10, 10);
    std::vector<std::byte> footer = footer_of({});
    footer.pop_back(); // its end
    // Field 5 or later: a list of 200 maps, each of 128 booleans that are not there.
    for (const unsigned b : {0x59U, 0xfbU, 0xc8U, 0x01U}) footer.push_back(static_cast<std::byte>(b));
    for (int i = 0; i < 200; ++i)
        for (const unsigned b : {0x80U, 0x01U, 0x11U}) footer.push_back(static_cast<std::byte>(b));
    for (const unsigned b : {0x18U, 0xc8U, 0x01U}) footer.push_back(static_cast<std::byte>(b)); // a text
    footer.resize(footer.size() + 200 + 1);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    CHECK_THAT(error_of(shape, with_footer(file, shape, footer)), Catch::Contains("no parquet metadata"));
}
