// mpiio: reads and writes are MPI_File_read_at and MPI_File_iread_at, MPI_File_write_at and MPI_File_iwrite_at of the
// MPI library's own I/O (Open MPI: OMPIO, or ROMIO with --mca io romio321), on any path that it reaches. docs/mpiio.md
// says what that means.
//
// Data move through MPI; names do not: open looks at the file with the kernel's own calls first, for MPI's error
// classes say little, and commit is a rename. Every file is opened by its rank alone (MPI_COMM_SELF). Where MPI was
// begun for several threads, a read is MPI_File_read_at on a thread of the pool (mpi_jobs.hpp); where it was not
// (MPI_THREAD_FUNNELED), the reactor thread starts requests and polls them, with naps that grow while nothing happens.
// With the option `collective` reads are another thing: mpi_collective.hpp.
#include <algorithm>
#include <cerrno>

#include "harness/engine/reactor.hpp"
#include "harness/types/option_reader.hpp"
#include "storage/mpi_collective.hpp"
#include "storage/mpi_file.hpp"
#include "storage/mpi_jobs.hpp"
#include "storage/posix_base.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

constexpr Option kMpiioOptions[] = {
    {"hints", OptionType::text, "", "",
     "key=value;key=value for MPI_File_open (romio_ds_read=disable, striping_unit=...)"},
    {"in_flight", OptionType::integer, "", "64", "most reads and writes that MPI has in hand at once, of each rank"},
    {"collective", OptionType::boolean, "", "false",
     "all ranks read together (MPI_File_read_at_all): under mpirun, with dataset.layout shared"},
};
// Requests end in threads of the MPI library, and nothing wakes us. At first the CPU is only given away between looks,
// for a nap ends some 60 us late; then naps grow with the wait.
constexpr std::uint64_t kNapLeastNs = 20'000, kNapMostNs = 250'000, kYieldNs = 40'000;
constexpr std::size_t kNameMost = 100;
constexpr std::size_t kMostThreads = 16; // near what the C library's aio takes

class MpiioBackend final : public PosixBackend, public engine::EventSource {
  public:
    MpiioBackend(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor, MPI_Info hints,
                 std::size_t most_in_flight, std::unique_ptr<CollectiveReads> collective)
        : PosixBackend(std::move(settings), std::move(filesystem)), reactor_(reactor), hints_(hints),
          most_in_flight_(most_in_flight), jobs_(*this, reactor, std::min(most_in_flight, kMostThreads)),
          calls_block_(mpi_takes_threads()), collective_(std::move(collective)) {
        capabilities_.name = "mpiio";
        capabilities_.direct_io = false;
        capabilities_.note = calls_block_ ? "MPI_File_read_at in threads" : "MPI_File_iread_at";
        if (collective_) capabilities_.note = "ranks read together (MPI_File_read_at_all)";
        reactor_.add_source(*this);
    }
    ~MpiioBackend() override {
        reactor_.remove_source(*this);
        if (hints_ != MPI_INFO_NULL) MPI_Info_free(&hints_);
    }

    Submit submit(IoOp& op) override {
        switch (op.kind) {
        case IoKind::open:
        case IoKind::create:
            open(op);
            return Submit::done;
        case IoKind::read:
        case IoKind::write:
            if (in_flight() >= most_in_flight_) return Submit::busy;
            op.result = 0; // bytes moved
            if (op.bytes == 0) return Submit::done;
            if (collective_ && op.kind == IoKind::read) {
                collective_->submit(op);
                return Submit::pending;
            }
            if (calls_block_) return jobs_.move_data(op, hints_);
            return start(op) ? Submit::pending : Submit::done;
        case IoKind::flush:
        case IoKind::commit:
            return jobs_.on_posix(op);
        case IoKind::close:
            mpi_file_of(op).close();
            perform_on_posix(*this, op);
            return Submit::done;
        }
        return Submit::done;
    }

    void cancel_pending() override {
        if (collective_) collective_->cancel();
    }

    bool poll() override {
        const bool read_together = take_collective();
        return look_at_requests() || read_together;
    }
    // Jobs are the pool's to report.
    bool is_active() const override { return in_flight() > jobs_.moving(); }
    std::uint64_t max_sleep_ns() const override {
        if (requests_.empty()) return engine::kNever; // collective reads and jobs wake the reactor
        const std::uint64_t waited = reactor_.now_ns() - last_event_ns_;
        return waited < kYieldNs ? 0 : std::clamp(waited / 8, kNapLeastNs, kNapMostNs);
    }

  private:
    std::size_t in_flight() const {
        return requests_.size() + jobs_.moving() + (collective_ ? collective_->outstanding() : 0);
    }

    bool take_collective() {
        if (!collective_) return false;
        collective_->take_ended(ended_);
        for (IoOp* op : ended_) op->sink->completed(*op);
        return !ended_.empty();
    }

    bool look_at_requests() {
        if (requests_.empty()) return false;
        int count = 0;
        const int error = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(),
                                       statuses_.data());
        if (count == MPI_UNDEFINED || count <= 0) return false;
        last_event_ns_ = reactor_.now_ns();
        ended_.clear();
        moved_.clear();
        for (int i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
            MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
            const int code = error == MPI_ERR_IN_STATUS ? status.MPI_ERROR : error;
            IoOp& op = *ops_[at];
            --mpi_file_of(op).lanes[reinterpret_cast<std::size_t>(op.backend_state)].in_flight;
            moved_.push_back(take_piece(op, status, code));
            ended_.push_back(&op);
            ops_[at] = nullptr;
        }
        // MPI_Testsome has made them MPI_REQUEST_NULL.
        std::erase(requests_, MPI_REQUEST_NULL);
        std::erase(ops_, nullptr);
        for (std::size_t i = 0; i < ended_.size(); ++i) {
            IoOp& op = *ended_[i];
            if (moved_[i] > 0 && start(op)) continue;
            account_write(op);
            op.sink->completed(op);
        }
        return true;
    }

    void open(IoOp& op) {
        perform_blocking(op);
        if (op.result < 0) return;
        auto file = std::make_unique<MpiFile>();
        file->posix = std::move(op.opened);
        file->size_bytes = file->posix->size_bytes;
        const auto& posix = static_cast<PosixFile&>(*file->posix);
        file->path = display_path(op.kind == IoKind::open ? posix.path : posix.temporary);
        if (collective_ && op.kind == IoKind::open) { // opened together, when it is first read
            if (file->path.size() - file->path.find_last_of('/') > kNameMost) {
                op.result = -ENAMETOOLONG;
                op.message = "names of more than 100 characters cannot be read collectively";
            } else {
                op.opened = std::move(file);
            }
            return;
        }
        // Open MPI names files of its own after this one, without room for long names.
        if (file->path.size() - file->path.find_last_of('/') > kNameMost)
            file->path = "/proc/self/fd/" + std::to_string(posix.fd);
        file->mode = op.kind == IoKind::open ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
        if (const int code = file->open_lane(hints_); code != MPI_SUCCESS) return fail_with_mpi(op, code);
        op.opened = std::move(file);
    }

    // The next piece of what is left; false: there is none, or it failed, and op says why.
    bool start(IoOp& op) {
        const int bytes = next_piece_bytes(op);
        if (bytes == 0) return false;
        const auto done = static_cast<std::uint64_t>(op.result);
        const auto place = static_cast<MPI_Offset>(op.offset + done);
        MPI_Request request = MPI_REQUEST_NULL;
        const std::size_t at = mpi_file_of(op).lane_for(op.kind, hints_);
        MpiFile::Lane& lane = mpi_file_of(op).lanes[at];
        const int code = op.kind == IoKind::read
                             ? MPI_File_iread_at(lane.file, place, op.data + done, bytes, MPI_BYTE, &request)
                             : MPI_File_iwrite_at(lane.file, place, op.data + done, bytes, MPI_BYTE, &request);
        if (code != MPI_SUCCESS) {
            fail_with_mpi(op, code);
            return false;
        }
        ++lane.in_flight;
        op.backend_state = reinterpret_cast<void*>(at);
        if (requests_.empty()) last_event_ns_ = reactor_.now_ns();
        requests_.push_back(request);
        ops_.push_back(&op);
        if (indices_.size() < requests_.size()) {
            indices_.resize(requests_.size());
            statuses_.resize(requests_.size());
        }
        return true;
    }

    engine::Reactor& reactor_;
    MPI_Info hints_;
    const std::size_t most_in_flight_;
    MpiJobs jobs_;
    const bool calls_block_; // in jobs_; else requests_
    std::vector<MPI_Request> requests_;
    std::vector<IoOp*> ops_; // of the same index
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::vector<IoOp*> ended_;
    std::vector<int> moved_; // by the piece that ended, of the same index
    std::uint64_t last_event_ns_ = 0;
    std::unique_ptr<CollectiveReads> collective_;
};

} // namespace

std::span<const Option> mpiio_options() { return kMpiioOptions; }

Expected<std::unique_ptr<Backend>> make_mpiio_backend(const BackendRequest& request) {
    if (!request.reactor || request.reactor->clock().is_virtual())
        return config_error("real storage cannot run under the virtual clock; use null: or model:", request.uri);
    if (request.odirect)
        return config_error("MPI's I/O knows no O_DIRECT; ROMIO's hint direct_read=true is the nearest (option hints)",
                            request.uri);
    OptionReader reader(kMpiioOptions, request.options, request.uri);
    const auto most = static_cast<std::size_t>(reader.integer("in_flight", 1, 4096));
    const bool is_collective = reader.boolean("collective");
    if (auto status = reader.status(); !status) return status.error();
    if (auto status = begin_mpi(request.uri); !status) return status.error();
    auto hints = mpi_hints(reader.text("hints"), request.uri);
    if (!hints) return hints.error();
    std::unique_ptr<CollectiveReads> collective;
    if (is_collective) { // before what may fail on one rank and not on others
        auto made = CollectiveReads::make(*request.reactor, *hints, request.uri);
        if (!made) return made.error();
        collective = std::move(*made);
    }
    PosixSettings settings;
    auto place = posix_place(request.root);
    if (!place) return place.error();
    settings.root = std::move(place->root);
    return std::unique_ptr<Backend>(std::make_unique<MpiioBackend>(
        std::move(settings), std::move(place->filesystem), *request.reactor, *hints, most, std::move(collective)));
}

} // namespace feedbench::storage
