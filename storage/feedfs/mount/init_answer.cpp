#include "storage/feedfs/mount/init_answer.hpp"

#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace feedbench::feedfs::mount {

namespace {

// The answer is sent by the thread that has just run the init operation.
thread_local std::uint32_t flags_to_add = 0;

ssize_t send(int device, iovec* pieces, int count, void*) {
    const std::uint32_t flags = std::exchange(flags_to_add, 0);
    if (flags != 0 && count == 2 && pieces[1].iov_len >= offsetof(fuse_init_out, flags) + sizeof flags)
        static_cast<fuse_init_out*>(pieces[1].iov_base)->flags |= flags;
    return ::writev(device, pieces, count);
}

ssize_t receive(int device, void* buffer, std::size_t bytes, void*) { return ::read(device, buffer, bytes); }

} // namespace

Status complete_init_answer(fuse_session* session) {
    fuse_custom_io functions{};
    functions.writev = send;
    functions.read = receive;
    const int error = fuse_session_custom_io(session, &functions, fuse_session_fd(session));
    if (error != 0) return storage_error("mount", {}, -error, "libfuse takes no functions for its connection");
    return {};
}

void add_to_init_answer(std::uint32_t flags) { flags_to_add |= flags; }

} // namespace feedbench::feedfs::mount
