#include "storage/nfs/pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace feedbench::storage::nfs {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

namespace {

// While an operation is under way, op.backend_state counts its pieces, and op.result holds the first error, or where
// its data end as far as is known.
std::uintptr_t pieces_left(const IoOp& op) { return reinterpret_cast<std::uintptr_t>(op.backend_state); }
void set_pieces_left(IoOp& op, std::uintptr_t count) { op.backend_state = reinterpret_cast<void*>(count); }

} // namespace

PieceMover::PieceMover(Transport& transport, std::uint64_t read_bytes, std::uint64_t write_bytes)
    : transport_(transport), read_bytes_(read_bytes), write_bytes_(write_bytes) {}

Submit PieceMover::move(IoOp& op) {
    const bool writes = op.kind == IoKind::write;
    if (op.bytes == 0) {
        op.result = 0;
        return Submit::done;
    }
    const std::uint64_t most = writes ? write_bytes_ : read_bytes_;
    op.result = static_cast<std::int64_t>(op.bytes);
    set_pieces_left(op, (op.bytes + most - 1) / most);
    for (std::uint64_t done = 0; done < op.bytes; done += most) {
        if (free_.empty()) {
            pieces_.push_back(std::make_unique<Piece>());
            pieces_.back()->owner = this;
            free_.push_back(pieces_.back().get());
        }
        Piece& piece = *free_.back();
        free_.pop_back();
        piece.op = &op;
        piece.offset = op.offset + done;
        piece.data = op.data + done;
        piece.bytes = std::min(most, op.bytes - done);
        piece.writes = writes;
        transport_.start(piece);
    }
    return Submit::pending;
}

int Piece::send(rpc_context* rpc, rpc_cb answer, void* slot) { return owner->send_piece(*this, rpc, answer, slot); }

void Piece::answered(void* result) {
    const PieceAnswer answer = owner->read_answer(*this, result);
    if (answer.error != 0) return failed(-answer.error, answer.why);
    if (!writes) std::memcpy(data, answer.data, answer.bytes);
    if (answer.bytes < bytes && !answer.is_end) { // the server gives less at a time than it was asked for
        offset += answer.bytes;
        data += answer.bytes;
        bytes -= answer.bytes;
        return owner->transport_.start(*this);
    }
    if (answer.bytes < bytes && op->result >= 0)
        op->result = std::min(op->result, static_cast<std::int64_t>(offset + answer.bytes - op->offset));
    owner->is_over(*this);
}

void Piece::failed(int error, const std::string& why) {
    if (error == -ETIMEDOUT || error == -ECONNREFUSED) owner->server_is_lost();
    if (op->result >= 0) {
        op->result = error;
        op->message = why;
    }
    owner->is_over(*this);
}

void PieceMover::is_over(Piece& piece) {
    IoOp& op = *piece.op;
    piece.op = nullptr;
    free_.push_back(&piece);
    set_pieces_left(op, pieces_left(op) - 1);
    if (pieces_left(op) != 0) return;
    if (op.kind == IoKind::write && op.result >= 0) was_written(op);
    op.sink->completed(op);
}

} // namespace feedbench::storage::nfs
