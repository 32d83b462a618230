// What the encoder writes, the library reads, and our extents are where the library finds the same bytes.
#include <hdf5.h>

#include "formats/hdf5_layout.hpp"
#include "formats/hdf5_library.hpp"
#include "tests/unit/formats/hdf5_files.hpp"

using namespace feedbench;
using namespace feedbench::formats;
using namespace feedbench::formats::hdf5_test;

namespace {

FileShape shape_of(std::vector<std::uint64_t> dims, std::uint32_t samples = 1) {
    FileShape shape;
    shape.dims = std::move(dims);
    shape.sample_count = samples;
    return shape;
}

struct Case {
    std::string name;
    FileShape shape;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    all.push_back({"contiguous", shape_of({33, 57})});
    all.push_back({"tiny", shape_of({1, 1})});
    all.push_back({"one dimension", shape_of({5000}, 3)});
    all.push_back({"many samples", shape_of({20, 30}, 17)});
    all.push_back({"several datasets", shape_of({20, 30}, 5)});
    all.back().shape.record_dataset_count = 12;
    all.push_back({"wide elements", shape_of({20, 30}, 2)});
    all.back().shape.element_bytes = 8;
    all.push_back({"chunked, edges", shape_of({33, 57}, 3)});
    all.back().shape.chunk_dims = {10, 20};
    all.push_back({"one chunk", shape_of({33, 57}, 1)});
    all.back().shape.chunk_dims = {1, 33, 57};
    all.push_back({"samples share chunks", shape_of({16, 16}, 7)});
    all.back().shape.chunk_dims = {3, 8, 16};
    all.push_back({"unlimited in one axis", shape_of({16, 16}, 7)});
    all.back().shape.chunk_dims = {2, 8, 8};
    all.back().shape.max_shape = {0, 16, 16};
    all.push_back({"unlimited in all axes", shape_of({40, 40}, 4)});
    all.back().shape.chunk_dims = {8, 8};
    all.back().shape.max_shape = {0, 0, 0};
    all.push_back({"limited max_shape, guessed chunks", shape_of({300, 300}, 2)});
    all.back().shape.max_shape = {1000, 300};
    all.push_back({"chunked datasets", shape_of({33, 57}, 2)});
    all.back().shape.chunk_dims = {16, 16};
    all.back().shape.record_dataset_count = 3;
    all.push_back({"gzip", shape_of({33, 57}, 3)});
    all.back().shape.chunk_dims = {10, 20};
    all.back().shape.compression = FileShape::Compression::gzip;
    all.push_back({"gzip, guessed chunks, datasets", shape_of({300, 301}, 2)});
    all.back().shape.compression = FileShape::Compression::gzip;
    all.back().shape.record_dataset_count = 2;
    return all;
}

// The whole dataset as the library reads it.
std::vector<std::byte> library_bytes(const std::string& path, const std::string& dataset_name, const FileShape& shape) {
    const hdf5::Library library;
    hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    REQUIRE(file.is_valid());
    hdf5::Handle dataset(H5Dopen2(file.get(), dataset_name.c_str(), H5P_DEFAULT), H5Dclose);
    REQUIRE(dataset.is_valid());
    hdf5::Handle type(H5Dget_type(dataset.get()), H5Tclose);
    std::vector<std::byte> bytes(shape.payload_bytes());
    REQUIRE(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0);
    return bytes;
}

// Where element bytes of a dataset lie in the content: the documented rule, computed here once more and differently.
std::uint64_t payload_at(const FileShape& shape, std::uint32_t dataset, std::uint64_t position) {
    const std::vector<std::uint64_t> chunk_dims = hdf5::chunk_dims_of(shape);
    if (chunk_dims.empty()) return dataset * shape.payload_bytes() + position;
    std::vector<std::uint64_t> dims{shape.sample_count};
    dims.insert(dims.end(), shape.dims.begin(), shape.dims.end());
    std::uint64_t element = position / shape.element_bytes, chunk_count = 1, chunk = 0, within = 0, chunk_elements = 1;
    std::vector<std::uint64_t> at(dims.size());
    for (std::size_t i = dims.size(); i-- > 0; element /= dims[i]) at[i] = element % dims[i];
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::uint64_t count = (dims[i] + chunk_dims[i] - 1) / chunk_dims[i];
        chunk = chunk * count + at[i] / chunk_dims[i];
        within = within * chunk_dims[i] + at[i] % chunk_dims[i];
        chunk_count *= count;
        chunk_elements *= chunk_dims[i];
    }
    return ((dataset * chunk_count + chunk) * chunk_elements + within) * shape.element_bytes +
           position % shape.element_bytes;
}

} // namespace

TEST_CASE("hdf5: the library reads what the encoder wrote") {
    const Folder folder;
    for (const Case& c : cases()) {
        INFO(c.name);
        const std::string path = folder.file("a.hdf5");
        write_file(path, encode_all(c.shape));
        for (std::uint32_t d = 0; d < c.shape.record_dataset_count; ++d) {
            const std::vector<std::byte> read = library_bytes(path, "records_" + std::to_string(d), c.shape);
            std::size_t wrong = 0;
            for (std::uint64_t at = 0; at < read.size(); ++at)
                wrong += read[at] != content_byte(payload_at(c.shape, d, at));
            REQUIRE(wrong == 0);
        }
        const FileShape labels = shape_of({1}, c.shape.sample_count);
        FileShape wide = labels;
        wide.element_bytes = 8;
        REQUIRE(library_bytes(path, "labels", wide) == std::vector<std::byte>(wide.payload_bytes()));
    }
}

TEST_CASE("hdf5: the size is known before the first byte, and pieces do not matter") {
    for (const Case& c : cases()) {
        INFO(c.name);
        const std::vector<std::byte> bytes = encode_all(c.shape, 7);
        REQUIRE(bytes == encode_all(c.shape, std::size_t{1} << 20));
        const auto planned = hdf5_format().file_bytes(c.shape);
        REQUIRE(planned.has_value());
        if (c.shape.compression == FileShape::Compression::none)
            REQUIRE(*planned == bytes.size());
        else
            REQUIRE(*planned >= bytes.size());
    }
}

TEST_CASE("hdf5: a sample's extents are its bytes") {
    const Folder folder;
    for (const Case& c : cases()) {
        INFO(c.name);
        const std::string path = folder.file("a.hdf5");
        const std::vector<std::byte> bytes = encode_all(c.shape);
        write_file(path, bytes);
        ReadRequest request = request_for(path, c.shape, bytes.size());
        std::vector<bool> seen; // by payload offset
        request.on_payload = [&](std::uint64_t offset, std::span<const std::byte> payload) -> Status {
            if (seen.size() < offset + payload.size()) seen.resize(offset + payload.size());
            for (std::size_t i = 0; i < payload.size(); ++i) {
                if (payload[i] != content_byte(offset + i)) return format_error(path, "other content");
                seen[offset + i] = true;
            }
            return {};
        };
        auto reader = hdf5_format().open(request);
        if (!reader) FAIL(reader.error().describe());
        REQUIRE_FALSE((*reader)->must_consume_first());
        const std::uint64_t sample_bytes = c.shape.sample_bytes();
        for (std::uint32_t sample = 0; sample < c.shape.sample_count; ++sample) {
            seen.clear();
            REQUIRE((*reader)->begin(sample).has_value());
            // All extents first, then all data: as a loader that keeps several in flight.
            std::vector<Extent> extents;
            while (true) {
                const auto next = (*reader)->next(300);
                REQUIRE(next.has_value());
                if (!*next) break;
                REQUIRE((*next)->bytes > 0);
                REQUIRE((*next)->bytes <= 300);
                REQUIRE((*next)->offset + (*next)->bytes <= bytes.size());
                extents.push_back(**next);
            }
            for (const Extent& extent : extents) {
                const Status consumed =
                    (*reader)->consume(extent, std::span(bytes).subspan(extent.offset, extent.bytes));
                if (!consumed) FAIL(consumed.error().describe());
            }
            std::uint64_t missing = 0;
            for (std::uint32_t d = 0; d < c.shape.record_dataset_count; ++d)
                for (std::uint64_t at = sample * sample_bytes; at < (sample + 1) * sample_bytes; ++at) {
                    const std::uint64_t offset = payload_at(c.shape, d, at);
                    missing += offset >= seen.size() || !seen[offset];
                }
            REQUIRE(missing == 0);
            if (c.shape.chunk_dims.empty() && c.shape.max_shape.empty() &&
                c.shape.compression == FileShape::Compression::none) {
                std::uint64_t total = 0;
                for (const Extent& extent : extents) total += extent.bytes;
                REQUIRE(total == sample_bytes * c.shape.record_dataset_count); // and nothing else
            }
        }
        REQUIRE_FALSE((*reader)->begin(c.shape.sample_count).has_value());
    }
}

TEST_CASE("hdf5: a stream completes every sample and shows all payload") {
    const Folder folder;
    for (const Case& c : cases()) {
        INFO(c.name);
        const std::string path = folder.file("a.hdf5");
        const std::vector<std::byte> bytes = encode_all(c.shape);
        write_file(path, bytes);
        ReadRequest request = request_for(path, c.shape, bytes.size());
        std::uint64_t shown = 0;
        request.on_payload = [&](std::uint64_t offset, std::span<const std::byte> payload) -> Status {
            for (std::size_t i = 0; i < payload.size(); ++i)
                if (payload[i] != content_byte(offset + i)) return format_error(path, "other content");
            shown += payload.size();
            return {};
        };
        auto stream = hdf5_format().open_stream(request);
        if (!stream) FAIL(stream.error().describe());
        std::uint32_t complete = 0;
        for (std::size_t at = 0; at < bytes.size(); at += 777) {
            const auto now =
                (*stream)->consume(std::span(bytes).subspan(at, std::min<std::size_t>(777, bytes.size() - at)));
            if (!now) FAIL(now.error().describe());
            REQUIRE(*now >= complete);
            complete = *now;
            if (at == 0 && bytes.size() > 777) REQUIRE(complete < c.shape.sample_count);
        }
        REQUIRE(complete == c.shape.sample_count);
        REQUIRE(shown >= c.shape.payload_bytes() * c.shape.record_dataset_count); // edge chunks are padded
        const std::byte more{};
        REQUIRE_FALSE((*stream)->consume({&more, 1}).has_value());
    }
}

TEST_CASE("hdf5: without content the extents are those of a real file") {
    const Folder folder;
    for (const Case& c : cases()) {
        if (c.shape.compression != FileShape::Compression::none) continue; // sizes of real chunks differ
        INFO(c.name);
        const std::string path = folder.file("a.hdf5");
        const std::vector<std::byte> bytes = encode_all(c.shape);
        write_file(path, bytes);
        ReadRequest real = request_for(path, c.shape, bytes.size()), imagined = real;
        imagined.has_content = false;
        imagined.local_path.clear();
        imagined.on_payload = [](std::uint64_t, std::span<const std::byte>) {
            return Status(internal_error("looked at"));
        };
        auto a = hdf5_format().open(real), b = hdf5_format().open(imagined);
        REQUIRE(a.has_value());
        REQUIRE(b.has_value());
        for (std::uint32_t sample = 0; sample < c.shape.sample_count; ++sample) {
            REQUIRE((*a)->begin(sample).has_value());
            REQUIRE((*b)->begin(sample).has_value());
            while (true) {
                const auto x = (*a)->next(4096), y = (*b)->next(4096);
                REQUIRE(x->has_value() == y->has_value());
                if (!*x) break;
                REQUIRE((*x)->offset == (*y)->offset);
                REQUIRE((*x)->bytes == (*y)->bytes);
                REQUIRE((*b)->consume(**y, std::span(bytes).subspan((*y)->offset, (*y)->bytes)).has_value());
            }
        }
    }
}

TEST_CASE("hdf5: inspect says what the file holds") {
    for (const Case& c : cases()) {
        INFO(c.name);
        const std::vector<std::byte> bytes = encode_all(c.shape);
        ReadRequest request;
        request.path = "a.hdf5";
        request.file_bytes = bytes.size();
        const auto shape =
            hdf5_format().inspect(request, [&](std::uint64_t offset, std::span<std::byte> out) -> Status {
                if (offset + out.size() > bytes.size()) return internal_error("read behind the end");
                std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
                return {};
            });
        if (!shape) FAIL(shape.error().describe());
        REQUIRE(shape->dims == c.shape.dims);
        REQUIRE(shape->sample_count == c.shape.sample_count);
        REQUIRE(shape->element_bytes == c.shape.element_bytes);
        REQUIRE(shape->record_dataset_count == c.shape.record_dataset_count);
        REQUIRE(shape->compression == c.shape.compression);
        REQUIRE(shape->chunk_dims == hdf5::chunk_dims_of(c.shape));
        REQUIRE(hdf5::max_dims_of(*shape) == hdf5::max_dims_of(c.shape));
        REQUIRE(hdf5_format().supports(*shape).has_value());
    }
}
