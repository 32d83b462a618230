#include "storage/mpi_collective.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/engine/clock.hpp"
#include "harness/engine/reactor.hpp"
#include "storage/mpi_file.hpp"

namespace feedbench::storage {

namespace {

using engine::IoOp;

constexpr std::uint64_t kMaxPieceBytes = 1U << 30; // MPI counts bytes in int
// Between agreements that nobody wanted; at once where this rank wants something.
constexpr std::uint64_t kPauseLeastNs = 100'000, kPauseMostNs = 1'000'000;
// While others are waited for: first the CPU is only given away, then naps grow.
constexpr int kYields = 20;
constexpr std::uint64_t kMostReads = 16; // that are agreed on at once
constexpr std::uint64_t kNapLeastNs = 20'000, kNapMostNs = 250'000;

const std::string& path_of(const IoOp& op) { return static_cast<const MpiFile&>(*op.file).path; }

// Names a file in an agreement, which carries numbers (FNV-1a); never 0.
std::uint64_t key_of(const std::string& path) {
    std::uint64_t key = 14695981039346656037U;
    for (const char c : path) key = (key ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return key | 1;
}

// A file that all ranks have open, or that not all could open.
struct CollectiveFile {
    MPI_File file = MPI_FILE_NULL;
    int error = 0;       // errno: not open everywhere
    std::string message; // says more
};

} // namespace

struct CollectiveReads::Rounds {
    // ---- reactor thread and rounds, under `mutex`
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<IoOp*> waiting;
    std::vector<IoOp*> ended;
    bool is_leaving = false;
    engine::Reactor* reactor = nullptr; // valid until is_leaving

    // ---- rounds
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Info hints = MPI_INFO_NULL;
    std::map<std::uint64_t, CollectiveFile> files; // the same keys on all ranks
    std::thread thread;

    void leave() {
        const std::lock_guard lock(mutex);
        is_leaving = true;
        changed.notify_one();
    }

    void run() {
        std::uint64_t pause_ns = kPauseLeastNs;
        for (;;) {
            const Agreed agreed = agree(wait_for_a_wish(pause_ns));
            if (agreed.key != 0) {
                read(agreed);
                pause_ns = kPauseLeastNs;
            } else if (agreed.stays == 0) {
                break;
            } else {
                pause_ns = std::min(pause_ns * 2, kPauseMostNs);
            }
        }
        for (auto& [key, file] : files)
            if (file.error == 0) MPI_File_close(&file.file);
        if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
        MPI_Comm_free(&ranks);
    }

  private:
    struct Agreed {
        std::uint64_t key;   // of the file that somebody wants to read; 0: nobody does
        std::uint64_t reads; // as many as the rank with the most wishes has, within bounds
        std::uint64_t stays; // 1: somebody has not left
    };

    Agreed wait_for_a_wish(std::uint64_t pause_ns) {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, std::chrono::nanoseconds(pause_ns), [&] { return !waiting.empty(); });
        return {waiting.empty() ? 0 : key_of(storage::path_of(*waiting.front())),
                std::min<std::uint64_t>(waiting.size(), kMostReads), is_leaving ? 0U : 1U};
    }

    Agreed agree(Agreed mine) {
        const std::array<std::uint64_t, 3> brought{mine.key, mine.reads, mine.stays};
        std::array<std::uint64_t, 3> largest{};
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(brought.data(), largest.data(), 3, MPI_UINT64_T, MPI_MAX, ranks, &request);
        std::uint64_t nap = kNapLeastNs;
        for (int looks = 0, is_done = 0;; ++looks) {
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            if (is_done) return {largest[0], largest[1], largest[2]};
            if (looks < kYields) {
                engine::yield_processor();
                continue;
            }
            engine::nap_ns(nap);
            nap = std::min(nap + nap / 2, kNapMostNs);
        }
    }

    void read(const Agreed& agreed) {
        auto at = files.find(agreed.key);
        if (at == files.end()) {
            const std::optional<CollectiveFile> opened = open(agreed.key);
            if (!opened) return; // what was wanted has been cancelled meanwhile
            at = files.emplace(agreed.key, *opened).first;
        }
        for (std::uint64_t i = 0; i < agreed.reads; ++i) read_together(at->second, take(agreed.key));
    }

    // Every rank reads its oldest wish of this file, or nothing.
    void read_together(CollectiveFile& file, IoOp* op) {
        if (file.error != 0) {
            if (op) {
                op->result = -file.error;
                op->message = file.message;
                end(*op);
            }
            return;
        }
        std::uint64_t done = 0;
        int bytes = 0;
        if (op) { // OMPIO asks for what lies behind a file's end for ever
            done = static_cast<std::uint64_t>(op->result);
            bytes =
                static_cast<int>(std::min({op->bytes - done, kMaxPieceBytes, bytes_behind(*op, op->offset + done)}));
        }
        MPI_Status status{};
        const int code = MPI_File_read_at_all(file.file, op ? static_cast<MPI_Offset>(op->offset + done) : 0,
                                              op ? op->data + done : nullptr, bytes, MPI_BYTE, &status);
        if (!op) return;
        int got = 0;
        if (code == MPI_SUCCESS && bytes > 0) MPI_Get_count(&status, MPI_BYTE, &got);
        if (code != MPI_SUCCESS)
            fail(*op, code);
        else if (got > 0)
            op->result += got;
        const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(op->result, 0));
        if (code == MPI_SUCCESS && got > 0 && now < op->bytes && op->offset + now < op->file->size_bytes)
            put_back(*op);
        else
            end(*op);
    }

    // Whoever wants the file knows its path, and tells the others. It is open where all have it, or none.
    std::optional<CollectiveFile> open(std::uint64_t key) {
        int rank = 0;
        MPI_Comm_rank(ranks, &rank);
        std::string path = path_of(key);
        int teller = path.empty() ? -1 : rank;
        MPI_Allreduce(MPI_IN_PLACE, &teller, 1, MPI_INT, MPI_MAX, ranks);
        if (teller < 0) return std::nullopt;
        CollectiveFile file;
        auto length = static_cast<int>(path.size());
        MPI_Bcast(&length, 1, MPI_INT, teller, ranks);
        path.resize(static_cast<std::size_t>(length));
        MPI_Bcast(path.data(), length, MPI_CHAR, teller, ranks);
        // OMPIO hangs where one rank cannot open what the others can.
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        const int refused = fd < 0 ? errno : 0;
        if (fd >= 0) ::close(fd);
        file.error = refused;
        MPI_Allreduce(MPI_IN_PLACE, &file.error, 1, MPI_INT, MPI_MAX, ranks);
        if (file.error != 0) {
            file.message = refused != 0 ? "opening it collectively" : "another rank cannot open it";
            return file;
        }
        const int code = MPI_File_open(ranks, path.c_str(), MPI_MODE_RDONLY, hints, &file.file);
        file.error = code == MPI_SUCCESS ? 0 : errno_of_mpi(code);
        MPI_Allreduce(MPI_IN_PLACE, &file.error, 1, MPI_INT, MPI_MAX, ranks);
        // Where others failed it stays open unused, for closing is collective.
        if (file.error != 0)
            file.message = code == MPI_SUCCESS ? "MPI cannot open it on another rank"
                                               : "MPI, opening it collectively: " + mpi_error_text(code);
        return file;
    }

    std::string path_of(std::uint64_t key) {
        const std::lock_guard lock(mutex);
        for (const IoOp* op : waiting)
            if (key_of(storage::path_of(*op)) == key) return storage::path_of(*op);
        return {};
    }
    IoOp* take(std::uint64_t key) {
        const std::lock_guard lock(mutex);
        const auto at = std::find_if(waiting.begin(), waiting.end(),
                                     [&](const IoOp* op) { return key_of(storage::path_of(*op)) == key; });
        if (at == waiting.end()) return nullptr;
        IoOp* const op = *at;
        waiting.erase(at);
        return op;
    }
    void put_back(IoOp& op) {
        const std::lock_guard lock(mutex);
        waiting.push_front(&op);
    }
    // The reactor lives for as long as one of its operations has not ended: inside the lock, it does.
    void end(IoOp& op) {
        const std::lock_guard lock(mutex);
        ended.push_back(&op);
        reactor->wake();
    }
    static void fail(IoOp& op, int code) {
        op.result = -errno_of_mpi(code);
        op.message = "MPI, reading collectively: " + mpi_error_text(code);
    }
};

Expected<std::unique_ptr<CollectiveReads>> CollectiveReads::make(engine::Reactor& reactor, MPI_Info hints,
                                                                 const std::string& uri) {
    int rank_count = 0, level = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    MPI_Query_thread(&level);
    if (rank_count < 2)
        return config_error("storage option 'collective' is for ranks that read together, and there is one; start "
                            "feedbench with mpirun -n 2 or more, or leave it out",
                            uri);
    if (level < MPI_THREAD_MULTIPLE)
        return config_error("storage option 'collective' needs MPI in several threads (MPI_THREAD_MULTIPLE), which was "
                            "not asked for or not granted; give the option on the command line, or set "
                            "FEEDBENCH_MPI_THREADS=multiple on all ranks",
                            uri);
    auto rounds = std::make_shared<Rounds>();
    rounds->reactor = &reactor;
    if (hints != MPI_INFO_NULL) MPI_Info_dup(hints, &rounds->hints);
    MPI_Comm_dup(MPI_COMM_WORLD, &rounds->ranks);
    rounds->thread = std::thread([raw = rounds.get()] { raw->run(); });
    // MPI_Finalize begins with what hangs on MPI_COMM_SELF: there the rounds are waited for (MPI 3.1, 8.7.1).
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* value, void*) {
            const std::unique_ptr<std::shared_ptr<Rounds>> kept(static_cast<std::shared_ptr<Rounds>*>(value));
            (*kept)->leave();
            (*kept)->thread.join();
            return MPI_SUCCESS;
        },
        &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, new std::shared_ptr<Rounds>(rounds));
    MPI_Comm_free_keyval(&key);
    return std::unique_ptr<CollectiveReads>(new CollectiveReads(std::move(rounds)));
}

CollectiveReads::~CollectiveReads() { rounds_->leave(); }

void CollectiveReads::submit(IoOp& op) {
    ++outstanding_;
    const std::lock_guard lock(rounds_->mutex);
    rounds_->waiting.push_back(&op);
    rounds_->changed.notify_one();
}

void CollectiveReads::take_ended(std::vector<IoOp*>& ended) {
    ended.clear();
    if (outstanding_ == 0) return;
    {
        const std::lock_guard lock(rounds_->mutex);
        ended.swap(rounds_->ended);
    }
    outstanding_ -= ended.size();
}

void CollectiveReads::cancel() {
    const std::lock_guard lock(rounds_->mutex);
    for (IoOp* op : rounds_->waiting) {
        op->result = -ECANCELED;
        rounds_->ended.push_back(op);
    }
    rounds_->waiting.clear();
    rounds_->reactor->wake();
}

} // namespace feedbench::storage
