// The columns of a parquet file as its footer lists them, and which of them are read.
//
// Thread: one user. Owner: the caller. Units: bytes. Errors: format_error at the place in the footer; a planned column
// that is not there, or of another width. Source: parquet.thrift, SchemaElement; "Nested Encoding" of its README.
#pragma once

#include "formats/parquet_layout.hpp"
#include "formats/thrift_compact.hpp"

namespace feedbench::formats::parquet {

struct Leaf {
    std::string name;              // with the groups around it: "a.list.element"
    std::uint64_t value_bytes = 0; // 0: not fixed
    bool is_flat = true;           // no list around it
    bool is_required = true;       // flat, and a value in every row
    bool is_read = true;
    bool is_plain = true; // in every chunk: PLAIN and not compressed
};

// The list of schema elements, at which `in` stands. A name of the plan stands for the leaf that is called so, and for
// all leaves below it that no longer name of the plan stands for.
Expected<std::vector<Leaf>> read_schema(thrift::Reader& in, const FooterRequest& request);

Error damaged_footer(const FooterRequest& request, const thrift::Reader& in, const std::string& what);

} // namespace feedbench::formats::parquet
