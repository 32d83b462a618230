#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <deque>

#include "harness/cluster/communicator.hpp"

namespace feedbench::cluster {
namespace {

// One process: every collective is the identity. No system call of MPI's, no clock: also what virtual time runs on.
class Single final : public Communicator {
  public:
    Single() {
        char name[256] = "";
        if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) name[0] = '?';
        hosts_.push_back({name, {0}});
    }
    int rank() const override { return 0; }
    int size() const override { return 1; }
    const std::vector<HostLayout>& hosts() const override { return hosts_; }
    int host_index() const override { return 0; }
    int local_rank() const override { return 0; }

    void barrier() override {}
    std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
    std::string broadcast(const std::string& bytes) override { return bytes; }
    void sum(std::span<std::uint64_t>) override {}
    void sum(std::span<double>) override {}
    void min(std::span<std::uint64_t>) override {}
    void max(std::span<std::uint64_t>) override {}
    void send(int to, const std::string& bytes) override {
        assert(to == 0);
        (void)to;
        to_self_.push_back(bytes);
    }
    std::string receive(int from) override {
        assert(from == 0 && !to_self_.empty()); // else this would wait for ever
        (void)from;
        std::string bytes = std::move(to_self_.front());
        to_self_.pop_front();
        return bytes;
    }

    void start_agreement(std::uint64_t value) override {
        assert(!agreeing_);
        agreeing_ = true;
        value_ = value;
    }
    bool test_agreement(std::uint64_t& result) override {
        assert(agreeing_);
        agreeing_ = false;
        result = value_;
        return true;
    }
    void announce_stop(std::uint64_t value) override { announced_ = std::max(announced_, value); }
    std::uint64_t announced_stop() override { return announced_; }

    void abort(int exit_code) override {
        std::fflush(nullptr);
        _exit(exit_code);
    }

  private:
    std::vector<HostLayout> hosts_;
    std::deque<std::string> to_self_;
    bool agreeing_ = false;
    std::uint64_t value_ = 0, announced_ = 0;
};

} // namespace

std::unique_ptr<Communicator> make_single() { return std::make_unique<Single>(); }

bool launched_by_mpi(const char* (*get)(const char* name)) {
    if (const char* asked = get("FEEDBENCH_MPI"); asked != nullptr && asked[0] != 0) return asked[0] != '0';
    // Open MPI; MPICH and its kin; srun with PMIx.
    return std::ranges::any_of(
        std::initializer_list<const char*>{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"},
        [&](const char* name) { return get(name) != nullptr; });
}

} // namespace feedbench::cluster
