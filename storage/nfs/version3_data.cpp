// READ and WRITE of NFSv3.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/nfs/version3.hpp"

namespace feedbench::storage::nfs {

namespace {

File3& file_of(Piece& piece) { return static_cast<File3&>(*piece.op->file); }

} // namespace

void File3::check_verifier(const char* seen) {
    if (has_verifier && std::memcmp(verifier.data(), seen, verifier.size()) != 0) was_lost = true;
    std::memcpy(verifier.data(), seen, verifier.size());
    has_verifier = true;
}

int Version3Path::send_piece(Piece& piece, rpc_context* rpc, rpc_cb answer, void* slot) {
    const Sender sender{rpc, answer, slot};
    const auto count = static_cast<std::uint32_t>(piece.bytes);
    return piece.writes ? sender.write(file_of(piece).handle, piece.offset, piece.data, count)
                        : sender.read(file_of(piece).handle, piece.offset, count);
}

PieceAnswer Version3Path::read_answer(Piece& piece, void* result) {
    PieceAnswer answer;
    if (piece.writes) {
        const auto& written = *static_cast<WRITE3res*>(result);
        answer.error = error_of(written.status);
        answer.why = explained(answer.error);
        if (answer.error != 0) return answer;
        const WRITE3resok& ok = written.WRITE3res_u.resok;
        file_of(piece).check_verifier(ok.verf);
        answer.bytes = std::min<std::uint64_t>(ok.count, piece.bytes);
        if (answer.bytes != 0) return answer;
        answer.error = EIO;
        answer.why = "the server wrote nothing, and said that all is well";
        return answer;
    }
    const auto& read = *static_cast<READ3res*>(result);
    answer.error = error_of(read.status);
    answer.why = explained(answer.error);
    if (answer.error != 0) return answer;
    const READ3resok& ok = read.READ3res_u.resok;
    answer.bytes = std::min<std::uint64_t>({ok.count, ok.data.data_len, piece.bytes});
    answer.data = ok.data.data_val;
    answer.is_end = ok.eof != 0 || answer.bytes == 0;
    return answer;
}

void Version3Path::was_written(engine::IoOp& op) {
    auto& file = static_cast<File3&>(*op.file);
    file.has_unstable = true;
    file.size_bytes = std::max(file.size_bytes, op.offset + op.bytes);
}

} // namespace feedbench::storage::nfs
