#include "workloads/ceiling_storage.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/registry.hpp"
#include "generators/content.hpp"
#include "harness/dataset/manifest.hpp"
#include "storage/costly_reads.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::uint64_t kSourceBytesLeast = 4 * kMiB, kSourceBytesMost = 128 * kMiB;

// Between two visits of a byte all ranks of the host have passed twice this much through the cache that they share: it
// is copied from here into buffers that rotate as widely. So it comes from memory, as the pages of a page cache do.
std::uint64_t source_bytes(const cluster::Communicator& communicator) {
    const auto ranks = communicator.hosts()[static_cast<std::size_t>(communicator.host_index())].ranks.size();
    return std::clamp(engine::BufferPool::last_level_cache_bytes() / ranks, kSourceBytesLeast, kSourceBytesMost);
}

generators::Content content_of(const RunRequest& request) {
    const DatasetSection& made = request.made ? request.made->dataset : request.workload->dataset;
    return generators::Content({made.seed, made.compress_percent, made.dedupe_percent});
}

// The checks that reader.verify asks for and the format offers.
struct Look {
    bool checksums = false, compares = false;
    generators::Content content;
    std::uint32_t checksum = 0; // of no use, but that it was computed

    bool operator()(std::uint64_t offset, std::span<const std::byte> bytes) {
        if (checksums) checksum ^= formats::crc32c(0, bytes);
        return !compares || content.first_difference(0, offset, bytes) == bytes.size();
    }
};

} // namespace

Expected<std::unique_ptr<storage::Backend>> ceiling_storage(std::unique_ptr<storage::Backend> inner,
                                                            const RunRequest& request, bool copies) {
    const Workload& workload = *request.workload;
    const auto format = formats::find_format(workload.dataset.format);
    Look look{.content = content_of(request)};
    look.compares = workload.reader.verify == Verify::content;
    look.checksums =
        (look.compares || workload.reader.verify == Verify::checksum) && format && (*format)->has_checksum();
    if (!copies && !look.compares && !look.checksums) return inner;
    storage::ReadCost cost;
    cost.copies = copies;
    if (copies || look.compares) { // what is compared must be known; without a copy it is looked at where it lies
        auto source = storage::CopySource::make(source_bytes(*request.communicator));
        if (!source) return source.error();
        cost.source = std::move(*source);
        if (look.compares) look.content.fill(0, 0, cost.source->bytes());
    }
    if (look.compares || look.checksums) cost.look = std::move(look);
    return storage::make_costly_reads(std::move(inner), std::move(cost), *request.reactor);
}

} // namespace feedbench::workloads
