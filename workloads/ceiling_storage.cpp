#include "workloads/ceiling_storage.hpp"

#include "formats/checksums.hpp"
#include "formats/registry.hpp"
#include "generators/content.hpp"
#include "harness/dataset/manifest.hpp"
#include "storage/copy_source.hpp"

namespace feedbench::workloads {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

bool has_checksum(const Workload& workload) {
    if (workload.reader.verify != Verify::checksum && workload.reader.verify != Verify::content) return false;
    const auto format = formats::find_format(workload.dataset.format);
    return format && (*format)->has_checksum();
}
bool compares_content(const Workload& workload) { return workload.reader.verify == Verify::content; }

generators::Content content_of(const RunRequest& request) {
    const DatasetSection& made = request.made ? request.made->dataset : request.workload->dataset;
    return generators::Content({made.seed, made.compress_percent, made.dedupe_percent});
}

// Where content is compared, without a copy, the bytes are looked at where they lie: in the buffer there is something
// else, and looking costs the same.
constexpr std::uint64_t kUncopiedBytes = 32 * kMiB;

class CheckedStorage final : public storage::Backend {
  public:
    CheckedStorage(std::unique_ptr<storage::Backend> inner, const ContentOfReads& reads,
                   std::unique_ptr<storage::CopySource> source)
        : inner_(std::move(inner)), source_(std::move(source)), content_(content_of(reads.request)),
          checksums_(has_checksum(*reads.request.workload)), copies_(reads.copy_bytes > 0) {
        if (source_) content_.fill(0, 0, source_->bytes());
    }
    const storage::Capabilities& capabilities() const override { return inner_->capabilities(); }
    std::string display_path(const std::string& path) const override { return inner_->display_path(path); }

    Submit submit(IoOp& op) override {
        const Submit answer = inner_->submit(op); // null: is done at once
        if (op.kind != IoKind::read || op.result <= 0) return answer;
        const std::span<std::byte> data(op.data, static_cast<std::size_t>(op.result));
        if (checksums_) checksum_ ^= formats::crc32c(0, data);
        if (source_ && !compare(data)) {
            op.result = -EIO;
            op.message = "generated content differs from itself";
        }
        return answer;
    }

  private:
    bool compare(std::span<std::byte> data) {
        while (!data.empty()) {
            std::span<const std::byte> piece = source_->next(data.size());
            const auto at = static_cast<std::uint64_t>(piece.data() - source_->bytes().data());
            if (copies_) {
                std::memcpy(data.data(), piece.data(), piece.size());
                piece = data.first(piece.size());
            }
            if (content_.first_difference(0, at, piece) != piece.size()) return false;
            data = data.subspan(piece.size());
        }
        return true;
    }

    std::unique_ptr<storage::Backend> inner_;
    std::unique_ptr<storage::CopySource> source_; // nullptr: content is not compared
    generators::Content content_;
    bool checksums_, copies_;
    std::uint32_t checksum_ = 0; // of no use, but that it was computed
};

} // namespace

bool checks_reads(const RunRequest& request) {
    return has_checksum(*request.workload) || compares_content(*request.workload);
}

bool copies_by_itself(const ContentOfReads& reads) {
    return reads.copy_bytes > 0 && !compares_content(*reads.request.workload);
}

Expected<std::unique_ptr<storage::Backend>> checked_storage(std::unique_ptr<storage::Backend> inner,
                                                            const ContentOfReads& reads) {
    std::unique_ptr<storage::CopySource> source;
    if (compares_content(*reads.request.workload)) {
        auto made = storage::CopySource::make(reads.copy_bytes > 0 ? reads.copy_bytes : kUncopiedBytes);
        if (!made) return made.error();
        source = std::move(*made);
    }
    return std::unique_ptr<storage::Backend>(
        std::make_unique<CheckedStorage>(std::move(inner), reads, std::move(source)));
}

} // namespace feedbench::workloads
