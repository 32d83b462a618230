#include "harness/accelerator/step_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace feedbench::accelerator {

namespace {
constexpr std::size_t kBufferedRecords = 4096; // 320 KiB

// A file without a name in the temporary folder: gone with the process, however it ends.
int open_spool(std::string& folder) {
    const char* configured = std::getenv("TMPDIR");
    folder = configured && *configured ? configured : "/tmp";
    int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    std::string name = folder + "/feedbench-steps-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
    return fd;
}
} // namespace

StepLog::StepLog(bool keep_records) : keep_records_(keep_records) {
    if (!keep_records_) return;
    buffer_.reserve(kBufferedRecords);
    std::string folder;
    spool_fd_ = open_spool(folder);
    if (spool_fd_ < 0) status_ = storage_error("create", folder, errno, "step records need a temporary file (TMPDIR)");
}

StepLog::~StepLog() {
    if (spool_fd_ >= 0) ::close(spool_fd_);
}

void StepLog::begin_block(std::span<const std::uint32_t> accelerators, std::uint16_t epoch_index,
                          std::uint16_t block_index) {
    block_start_ = totals_.size();
    for (const std::uint32_t accelerator : accelerators) {
        metrics::BlockTotals totals;
        totals.accelerator_index = accelerator;
        totals.epoch_index = epoch_index;
        totals.block_index = block_index;
        totals_.push_back(totals);
    }
}

void StepLog::add(std::uint32_t local_index, const StepRecord& record) {
    totals_[block_start_ + local_index].add(record);
    if (!keep_records_ || !status_) return;
    ++record_count_;
    buffer_.push_back(record);
    if (buffer_.size() >= kBufferedRecords) flush();
}

std::vector<metrics::BlockTotals> StepLog::take_totals() {
    block_start_ = 0;
    std::vector<metrics::BlockTotals> taken = std::exchange(totals_, {});
    std::erase_if(taken, [](const metrics::BlockTotals& totals) { return totals.step_count == 0; });
    return taken;
}

void StepLog::flush() {
    const char* data = reinterpret_cast<const char*>(buffer_.data());
    std::size_t left = buffer_.size() * sizeof(StepRecord);
    while (left > 0 && status_) {
        const ssize_t n = ::write(spool_fd_, data, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            status_ = storage_error("write", "the step record spool (TMPDIR)", n < 0 ? errno : ENOSPC);
            break;
        }
        data += n;
        left -= static_cast<std::size_t>(n);
    }
    spooled_count_ += buffer_.size();
    buffer_.clear();
}

Status StepLog::replay(std::size_t chunk, const std::function<Status(std::span<const StepRecord>)>& each) {
    if (!status_) return status_;
    if (!keep_records_) return {};
    flush();
    if (!status_) return status_;
    std::vector<StepRecord> records(chunk);
    for (std::uint64_t done = 0; done < spooled_count_;) {
        const std::size_t want = std::min<std::uint64_t>(chunk, spooled_count_ - done);
        char* data = reinterpret_cast<char*>(records.data());
        for (std::size_t got = 0; got < want * sizeof(StepRecord);) {
            const ssize_t n = ::pread(spool_fd_, data + got, want * sizeof(StepRecord) - got,
                                      static_cast<off_t>(done * sizeof(StepRecord) + got));
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return storage_error("read", "the step record spool (TMPDIR)", n < 0 ? errno : EIO);
            got += static_cast<std::size_t>(n);
        }
        if (auto status = each(std::span<const StepRecord>(records.data(), want)); !status) return status;
        done += want;
    }
    return {};
}

} // namespace feedbench::accelerator
