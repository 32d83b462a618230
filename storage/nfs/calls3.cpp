#include "storage/nfs/calls3.hpp"

#include <cerrno>

namespace feedbench::storage::nfs {

namespace {

char* text(const std::string& name) { return const_cast<char*>(name.c_str()); } // libnfs only reads it

diropargs3 place(const Handle& folder, const std::string& name) {
    diropargs3 args{};
    args.dir = folder.view();
    args.name = text(name);
    return args;
}

} // namespace

int Sender::lookup(const Handle& folder, const std::string& name) const {
    LOOKUP3args args{};
    args.what = place(folder, name);
    return rpc_nfs3_lookup_async(rpc, answer, &args, slot);
}

int Sender::attributes(const Handle& file) const {
    GETATTR3args args{};
    args.object = file.view();
    return rpc_nfs3_getattr_async(rpc, answer, &args, slot);
}

int Sender::create(const Handle& folder, const std::string& name) const {
    CREATE3args args{};
    args.where = place(folder, name);
    args.how.mode = UNCHECKED; // may be sent twice
    sattr3& attributes = args.how.createhow3_u.obj_attributes;
    attributes.mode.set_it = 1;
    attributes.mode.set_mode3_u.mode = 0644;
    attributes.size.set_it = 1;
    attributes.size.set_size3_u.size = 0;
    return rpc_nfs3_create_async(rpc, answer, &args, slot);
}

int Sender::read(const Handle& file, std::uint64_t offset, std::uint32_t bytes) const {
    READ3args args{};
    args.file = file.view();
    args.offset = offset;
    args.count = bytes;
    return rpc_nfs3_read_async(rpc, answer, &args, slot);
}

int Sender::write(const Handle& file, std::uint64_t offset, std::byte* data, std::uint32_t bytes) const {
    WRITE3args args{};
    args.file = file.view();
    args.offset = offset;
    args.count = bytes;
    args.stable = UNSTABLE;
    args.data.data_len = bytes;
    args.data.data_val = reinterpret_cast<char*>(data);
    return rpc_nfs3_write_async(rpc, answer, &args, slot);
}

int Sender::commit(const Handle& file) const {
    COMMIT3args args{};
    args.file = file.view();
    return rpc_nfs3_commit_async(rpc, answer, &args, slot);
}

int Sender::truncate(const Handle& file, std::uint64_t size) const {
    SETATTR3args args{};
    args.object = file.view();
    args.new_attributes.size.set_it = 1;
    args.new_attributes.size.set_size3_u.size = size;
    return rpc_nfs3_setattr_async(rpc, answer, &args, slot);
}

int Sender::rename(const Handle& folder, const std::string& from, const std::string& to) const {
    RENAME3args args{};
    args.from = place(folder, from);
    args.to = place(folder, to);
    return rpc_nfs3_rename_async(rpc, answer, &args, slot);
}

int Sender::remove(const Handle& folder, const std::string& name) const {
    REMOVE3args args{};
    args.object = place(folder, name);
    return rpc_nfs3_remove_async(rpc, answer, &args, slot);
}

int error_of(nfsstat3 status) {
    if (status == NFS3_OK) return 0;
    if (status == NFS3ERR_NAMETOOLONG) return ENAMETOOLONG;
    if (status == NFS3ERR_STALE) return ESTALE;
    if (status == NFS3ERR_BADHANDLE) return ESTALE;
    if (status == NFS3ERR_DQUOT) return EDQUOT;
    if (status == NFS3ERR_NOTEMPTY) return ENOTEMPTY;
    if (status == NFS3ERR_JUKEBOX) return EAGAIN;
    if (status == NFS3ERR_NOTSUPP) return EOPNOTSUPP;
    if (status == NFS3ERR_SERVERFAULT) return EREMOTEIO;
    const int error = nfsstat3_to_errno(status);
    return error < 0 ? -error : error > 0 ? error : EIO;
}

} // namespace feedbench::storage::nfs
