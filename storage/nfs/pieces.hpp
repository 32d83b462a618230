// Reads and writes, cut into pieces of one request: all under way at once, each straight into or out of the operation's
// memory (one copy, out of libnfs's receive buffer; none can be saved with libnfs 4.0.0). Internal to storage/nfs.
//
// Thread: reactor thread. Owner: PieceMover owns the pieces and uses them again. Units: bytes. Errors: of an operation
// the first one of its pieces: op.result, op.message.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/nfs/data_path.hpp"
#include "storage/nfs/transport.hpp"

namespace feedbench::storage::nfs {

class PieceMover;

class Piece final : public Call {
  public:
    int send(rpc_context* rpc, rpc_cb answer, void* slot) override;
    void answered(void* result) override;
    void failed(int error, const std::string& why) override;

    PieceMover* owner = nullptr;
    engine::IoOp* op = nullptr;
    std::uint64_t offset = 0; // of what is left of it
    std::byte* data = nullptr;
};

// What the server answered to a piece.
struct PieceAnswer {
    int error = 0;              // errno; then `why` may say more
    std::uint64_t bytes = 0;    // moved, at most what was asked for
    const char* data = nullptr; // of a read
    bool is_end = false;        // of the file
    std::string why;
};

class PieceMover {
  public:
    PieceMover(Transport& transport, std::uint64_t read_bytes, std::uint64_t write_bytes);
    virtual ~PieceMover() = default;
    PieceMover(const PieceMover&) = delete;
    PieceMover& operator=(const PieceMover&) = delete;

    engine::Submit move(engine::IoOp& op);

  protected:
    virtual int send_piece(Piece& piece, rpc_context* rpc, rpc_cb answer, void* slot) = 0;
    virtual PieceAnswer read_answer(Piece& piece, void* result) = 0;
    virtual void server_is_lost() {}           // a piece failed because nobody answers
    virtual void was_written(engine::IoOp&) {} // all of a write, before it is completed

  private:
    friend class Piece;
    void is_over(Piece& piece);

    Transport& transport_;
    const std::uint64_t read_bytes_, write_bytes_; // of one piece
    std::vector<std::unique_ptr<Piece>> pieces_;
    std::vector<Piece*> free_;
};

} // namespace feedbench::storage::nfs
