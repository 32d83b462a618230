// The footer of a parquet file, read without believing it: parquet.thrift's FileMetaData, RowGroup, ColumnChunk,
// ColumnMetaData. What is not needed is skipped.
#include <limits>

#include "formats/parquet_schema.hpp"

namespace feedbench::formats::parquet {

namespace {

using thrift::Reader;
using thrift::Type;

constexpr std::uint64_t kRowsMost = std::numeric_limits<std::uint32_t>::max();
struct ChunkFacts {
    std::int64_t codec = -1, value_count = -1, bytes = -1, data_page = -1, index_page = -1, dictionary_page = -1;
    bool has_metadata = false, is_elsewhere = false, is_plain = true;
};

class Footer {
  public:
    explicit Footer(const FooterRequest& request) : request_(request), in_(request.footer) {}

    Expected<FileLayout> read() {
        layout_.file_bytes = request_.file_bytes;
        layout_.footer_begin = request_.footer_begin;
        bool has_schema = false, has_groups = false;
        std::int64_t rows = -1;
        for (auto field = in_.next_field(); field.type != Type::stop; field = in_.next_field()) {
            Status status;
            if (field.id == 2 && field.type == Type::list && !has_schema) {
                has_schema = true;
                status = read_columns();
            } else if (field.id == 3) {
                rows = in_.integer(field.type);
            } else if (field.id == 4 && field.type == Type::list && has_schema && !has_groups) {
                has_groups = true;
                status = read_groups();
            } else {
                in_.skip(field.type);
            }
            if (!status) return status.error();
        }
        if (in_.has_failed()) return damaged("what stands here is no parquet metadata");
        if (!has_schema || !has_groups || rows < 0) return damaged("schema, row groups or count of rows are missing");
        if (static_cast<std::uint64_t>(rows) != layout_.row_count())
            return damaged("its row groups have " + std::to_string(layout_.row_count()) + " rows, it says " +
                           std::to_string(rows));
        if (const Status status = check_rows(); !status) return status.error();
        return std::move(layout_);
    }

  private:
    Error damaged(const std::string& what) const { return damaged_footer(request_, in_, what); }

    Status read_columns() {
        auto leaves = read_schema(in_, request_);
        if (!leaves) return leaves.error();
        leaves_ = std::move(*leaves);
        return {};
    }

    Status read_groups() {
        const Reader::List list = in_.list();
        if (list.of != Type::struct_) return damaged("row groups are no structures");
        for (const Leaf& leaf : leaves_)
            if (leaf.is_read) ++read_count_;
        layout_.first_rows.push_back(0);
        for (std::uint64_t i = 0; i < list.count; ++i)
            if (const Status status = read_group(); !status) return status;
        std::uint64_t before = 0;
        for (const Leaf& leaf : leaves_) {
            is_fixed_ = is_fixed_ && leaf.value_bytes > 0 && leaf.is_required && leaf.is_plain;
            if (leaf.is_read)
                layout_.columns.push_back({.name = leaf.name,
                                           .value_bytes = leaf.is_plain && leaf.is_required ? leaf.value_bytes : 0,
                                           .bytes_before = before,
                                           .is_flat = leaf.is_flat});
            before += leaf.value_bytes;
        }
        layout_.row_bytes = is_fixed_ ? before : 0;
        return {};
    }

    Status read_group() {
        std::int64_t rows = -1;
        bool has_columns = false;
        in_.begin_struct();
        for (auto field = in_.next_field(); field.type != Type::stop; field = in_.next_field()) {
            if (field.id == 1 && field.type == Type::list && !has_columns) {
                has_columns = true;
                const Reader::List list = in_.list();
                if (list.of != Type::struct_ || list.count != leaves_.size())
                    return damaged("a row group of " + std::to_string(list.count) + " columns, the schema has " +
                                   std::to_string(leaves_.size()));
                for (std::size_t i = 0; i < leaves_.size(); ++i)
                    if (const Status status = read_chunk(i); !status) return status;
            } else if (field.id == 3) {
                rows = in_.integer(field.type);
            } else {
                in_.skip(field.type);
            }
        }
        if (in_.has_failed()) return damaged("a row group is damaged");
        if (!has_columns || rows < 0 || static_cast<std::uint64_t>(rows) > kRowsMost - layout_.first_rows.back())
            return damaged("a row group of " + std::to_string(rows) + " rows, or without columns");
        if (rows == 0) // some writers leave one behind: nothing is read of it
            layout_.chunks.resize(layout_.chunks.size() - read_count_);
        else
            layout_.first_rows.push_back(layout_.first_rows.back() + static_cast<std::uint32_t>(rows));
        return {};
    }

    Status read_chunk(std::size_t leaf) {
        ChunkFacts facts;
        in_.begin_struct();
        for (auto field = in_.next_field(); field.type != Type::stop; field = in_.next_field()) {
            facts.is_elsewhere = facts.is_elsewhere || field.id == 1;
            if (field.id == 3 && field.type == Type::struct_) {
                facts.has_metadata = true;
                read_chunk_metadata(facts);
            } else {
                in_.skip(field.type);
            }
        }
        const std::string column = "column '" + leaves_[leaf].name + "' ";
        if (in_.has_failed()) return damaged(column + "has damaged metadata");
        if (facts.is_elsewhere) return damaged(column + "lies in another file, which is not read");
        if (!facts.has_metadata || facts.bytes < 0 || facts.data_page < 0 || facts.value_count < 0)
            return damaged(column + "has no place or size (encrypted columns cannot be read)");
        std::int64_t begin = facts.data_page;
        for (const std::int64_t page : {facts.index_page, facts.dictionary_page})
            if (page > 0 && page < begin) begin = page; // some writers say 0 where there is none
        const auto data_end = static_cast<std::int64_t>(request_.footer_begin);
        if (facts.bytes > 0 && (begin < 4 || begin > data_end || facts.bytes > data_end - begin))
            return damaged(column + "is said to lie at " + std::to_string(begin) + ", " + std::to_string(facts.bytes) +
                           " bytes: not between head and footer (" + std::to_string(data_end) + ")");
        if (facts.codec != 0 || !facts.is_plain) leaves_[leaf].is_plain = false;
        if (leaves_[leaf].is_read)
            layout_.chunks.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(facts.bytes)});
        return {};
    }

    void read_chunk_metadata(ChunkFacts& facts) {
        in_.begin_struct();
        for (auto field = in_.next_field(); field.type != Type::stop; field = in_.next_field()) {
            switch (field.id) {
            case 2:
                if (field.type == Type::list)
                    read_encodings(facts);
                else
                    in_.skip(field.type);
                break;
            case 4:
                facts.codec = in_.integer(field.type);
                break;
            case 5:
                facts.value_count = in_.integer(field.type);
                break;
            case 7:
                facts.bytes = in_.integer(field.type);
                break;
            case 9:
                facts.data_page = in_.integer(field.type);
                break;
            case 10:
                facts.index_page = in_.integer(field.type);
                break;
            case 11:
                facts.dictionary_page = in_.integer(field.type);
                break;
            default:
                in_.skip(field.type);
            }
        }
    }

    void read_encodings(ChunkFacts& facts) {
        const Reader::List list = in_.list();
        for (std::uint64_t i = 0; i < list.count && !in_.has_failed(); ++i) {
            const std::int64_t encoding = in_.integer(list.of);
            // RLE and BIT_PACKED are those of levels; values so encoded have type BOOLEAN, which is not fixed here.
            if (encoding != 0 && encoding != 3 && encoding != 4) facts.is_plain = false;
        }
    }

    Status check_rows() const {
        const FileShape& expected = request_.expected;
        if (expected.sample_count > 0 && layout_.row_count() != expected.sample_count)
            return format_error(request_.path, "parquet: the file has " + std::to_string(layout_.row_count()) +
                                                   " rows, expected " + std::to_string(expected.sample_count));
        if (expected.dims.empty() || layout_.row_bytes == expected.sample_bytes()) return {};
        return format_error(request_.path,
                            "parquet: " +
                                (layout_.row_bytes > 0 ? "a row has " + std::to_string(layout_.row_bytes) + " bytes"
                                                       : "rows are not plain values of fixed size") +
                                ", expected " + std::to_string(expected.sample_bytes()) + " bytes a row");
    }

    const FooterRequest& request_;
    Reader in_;
    FileLayout layout_;
    std::vector<Leaf> leaves_;
    std::size_t read_count_ = 0;
    bool is_fixed_ = true;
};

} // namespace

Expected<FileLayout> read_footer(const FooterRequest& request) { return Footer(request).read(); }

} // namespace feedbench::formats::parquet
