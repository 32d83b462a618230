#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/cluster/communicator.hpp"
#include "harness/cluster/host_meeting.hpp"
#include "harness/cluster/mpi_signs.hpp"
#include "harness/cluster/mpi_threads.hpp"
#include "harness/cluster/pacing.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cluster {
namespace {

constexpr int kDataTag = 1, kStopTag = 2;
constexpr std::size_t kPieceBytes = std::size_t{256} << 20; // MPI counts are int

std::string host_name() {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "?";
    return name;
}

class Mpi final : public Communicator {
  public:
    Mpi(int* argc, char*** argv) {
        int level = 0;
        MPI_Init_thread(argc, argv, wants_mpi_threads(*argc, *argv) ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                        &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_);
        MPI_Comm_rank(host_, &local_rank_);
        MPI_Comm_size(host_, &local_size_);
        find_hosts();
        MPI_Comm_split(MPI_COMM_WORLD, local_rank_ == 0 ? 0 : MPI_UNDEFINED, rank_, &leaders_);
        MPI_Comm_dup(MPI_COMM_WORLD, &stops_);
        set_up_meeting();
        signs_.begin(stops_, hosts_.size(), listens());
        if (listens()) listen();
    }

    ~Mpi() override {
        barrier(); // so that nobody spins inside MPI_Finalize for a rank that is still writing its results
        forget(stop_heard_);
        for (auto& request : stop_sends_) MPI_Request_free(&request);
        signs_.end();
        life_ = LifeSigns::alone();
        MPI_Win_free(&window_);
        if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
        MPI_Comm_free(&stops_);
        MPI_Comm_free(&host_);
        MPI_Finalize();
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    const std::vector<HostLayout>& hosts() const override { return hosts_; }
    int host_index() const override { return host_index_; }
    int local_rank() const override { return local_rank_; }

    void barrier() override {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        wait(request);
    }
    std::vector<std::string> gather(const std::string& bytes) override {
        if (rank_ != 0) {
            send(0, bytes);
            return {};
        }
        std::vector<std::string> all(static_cast<std::size_t>(size_));
        all[0] = bytes;
        for (int from = 1; from < size_; ++from) all[static_cast<std::size_t>(from)] = receive(from);
        return all;
    }
    std::string broadcast(const std::string& bytes) override {
        std::string result = rank_ == 0 ? bytes : std::string();
        std::uint64_t length = result.size();
        broadcast_piece(&length, sizeof length);
        result.resize(length);
        for (std::size_t at = 0; at < length; at += kPieceBytes) {
            broadcast_piece(result.data() + at, std::min(kPieceBytes, length - at));
        }
        return result;
    }
    void sum(std::span<std::uint64_t> values) override { reduce_everywhere(values, MPI_UINT64_T, MPI_SUM); }
    void sum(std::span<double> values) override { reduce_everywhere(values, MPI_DOUBLE, MPI_SUM); }
    void min(std::span<std::uint64_t> values) override { reduce_everywhere(values, MPI_UINT64_T, MPI_MIN); }
    void max(std::span<std::uint64_t> values) override { reduce_everywhere(values, MPI_UINT64_T, MPI_MAX); }

    void send(int to, const std::string& bytes) override {
        const std::uint64_t length = bytes.size();
        send_piece(to, &length, sizeof length);
        for (std::size_t at = 0; at < length; at += kPieceBytes) {
            send_piece(to, bytes.data() + at, std::min(kPieceBytes, length - at));
        }
    }
    std::string receive(int from) override {
        std::uint64_t length = 0;
        receive_piece(from, &length, sizeof length);
        std::string bytes(length, 0);
        for (std::size_t at = 0; at < length; at += kPieceBytes) {
            receive_piece(from, bytes.data() + at, std::min(kPieceBytes, length - at));
        }
        return bytes;
    }

    void start_agreement(std::uint64_t value) override {
        meeting_->arrive(value);
        life_->wait_begins();
    }
    bool test_agreement(std::uint64_t& result) override {
        const bool agreed = have_agreed(result);
        if (agreed) life_->wait_ends();
        return agreed;
    }
    bool have_agreed(std::uint64_t& result) {
        if (hosts_.size() == 1) return meeting_->all_here(result);
        if (local_rank_ != 0) return meeting_->result(result);
        // The first rank of a host speaks for it among the hosts.
        if (between_hosts_ == MPI_REQUEST_NULL) {
            if (!meeting_->all_here(host_value_)) return false;
            MPI_Iallreduce(&host_value_, &agreed_, 1, MPI_UINT64_T, MPI_MAX, leaders_, &between_hosts_);
        }
        int done = 0;
        MPI_Test(&between_hosts_, &done, MPI_STATUS_IGNORE);
        if (!done) return false;
        meeting_->publish(agreed_);
        result = agreed_;
        return true;
    }

    void announce_stop(std::uint64_t value) override {
        if (value <= meeting_->announced()) return;
        meeting_->announce(value);
        for (const auto& host : hosts_) {
            if (&host == &hosts_[static_cast<std::size_t>(host_index_)]) continue;
            stop_values_.push_back(std::make_unique<std::uint64_t>(value)); // stays where it is while being sent
            MPI_Isend(stop_values_.back().get(), 1, MPI_UINT64_T, host.ranks.front(), kStopTag, stops_,
                      &stop_sends_.emplace_back());
        }
    }
    std::uint64_t announced_stop() override {
        int done = 0;
        while (stop_heard_ != MPI_REQUEST_NULL && (MPI_Test(&stop_heard_, &done, MPI_STATUS_IGNORE), done)) {
            meeting_->announce(heard_value_);
            listen();
        }
        return meeting_->announced();
    }

    std::uint64_t signs_heard(int host) const override { return signs_.heard(host); }
    void show_host_waits(std::uint64_t waited_ns) override {
        signs_.waits_ns[static_cast<std::size_t>(host_index_)] = waited_ns;
    }
    std::uint64_t all_hosts_wait_ns() const override {
        if (hosts_.size() > 1 && rank_ != 0) return 0; // rank 0 hears of all
        return *std::min_element(signs_.waits_ns.get(), signs_.waits_ns.get() + hosts_.size());
    }

    void abort(int exit_code) override {
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, exit_code);
        _exit(exit_code);
    }

  private:
    void exchange_signs() override {
        if (listens()) signs_.exchange(hosts_, host_index_);
    }
    // A host is a set of ranks that can share memory; named by its first rank. Ranks may be placed in any order (case
    // T9).
    void find_hosts() {
        int leader = rank_;
        MPI_Bcast(&leader, 1, MPI_INT, 0, host_);
        std::vector<int> leader_of(static_cast<std::size_t>(size_));
        MPI_Allgather(&leader, 1, MPI_INT, leader_of.data(), 1, MPI_INT, MPI_COMM_WORLD);
        std::map<int, std::size_t> index_of;
        for (int r = 0; r < size_; ++r) {
            const int first = leader_of[static_cast<std::size_t>(r)];
            const auto [at, is_new] = index_of.try_emplace(first, hosts_.size());
            if (is_new) hosts_.emplace_back();
            hosts_[at->second].ranks.push_back(r);
            if (r == rank_) host_index_ = static_cast<int>(at->second);
        }
        for (auto& host : hosts_) {
            char name[256] = "";
            if (host.ranks.front() == rank_) std::snprintf(name, sizeof name, "%s", host_name().c_str());
            MPI_Bcast(name, sizeof name, MPI_CHAR, host.ranks.front(), MPI_COMM_WORLD);
            host.name = name;
        }
    }

    void set_up_meeting() {
        const std::size_t meeting_bytes = round_up(HostMeeting::memory_bytes(local_size_), 64);
        const std::size_t bytes = meeting_bytes + LifeSigns::memory_bytes(local_size_);
        void* mine = nullptr;
        MPI_Win_allocate_shared(local_rank_ == 0 ? static_cast<MPI_Aint>(bytes + 64) : 0, 1, MPI_INFO_NULL, host_,
                                &mine, &window_);
        void* memory = nullptr;
        MPI_Aint window_bytes = 0;
        int unit = 0;
        MPI_Win_shared_query(window_, 0, &window_bytes, &unit, &memory);
        std::size_t space = bytes + 64;
        [[maybe_unused]] const void* aligned =
            std::align(64, bytes, memory, space); // pages: the same place on every rank
        assert(aligned != nullptr);
        if (local_rank_ == 0) std::memset(memory, 0, bytes);
        MPI_Barrier(host_);
        meeting_.emplace(memory, local_size_, local_rank_);
        life_ = std::make_unique<LifeSigns>(static_cast<std::byte*>(memory) + meeting_bytes, local_size_, local_rank_);
    }

    bool listens() const { return hosts_.size() > 1 && local_rank_ == 0; }
    void listen() { MPI_Irecv(&heard_value_, 1, MPI_UINT64_T, MPI_ANY_SOURCE, kStopTag, stops_, &stop_heard_); }

    // Every blocking call of MPI spins; its polled twin with naps does not.
    void wait(MPI_Request& request) {
        IdlePacer pacer;
        int done = 0;
        life_->wait_begins();
        for (; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done; pacer.pause()) tick();
        life_->wait_ends();
    }
    template <class T>
    void reduce_everywhere(std::span<T> values, MPI_Datatype type, MPI_Op op) {
        assert(values.size() <= INT_MAX);
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, op, MPI_COMM_WORLD,
                       &request);
        wait(request);
    }
    void broadcast_piece(void* data, std::size_t bytes) {
        MPI_Request request;
        MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        wait(request);
    }
    void send_piece(int to, const void* data, std::size_t bytes) {
        MPI_Request request;
        MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kDataTag, MPI_COMM_WORLD, &request);
        wait(request);
    }
    void receive_piece(int from, void* data, std::size_t bytes) {
        MPI_Request request;
        MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kDataTag, MPI_COMM_WORLD, &request);
        wait(request);
    }

    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1, host_index_ = 0;
    std::vector<HostLayout> hosts_;
    MPI_Comm host_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL, stops_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::optional<HostMeeting> meeting_;
    HostSigns signs_;
    MPI_Request between_hosts_ = MPI_REQUEST_NULL, stop_heard_ = MPI_REQUEST_NULL;
    std::uint64_t host_value_ = 0, agreed_ = 0, heard_value_ = 0;
    std::vector<std::unique_ptr<std::uint64_t>> stop_values_;
    std::vector<MPI_Request> stop_sends_;
};

const char* from_environment(const char* name) { return std::getenv(name); }

} // namespace

std::unique_ptr<Communicator> make_communicator(int* argc, char*** argv) {
    if (!launched_by_mpi(from_environment)) return make_single();
    return std::make_unique<Mpi>(argc, argv);
}

} // namespace feedbench::cluster
