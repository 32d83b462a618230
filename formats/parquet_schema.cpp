#include "formats/parquet_schema.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace feedbench::formats::parquet {

namespace {

using thrift::Reader;
using thrift::Type;

constexpr std::size_t kDeepest = 64, kColumnsMost = 100'000, kNameBytesMost = 64 << 20;
constexpr int kRequired = 0, kRepeated = 2;

struct Element {
    std::string name;
    std::int64_t type = -1, type_length = 0, repetition = kRequired, child_count = 0;
};

// A group whose elements are still to come.
struct Group {
    std::string prefix;
    std::int64_t left;
    bool is_flat, is_required;
};

Element read_element(Reader& in) {
    Element element;
    in.begin_struct();
    for (auto field = in.next_field(); field.type != Type::stop; field = in.next_field()) {
        if (field.id == 1)
            element.type = in.integer(field.type);
        else if (field.id == 2)
            element.type_length = in.integer(field.type);
        else if (field.id == 3)
            element.repetition = in.integer(field.type);
        else if (field.id == 4 && field.type == Type::binary)
            element.name = in.text();
        else if (field.id == 5)
            element.child_count = in.integer(field.type);
        else
            in.skip(field.type);
    }
    return element;
}

std::uint64_t value_bytes(const Element& e) {
    switch (e.type) { // parquet.thrift, Type
    case 1:           // INT32
    case 4:           // FLOAT
        return 4;
    case 2: // INT64
    case 5: // DOUBLE
        return 8;
    case 3: // INT96
        return 12;
    case 7: // FIXED_LEN_BYTE_ARRAY
        return e.type_length > 0 ? static_cast<std::uint64_t>(e.type_length) : 0;
    default: // BOOLEAN lies in bits, BYTE_ARRAY has lengths of its own
        return 0;
    }
}

std::string some_names(const std::vector<Leaf>& leaves) {
    constexpr std::size_t kNames = 8, kLetters = 40;
    std::string text;
    for (std::size_t i = 0; i < leaves.size() && i < kNames; ++i)
        text += (i > 0 ? ", " : "") + leaves[i].name.substr(0, kLetters);
    return text + (leaves.size() > kNames ? " and " + std::to_string(leaves.size() - kNames) + " more" : "");
}

// The names of a plan's columns. A name stands for the leaf that is called so, and for the leaves below it that no
// longer name stands for: a flat column may have a point in its name.
class PlannedNames {
  public:
    static constexpr std::size_t kNone = std::string_view::npos;
    explicit PlannedNames(const std::vector<TableColumn>& columns) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            indexes_.emplace(columns[i].name, i);
            longest_ = std::max(longest_, columns[i].name.size());
        }
    }
    // The index of the column that the leaf belongs to. A prefix longer than every name is not looked up: names in a
    // file may be of any length.
    std::size_t find(std::string_view leaf) const {
        if (const auto exact = indexes_.find(leaf); exact != indexes_.end()) return exact->second;
        for (std::size_t end = leaf.rfind('.', longest_); end != kNone && end > 0; end = leaf.rfind('.', end - 1))
            if (const auto group = indexes_.find(leaf.substr(0, end)); group != indexes_.end()) return group->second;
        return kNone;
    }

  private:
    std::unordered_map<std::string_view, std::size_t> indexes_;
    std::size_t longest_ = 0;
};

Status choose(std::vector<Leaf>& leaves, const FooterRequest& request) {
    const FileShape& expected = request.expected;
    if (!expected.columns || expected.columns->empty()) return {};
    const PlannedNames names(*expected.columns);
    struct Found {
        std::size_t leaves = 0;
        std::uint64_t bytes = 0;
    };
    std::vector<Found> found(expected.columns->size());
    for (Leaf& leaf : leaves) {
        const std::size_t index = names.find(leaf.name);
        leaf.is_read = index != PlannedNames::kNone && (*expected.columns)[index].is_read;
        if (index == PlannedNames::kNone) continue;
        ++found[index].leaves;
        found[index].bytes += leaf.value_bytes;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const TableColumn& column = (*expected.columns)[i];
        const std::uint64_t bytes = found[i].bytes;
        if (found[i].leaves == 0 && (column.is_read || !expected.dims.empty()))
            return format_error(request.path,
                                "parquet: the file has no column '" + column.name + "'; it has " + some_names(leaves));
        if (!expected.dims.empty() && bytes != row_bytes(column))
            return format_error(request.path, "parquet: column '" + column.name + "' has " + std::to_string(bytes) +
                                                  " bytes a row, expected " + std::to_string(row_bytes(column)) + " (" +
                                                  column.dtype + ")");
    }
    return {};
}

} // namespace

Error damaged_footer(const FooterRequest& request, const Reader& in, const std::string& what) {
    return format_error(request.path, "parquet footer: " + what,
                        static_cast<std::int64_t>(request.footer_begin + in.position()));
}

Expected<std::vector<Leaf>> read_schema(Reader& in, const FooterRequest& request) {
    std::vector<Leaf> leaves;
    std::vector<Group> open; // the tree as its elements come: a group says how many follow it
    std::size_t name_bytes = 0;
    const Reader::List list = in.list();
    if (list.of != Type::struct_ || list.count == 0) return damaged_footer(request, in, "a schema without elements");
    for (std::uint64_t i = 0; i < list.count; ++i) {
        const Element e = read_element(in);
        if (in.has_failed()) return damaged_footer(request, in, "the schema is damaged");
        while (!open.empty() && open.back().left == 0) open.pop_back();
        if ((i > 0 && open.empty()) || e.child_count < 0) return damaged_footer(request, in, "the schema is no tree");
        if (i == 0) { // the root has no name that counts
            open.push_back({"", e.child_count, true, true});
            continue;
        }
        Group& parent = open.back();
        --parent.left;
        const bool is_flat = parent.is_flat && e.repetition != kRepeated;
        const bool is_required = parent.is_required && e.repetition == kRequired;
        std::string path = parent.prefix.empty() ? e.name : parent.prefix + "." + e.name;
        name_bytes += path.size();
        if (leaves.size() == kColumnsMost || name_bytes > kNameBytesMost || open.size() == kDeepest)
            return damaged_footer(request, in, "more than 100000 columns, 64 MiB of names or 64 groups within groups");
        if (e.child_count > 0)
            open.push_back({std::move(path), e.child_count, is_flat, is_required});
        else
            leaves.push_back({.name = std::move(path),
                              .value_bytes = value_bytes(e),
                              .is_flat = is_flat,
                              .is_required = is_required});
    }
    while (!open.empty() && open.back().left == 0) open.pop_back();
    if (!open.empty()) return damaged_footer(request, in, "the schema ends early");
    if (leaves.empty()) return damaged_footer(request, in, "a schema without columns");
    if (const Status status = choose(leaves, request); !status) return status.error();
    return leaves;
}

} // namespace feedbench::formats::parquet
