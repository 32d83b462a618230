// A communicator whose other ranks say nothing: tests override what they are about.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "harness/cluster/communicator.hpp"

namespace feedbench::test {

class SilentRanks : public cluster::Communicator {
  public:
    int rank() const override { return local_rank_; }
    int size() const override {
        std::size_t all = 0;
        for (const cluster::HostLayout& host : hosts_) all += host.ranks.size();
        return static_cast<int>(all);
    }
    const std::vector<cluster::HostLayout>& hosts() const override { return hosts_; }
    int host_index() const override { return 0; }
    int local_rank() const override { return local_rank_; }
    void barrier() override {}
    std::vector<std::string> gather(const std::string&) override { return {}; }
    std::string broadcast(const std::string& bytes) override { return bytes; }
    void sum(std::span<std::uint64_t>) override {}
    void sum(std::span<double>) override {}
    void min(std::span<std::uint64_t>) override {}
    void max(std::span<std::uint64_t>) override {}
    void send(int, const std::string&) override {}
    std::string receive(int) override { return {}; }
    void start_agreement(std::uint64_t) override {}
    bool test_agreement(std::uint64_t&) override { return false; }
    void announce_stop(std::uint64_t) override {}
    std::uint64_t announced_stop() override { return 0; }
    void abort(int exit_code) override { std::_Exit(exit_code); }

  protected:
    // A rank of the first host.
    SilentRanks(std::vector<cluster::HostLayout> hosts, int local_rank)
        : hosts_(std::move(hosts)), local_rank_(local_rank) {}

  private:
    const std::vector<cluster::HostLayout> hosts_;
    const int local_rank_;
};

} // namespace feedbench::test
