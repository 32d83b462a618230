// Names: open, create, flush, commit, close. A folder's handle is remembered, so that each is one or two round trips.
#include "storage/nfs/version3.hpp"

#include <algorithm>
#include <cerrno>

namespace feedbench::storage::nfs {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

namespace {

constexpr std::size_t kRememberedFolders = 65536;

File3& file_of(IoOp& op) { return static_cast<File3&>(*op.file); }

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// "" , "/", "a//b/" are written by people.
std::string without_empty_components(std::string_view path) {
    std::string tidy;
    for (const char c : path)
        if (c != '/' || (!tidy.empty() && tidy.back() != '/')) tidy += c;
    while (tidy.ends_with('/')) tidy.pop_back();
    return tidy;
}

} // namespace

std::string explained(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
        return "the server does not permit it to this user (options uid and gid; as root: the export's root_squash)";
    case ESTALE:
        return "the file or its folder was removed on the server, or the export was made anew (stale handle)";
    case EAGAIN:
        return "the server asks to come again later (NFS3ERR_JUKEBOX): the file is being fetched from a slower tier";
    case EREMOTEIO:
        return "the server reports a fault of its own (NFS3ERR_SERVERFAULT)";
    default:
        return {};
    }
}

File3::~File3() {
    if (temporary.empty() || names.gave_up()) return;
    const std::string folder_path = folder_of(path);
    (void)names.remove(folder_path.empty() ? temporary : folder_path + "/" + temporary, temporary);
}

// ---- Version3Path ----

Version3Path::Version3Path(const Version3& parts)
    : PieceMover(transport_, parts.read_bytes, parts.write_bytes), parts_(parts),
      transport_(parts.reactor, parts.settings, parts.mounted.numeric_host, parts.mounted.nfs_port) {}
Version3Path::~Version3Path() = default;

std::string Version3Path::below_mount(std::string_view path) const {
    return without_empty_components(parts_.mounted.below + "/" + std::string(path));
}

const Handle* Version3Path::remembered(const std::string& folder) const {
    const auto found = folders_.find(folder);
    return found == folders_.end() ? nullptr : &found->second;
}

void Version3Path::remember(const std::string& folder, const Handle& handle) {
    if (folders_.size() >= kRememberedFolders) folders_.clear();
    folders_[folder] = handle;
}

Submit Version3Path::submit(IoOp& op) {
    if (op.kind == IoKind::read || op.kind == IoKind::write) return move(op);
    op.result = 0;
    if (op.kind == IoKind::close && file_of(op).temporary.empty()) return Submit::done;
    if (op.kind == IoKind::flush && !file_of(op).has_unstable && !file_of(op).was_lost) return Submit::done;
    if (op.kind == IoKind::commit) {
        const File3& file = file_of(op);
        if (file.temporary.empty() || op.size_hint > file.size_bytes) {
            op.result = -EINVAL;
            op.message = file.temporary.empty() ? "commit of a file that is not being created"
                                                : "only " + std::to_string(file.size_bytes) + " of " +
                                                      std::to_string(op.size_hint) + " bytes were written";
            return Submit::done;
        }
    }
    if (free_steps_.empty()) {
        steps_.push_back(std::make_unique<Steps>());
        steps_.back()->owner = this;
        free_steps_.push_back(steps_.back().get());
    }
    Steps& steps = *free_steps_.back();
    free_steps_.pop_back();
    steps.op = &op;
    steps.begin();
    return Submit::pending;
}

void Version3Path::steps_are_over(Steps& steps) {
    IoOp& op = *steps.op;
    steps.op = nullptr;
    steps.file.reset();
    free_steps_.push_back(&steps);
    op.sink->completed(op);
}

// ---- Steps ----

void Steps::begin() {
    started_anew = false;
    switch (op->kind) {
    case IoKind::flush:
        return go(Step::commit);
    case IoKind::close:
        return go(Step::remove);
    case IoKind::commit: {
        const File3& target = file_of(*op);
        if (op->size_hint < target.size_bytes) return go(Step::truncate); // padding
        return go(target.has_unstable || target.was_lost ? Step::commit : Step::rename);
    }
    default:
        path = owner->below_mount(op->path);
        file = std::make_unique<File3>(owner->parts().names);
        file->path = path;
        walk_on();
    }
}

std::string Steps::component() const {
    const std::size_t begin = known == 0 ? 0 : known + 1;
    return path.substr(begin, path.find('/', begin) - begin);
}

std::string Steps::last_component() const { return path.substr(path.find_last_of('/') + 1); }

// Begins at the deepest folder that is remembered.
void Steps::walk_on() {
    const std::string parent = folder_of(path);
    known = 0;
    folder = owner->parts().mounted.root;
    for (std::string prefix = parent; !prefix.empty(); prefix = folder_of(prefix)) {
        const Handle* handle = owner->remembered(prefix);
        if (!handle) continue;
        folder = *handle;
        known = prefix.size();
        break;
    }
    if (known == parent.size()) return after_walk();
    go(Step::walk);
}

void Steps::after_walk() {
    file->folder = folder;
    if (op->kind == IoKind::open) {
        if (!path.empty()) return go(Step::lookup);
        return after_lookup(folder.view(), post_op_attr{}); // the mounted folder itself
    }
    const std::string temporary = owner->parts().temporary_beside(path);
    file->temporary = temporary.substr(temporary.find_last_of('/') + 1);
    go(Step::create);
}

void Steps::go(Step next) {
    step = next;
    bytes = 0;
    owner->transport().start(*this);
}

int Steps::send(rpc_context* rpc, rpc_cb answer, void* slot) {
    const Sender sender{rpc, answer, slot};
    switch (step) {
    case Step::walk:
        return sender.lookup(folder, component());
    case Step::lookup:
        return sender.lookup(folder, last_component());
    case Step::attributes:
        return sender.attributes(file->handle);
    case Step::create:
        return sender.create(folder, file->temporary);
    case Step::truncate:
        return sender.truncate(file_of(*op).handle, op->size_hint);
    case Step::commit:
        return sender.commit(file_of(*op).handle);
    case Step::rename: {
        const std::string& whole = file_of(*op).path;
        return sender.rename(file_of(*op).folder, file_of(*op).temporary, whole.substr(whole.find_last_of('/') + 1));
    }
    case Step::remove:
        return sender.remove(file_of(*op).folder, file_of(*op).temporary);
    }
    return -1;
}

void Steps::take_attributes(const fattr3& attributes) {
    if (attributes.type != NF3REG)
        return finish(attributes.type == NF3DIR ? -EISDIR : -EINVAL,
                      attributes.type == NF3DIR   ? ""
                      : attributes.type == NF3LNK ? "a symbolic link, which is not followed over NFS"
                                                  : "not a regular file");
    file->size_bytes = attributes.size;
    op->opened = std::move(file);
    finish(0);
}

void Steps::after_lookup(const nfs_fh3& handle, const post_op_attr& attributes) {
    file->handle.assign(handle);
    if (!attributes.attributes_follow) return go(Step::attributes);
    take_attributes(attributes.post_op_attr_u.attributes);
}

void Steps::after_commit() {
    File3& target = file_of(*op);
    target.has_unstable = false;
    if (target.was_lost)
        return finish(-EIO, "the server was restarted while the file was written, and what it had not stored is lost");
    if (op->kind == IoKind::commit) return go(Step::rename);
    finish(0);
}

void Steps::answered(void* result) {
    // Every answer begins with its status.
    const int error = error_of(*static_cast<const nfsstat3*>(result));
    if (error == ESTALE && !started_anew && (op->kind == IoKind::open || op->kind == IoKind::create)) {
        owner->forget_folders(); // a folder was removed and made again
        started_anew = true;
        return walk_on();
    }
    // Sent again after the connection broke: the first one had been heard.
    const bool was_done = sent_again && error == ENOENT && (step == Step::rename || step == Step::remove);
    if (error != 0 && !was_done) return finish(-error, explained(error));
    switch (step) {
    case Step::walk: {
        const std::string name = component();
        folder.assign(static_cast<const LOOKUP3res*>(result)->LOOKUP3res_u.resok.object);
        known = known == 0 ? name.size() : known + 1 + name.size();
        owner->remember(path.substr(0, known), folder);
        return known == folder_of(path).size() ? after_walk() : go(Step::walk);
    }
    case Step::lookup: {
        const LOOKUP3resok& ok = static_cast<const LOOKUP3res*>(result)->LOOKUP3res_u.resok;
        return after_lookup(ok.object, ok.obj_attributes);
    }
    case Step::attributes:
        return take_attributes(static_cast<const GETATTR3res*>(result)->GETATTR3res_u.resok.obj_attributes);
    case Step::create: {
        const CREATE3resok& ok = static_cast<const CREATE3res*>(result)->CREATE3res_u.resok;
        if (!ok.obj.handle_follows) return finish(-EREMOTEIO, "the server made the file and did not say its handle");
        file->handle.assign(ok.obj.post_op_fh3_u.handle);
        op->opened = std::move(file);
        return finish(0);
    }
    case Step::truncate:
        file_of(*op).size_bytes = op->size_hint;
        return go(Step::commit);
    case Step::commit:
        file_of(*op).check_verifier(static_cast<const COMMIT3res*>(result)->COMMIT3res_u.resok.verf);
        return after_commit();
    case Step::rename:
    case Step::remove:
        file_of(*op).temporary.clear();
        return finish(0);
    }
}

void Steps::failed(int error, const std::string& why) {
    if (error != -ECANCELED) owner->parts().names.give_up(); // the server is gone, or mad
    finish(error, why);
}

void Steps::finish(int error, std::string why) {
    op->result = error;
    op->message = std::move(why);
    if (file) file->temporary.clear(); // was never made, as far as is known
    owner->steps_are_over(*this);
}

std::unique_ptr<DataPath> make_version3(const Version3& parts) { return std::make_unique<Version3Path>(parts); }

} // namespace feedbench::storage::nfs
