// NFSv3 operations: the state of one operation, and of one open file. Internal to storage/nfs.
//
// Thread: reactor thread. Owner: Version3Path owns the states and hands them out again; a file belongs to who opened
// it. Units: bytes. Errors: as data_path.hpp says.
#pragma once

#include <map>
#include <vector>

#include "storage/nfs/calls3.hpp"
#include "storage/nfs/pieces.hpp"

namespace feedbench::storage::nfs {

class Version3Path;

struct File3 final : engine::File {
    explicit File3(NamespaceCalls& calls) : names(calls) {}
    ~File3() override;
    File3(const File3&) = delete;
    File3& operator=(const File3&) = delete;

    NamespaceCalls& names;
    Handle handle, folder;
    std::string path;          // relative to the mounted folder
    std::string temporary;     // last component; empty: opened for reading, or committed
    bool has_unstable = false; // written, and not on stable storage yet
    bool has_verifier = false, was_lost = false;
    std::array<char, NFS3_WRITEVERFSIZE> verifier{}; // changes where the server has lost what was unstable

    void check_verifier(const char* seen);
};

// Open, create, flush, commit, close: one call after another.
class Steps final : public Call {
  public:
    enum class Step : std::uint8_t { walk, lookup, attributes, create, truncate, commit, rename, remove };
    int send(rpc_context* rpc, rpc_cb answer, void* slot) override;
    void answered(void* result) override;
    void failed(int error, const std::string& why) override;

    Version3Path* owner = nullptr;
    engine::IoOp* op = nullptr;
    std::unique_ptr<File3> file; // of open and create, until it is handed out
    std::string path;            // relative to the mounted folder, without empty components
    std::size_t known = 0;       // so many characters of `path` lead to `folder`
    Handle folder;
    Step step = Step::walk;
    bool started_anew = false; // a remembered folder had gone stale

    void begin();

  private:
    void go(Step next);
    void finish(int error, std::string why = {});
    void walk_on();
    void after_walk();
    void after_lookup(const nfs_fh3& handle, const post_op_attr& attributes);
    void take_attributes(const fattr3& attributes);
    void after_commit();
    std::string component() const; // of `path` behind `known`
    std::string last_component() const;
};

class Version3Path final : public DataPath, private PieceMover {
  public:
    explicit Version3Path(const Version3& parts);
    ~Version3Path() override;
    engine::Submit submit(engine::IoOp& op) override;
    void cancel() override { transport_.cancel(); }
    const EndpointCounters& counters() const override { return transport_.counters(); }

    // For the calls above.
    const Version3& parts() const { return parts_; }
    Transport& transport() { return transport_; }
    void steps_are_over(Steps& steps);
    // Handles of folders, so that an open is one round trip.
    const Handle* remembered(const std::string& folder) const;
    void remember(const std::string& folder, const Handle& handle);
    void forget_folders() { folders_.clear(); }
    std::string below_mount(std::string_view path) const;

  private:
    int send_piece(Piece& piece, rpc_context* rpc, rpc_cb answer, void* slot) override;
    PieceAnswer read_answer(Piece& piece, void* result) override;
    void server_is_lost() override { parts_.names.give_up(); }
    void was_written(engine::IoOp& op) override;

    Version3 parts_;
    Transport transport_;
    std::map<std::string, Handle> folders_;
    std::vector<std::unique_ptr<Steps>> steps_;
    std::vector<Steps*> free_steps_;
};

} // namespace feedbench::storage::nfs
