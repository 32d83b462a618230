// NFSv4, reading only, without state: files are looked up and read by their handles (the anonymous stateid of RFC 7530
// section 9.1.4.3), never opened. So there is no client to introduce, no lease to renew, and opens do not have to queue
// for one open-owner's turn; share reservations of other clients are not seen.
#include <algorithm>
#include <cerrno>
#include <map>

#include "storage/nfs/calls3.hpp"
#include "storage/nfs/pieces.hpp"
// clang-format off
#include <nfsc/libnfs-raw-nfs4.h>
// clang-format on

namespace feedbench::storage::nfs {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

constexpr std::size_t kRememberedFolders = 65536;
constexpr std::uint32_t kTypeAndSize = (1U << FATTR4_TYPE) | (1U << FATTR4_SIZE);

int error_of4(nfsstat4 status) {
    switch (status) {
    case NFS4_OK:
        return 0;
    case NFS4ERR_SYMLINK:
        return ELOOP;
    case NFS4ERR_FHEXPIRED:
        return ESTALE;
    case NFS4ERR_GRACE:
        return EAGAIN;
    case NFS4ERR_WRONGSEC:
        return EPROTONOSUPPORT;
    default: // the others have version 3's numbers, or none that says more than this
        return error_of(static_cast<nfsstat3>(status));
    }
}

std::string explained4(int error) {
    if (error == ELOOP) return "a symbolic link, which is not followed over NFS";
    if (error == EPROTONOSUPPORT) return "the export wants Kerberos, and feedbench speaks AUTH_SYS only";
    return explained(error);
}

nfs_fh4 view(const Handle& handle) {
    nfs_fh4 plain{};
    plain.nfs_fh4_len = handle.size;
    plain.nfs_fh4_val = const_cast<char*>(handle.bytes.data()); // libnfs only reads it
    return plain;
}

void assign(Handle& handle, const nfs_fh4& plain) {
    nfs_fh3 same{};
    same.data.data_len = plain.nfs_fh4_len;
    same.data.data_val = plain.nfs_fh4_val;
    handle.assign(same);
}

// The operations of one request.
class Compound {
  public:
    void root() { add(OP_PUTROOTFH); }
    void at(const Handle& handle) { add(OP_PUTFH).nfs_argop4_u.opputfh.object = view(handle); }
    void lookup(const std::string& name) { // lives until sent
        component4& component = add(OP_LOOKUP).nfs_argop4_u.oplookup.objname;
        component.utf8string_len = static_cast<u_int>(name.size());
        component.utf8string_val = const_cast<char*>(name.data());
    }
    void handle() { add(OP_GETFH); }
    void attributes(std::uint32_t& mask) {
        bitmap4& bitmap = add(OP_GETATTR).nfs_argop4_u.opgetattr.attr_request;
        bitmap.bitmap4_len = 1;
        bitmap.bitmap4_val = &mask;
    }
    void read(std::uint64_t offset, std::uint32_t bytes) { // its stateid stays zero: anonymous
        READ4args& read = add(OP_READ).nfs_argop4_u.opread;
        read.offset = offset;
        read.count = bytes;
    }
    int send(rpc_context* rpc, rpc_cb answer, void* slot) {
        COMPOUND4args args{};
        args.argarray.argarray_len = static_cast<u_int>(operations_.size());
        args.argarray.argarray_val = operations_.data();
        return rpc_nfs4_compound_async(rpc, answer, &args, slot);
    }

  private:
    nfs_argop4& add(nfs_opnum4 what) {
        operations_.emplace_back();
        operations_.back().argop = what;
        return operations_.back();
    }
    std::vector<nfs_argop4> operations_;
};

// The answer to the last operation, where all went well.
const nfs_resop4& last(const COMPOUND4res& result, unsigned from_end = 1) {
    return result.resarray.resarray_val[result.resarray.resarray_len - from_end];
}

std::uint64_t big_endian(const char* bytes, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

struct File4 final : engine::File {
    Handle handle;
};

std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> names;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        if (slash > 0) names.emplace_back(path.substr(0, slash));
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return names;
}

class Version4Path;

// Two requests at most: the folder's handle from the root, if it is not remembered; then the file in it.
class Look final : public Call {
  public:
    int send(rpc_context* rpc, rpc_cb answer, void* slot) override;
    void answered(void* result) override;
    void failed(int error, const std::string& why) override { finish(error, why); }
    void begin();

    Version4Path* owner = nullptr;
    IoOp* op = nullptr;

  private:
    void take(const COMPOUND4res& result);
    void finish(int error, std::string why = {});
    std::vector<std::string> folder_names_; // from the server's root
    std::string folder_path_, name_;
    Handle folder_;
    bool has_folder_ = false, started_anew_ = false;
    std::uint32_t mask_ = kTypeAndSize;
};

class Version4Path final : public DataPath, private PieceMover {
  public:
    explicit Version4Path(const Version4& parts)
        : PieceMover(transport_, parts.read_bytes, 1), parts_(parts),
          transport_(parts.reactor, parts.settings, parts.mounted.numeric_host, parts.mounted.nfs_port) {}

    Submit submit(IoOp& op) override {
        op.result = 0;
        if (op.kind == IoKind::read) return move(op);
        if (op.kind == IoKind::close) return Submit::done;
        if (op.kind != IoKind::open) {
            op.result = -EROFS;
            op.message = "NFS version 4 is for reading; write with version=3";
            return Submit::done;
        }
        if (free_.empty()) {
            looks_.push_back(std::make_unique<Look>());
            looks_.back()->owner = this;
            free_.push_back(looks_.back().get());
        }
        Look& look = *free_.back();
        free_.pop_back();
        look.op = &op;
        look.begin();
        return Submit::pending;
    }
    void cancel() override { transport_.cancel(); }
    const EndpointCounters& counters() const override { return transport_.counters(); }

    const std::string& exported() const { return parts_.mounted.exported; }
    Transport& transport() { return transport_; }
    void is_over(Look& look) {
        IoOp& op = *look.op;
        look.op = nullptr;
        free_.push_back(&look);
        op.sink->completed(op);
    }
    std::map<std::string, Handle>& folders() { return folders_; }

  private:
    int send_piece(Piece& piece, rpc_context* rpc, rpc_cb answer, void* slot) override {
        Compound compound;
        compound.at(static_cast<File4&>(*piece.op->file).handle);
        compound.read(piece.offset, static_cast<std::uint32_t>(piece.bytes));
        return compound.send(rpc, answer, slot);
    }
    PieceAnswer read_answer(Piece& piece, void* data) override {
        const auto& result = *static_cast<COMPOUND4res*>(data);
        PieceAnswer answer;
        answer.error = error_of4(result.status);
        answer.why = explained4(answer.error);
        if (answer.error != 0) return answer;
        const READ4resok& ok = last(result).nfs_resop4_u.opread.READ4res_u.resok4;
        answer.bytes = std::min<std::uint64_t>(ok.data.data_len, piece.bytes);
        answer.data = ok.data.data_val;
        answer.is_end = ok.eof != 0 || answer.bytes == 0;
        return answer;
    }

    const Version4 parts_;
    Transport transport_;
    std::map<std::string, Handle> folders_; // by the path below the URI's
    std::vector<std::unique_ptr<Look>> looks_;
    std::vector<Look*> free_;
};

void Look::begin() {
    const std::string_view path = op->path;
    const std::size_t slash = path.find_last_of('/');
    folder_path_ = std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
    name_ = std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
    const auto found = owner->folders().find(folder_path_);
    has_folder_ = found != owner->folders().end();
    if (has_folder_) folder_ = found->second;
    started_anew_ = !has_folder_;
    owner->transport().start(*this);
}

int Look::send(rpc_context* rpc, rpc_cb answer, void* slot) {
    Compound compound;
    if (!has_folder_) {
        folder_names_ = components(owner->exported() + "/" + folder_path_);
        compound.root();
        for (const std::string& name : folder_names_) compound.lookup(name);
        compound.handle();
        return compound.send(rpc, answer, slot);
    }
    compound.at(folder_);
    if (!name_.empty()) compound.lookup(name_);
    compound.handle();
    compound.attributes(mask_);
    return compound.send(rpc, answer, slot);
}

void Look::answered(void* data) {
    const auto& result = *static_cast<COMPOUND4res*>(data);
    const int error = error_of4(result.status);
    if (error == ESTALE && !started_anew_) { // the folder was removed and made again
        owner->folders().clear();
        has_folder_ = false;
        started_anew_ = true;
        return owner->transport().start(*this);
    }
    if (error != 0) return finish(-error, explained4(error));
    if (has_folder_) return take(result);
    assign(folder_, last(result).nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object);
    has_folder_ = true;
    if (owner->folders().size() >= kRememberedFolders) owner->folders().clear();
    owner->folders()[folder_path_] = folder_;
    owner->transport().start(*this);
}

void Look::take(const COMPOUND4res& result) {
    const fattr4& attributes = last(result).nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    const bool has_both = attributes.attrmask.bitmap4_len >= 1 && attributes.attr_vals.attrlist4_len >= 12 &&
                          (attributes.attrmask.bitmap4_val[0] & kTypeAndSize) == kTypeAndSize;
    if (!has_both) return finish(-EREMOTEIO, "the server does not say the file's type and size");
    const std::uint64_t type = big_endian(attributes.attr_vals.attrlist4_val, 4);
    if (type == NF4DIR) return finish(-EISDIR);
    if (type == NF4LNK) return finish(-ELOOP, explained4(ELOOP));
    if (type != NF4REG) return finish(-EINVAL, "not a regular file");
    auto file = std::make_unique<File4>();
    assign(file->handle, last(result, 2).nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object);
    file->size_bytes = big_endian(attributes.attr_vals.attrlist4_val + 4, 8);
    op->opened = std::move(file);
    finish(0);
}

void Look::finish(int error, std::string why) {
    op->result = error;
    op->message = std::move(why);
    owner->is_over(*this);
}

} // namespace

std::unique_ptr<DataPath> make_version4(const Version4& parts) { return std::make_unique<Version4Path>(parts); }

} // namespace feedbench::storage::nfs
