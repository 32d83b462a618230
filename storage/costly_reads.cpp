#include "storage/costly_reads.hpp"

#include <cerrno>

#include "storage/reads_in_turns.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

class CostlyReads final : public Backend {
  public:
    CostlyReads(std::unique_ptr<Backend> inner, ReadCost cost, engine::Reactor& reactor)
        : inner_(std::move(inner)), cost_(std::move(cost)), capabilities_(inner_->capabilities()),
          turns_(*this, reactor) {
        capabilities_.async = true;
    }
    const Capabilities& capabilities() const override { return capabilities_; }
    Submit submit(IoOp& op) override { return op.kind == IoKind::read ? turns_.submit(op) : inner_->submit(op); }

    void perform_blocking(IoOp& op) {
        (void)inner_->submit(op); // null: is done at once
        if (op.result <= 0 || pay({op.data, static_cast<std::size_t>(op.result)})) return;
        op.result = -EIO;
        op.message = "the bytes that stand in for the storage's are not what they were";
    }

    Expected<FilesystemFacts> facts(const std::string& path) override { return inner_->facts(path); }
    Status make_directories(const std::string& path) override { return inner_->make_directories(path); }
    CacheDrop cache_drop() const override { return inner_->cache_drop(); }
    std::string display_path(const std::string& path) const override { return inner_->display_path(path); }

  private:
    bool pay(std::span<std::byte> buffer) {
        if (!cost_.source) return !cost_.look || cost_.look(0, buffer);
        while (!buffer.empty()) {
            std::span<const std::byte> piece = cost_.source->next(buffer.size());
            const auto offset = static_cast<std::uint64_t>(piece.data() - cost_.source->bytes().data());
            if (cost_.copies) {
                std::memcpy(buffer.data(), piece.data(), piece.size());
                piece = buffer.first(piece.size());
            }
            if (cost_.look && !cost_.look(offset, piece)) return false;
            buffer = buffer.subspan(piece.size());
        }
        return true;
    }

    std::unique_ptr<Backend> inner_;
    ReadCost cost_;
    Capabilities capabilities_;
    ReadsInTurns<CostlyReads> turns_;
};

} // namespace

std::unique_ptr<Backend> make_costly_reads(std::unique_ptr<Backend> inner, ReadCost cost, engine::Reactor& reactor) {
    return std::make_unique<CostlyReads>(std::move(inner), std::move(cost), reactor);
}

} // namespace feedbench::storage
