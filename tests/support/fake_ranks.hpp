// Several ranks in one process: each a thread of the test with a Communicator of its own, and collectives that meet in
// shared memory.
//
// Thread: one a rank. Owner: the test; the Ranks outlive their communicators. Units: none. Errors: abort() ends the
// process, as a real one does. For layouts alone (placement) no thread is needed.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "harness/cluster/communicator.hpp"

namespace feedbench::test {

class FakeRanks {
  public:
    // ranks_of_hosts {3, 3, 2}: ranks 0-2 on host0, 3-5 on host1, 6 and 7 on host2.
    explicit FakeRanks(const std::vector<int>& ranks_of_hosts) {
        for (const int count : ranks_of_hosts) {
            hosts_.push_back({"host" + std::to_string(hosts_.size()), {}});
            for (int i = 0; i < count; ++i) hosts_.back().ranks.push_back(size_++);
        }
    }
    int size() const { return size_; }
    std::unique_ptr<cluster::Communicator> rank(int rank) { return std::make_unique<Rank>(*this, rank); }
    // Runs `body` once a rank, side by side.
    void run(const std::function<void(cluster::Communicator&)>& body) {
        std::vector<std::thread> threads;
        for (int i = 0; i < size_; ++i) threads.emplace_back([this, i, &body] { body(*rank(i)); });
        for (std::thread& thread : threads) thread.join();
    }

  private:
    class Rank final : public cluster::Communicator {
      public:
        Rank(FakeRanks& all, int rank) : all_(all), rank_(rank) {
            for (std::size_t h = 0; h < all.hosts_.size(); ++h) {
                const auto& ranks = all.hosts_[h].ranks;
                const auto found = std::find(ranks.begin(), ranks.end(), rank);
                if (found == ranks.end()) continue;
                host_index_ = static_cast<int>(h);
                local_rank_ = static_cast<int>(found - ranks.begin());
            }
        }
        int rank() const override { return rank_; }
        int size() const override { return all_.size_; }
        const std::vector<cluster::HostLayout>& hosts() const override { return all_.hosts_; }
        int host_index() const override { return host_index_; }
        int local_rank() const override { return local_rank_; }
        void barrier() override { (void)all_.meet(rank_, {}); }
        std::vector<std::string> gather(const std::string& bytes) override {
            auto all = all_.meet(rank_, bytes);
            return rank_ == 0 ? all : std::vector<std::string>{};
        }
        std::string broadcast(const std::string& bytes) override { return all_.meet(rank_, bytes)[0]; }
        void sum(std::span<std::uint64_t> values) override {
            combine(values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
        }
        void sum(std::span<double> values) override {
            combine(values, [](double a, double b) { return a + b; });
        }
        void min(std::span<std::uint64_t> values) override {
            combine(values, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
        }
        void max(std::span<std::uint64_t> values) override {
            combine(values, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
        }
        void send(int to, const std::string& bytes) override {
            std::lock_guard lock(all_.mutex_);
            all_.mail_[{rank_, to}].push_back(bytes);
            all_.changed_.notify_all();
        }
        std::string receive(int from) override {
            std::unique_lock lock(all_.mutex_);
            auto& box = all_.mail_[{from, rank_}];
            all_.changed_.wait(lock, [&] { return !box.empty(); });
            std::string bytes = std::move(box.front());
            box.pop_front();
            return bytes;
        }
        void start_agreement(std::uint64_t value) override {
            std::lock_guard lock(all_.mutex_);
            Agreement& one = all_.agreements_[agreement_];
            one.value = std::max(one.value, value);
            ++one.started;
        }
        bool test_agreement(std::uint64_t& result) override {
            std::lock_guard lock(all_.mutex_);
            const Agreement& one = all_.agreements_[agreement_];
            if (one.started < all_.size_) return false;
            result = one.value;
            ++agreement_;
            return true;
        }
        void announce_stop(std::uint64_t value) override {
            std::lock_guard lock(all_.mutex_);
            all_.announced_ = std::max(all_.announced_, value);
        }
        std::uint64_t announced_stop() override {
            std::lock_guard lock(all_.mutex_);
            return all_.announced_;
        }
        void abort(int exit_code) override {
            std::fflush(nullptr);
            std::_Exit(exit_code);
        }

      private:
        template <class T, class Combine>
        void combine(std::span<T> values, Combine both) {
            const auto all = all_.meet(rank_, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
            for (std::size_t r = 0; r < all.size(); ++r)
                for (std::size_t i = 0; i < values.size(); ++i) {
                    T other;
                    std::memcpy(&other, all[r].data() + i * sizeof(T), sizeof(T));
                    values[i] = r == 0 ? other : both(values[i], other);
                }
        }
        FakeRanks& all_;
        int rank_, host_index_ = 0, local_rank_ = 0;
        std::uint64_t agreement_ = 0;
    };
    struct Agreement {
        std::uint64_t value = 0;
        int started = 0;
    };

    // Everybody brings bytes, and leaves with those of all.
    std::vector<std::string> meet(int rank, const std::string& bytes) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return leaving_ == 0; }); // the meeting before this one is over
        if (arrived_ == 0) brought_.assign(static_cast<std::size_t>(size_), {});
        brought_[static_cast<std::size_t>(rank)] = bytes;
        if (++arrived_ == size_) {
            leaving_ = size_;
            arrived_ = 0;
            changed_.notify_all();
        } else
            changed_.wait(lock, [this] { return leaving_ > 0; });
        std::vector<std::string> all = brought_;
        if (--leaving_ == 0) changed_.notify_all();
        return all;
    }

    std::vector<cluster::HostLayout> hosts_;
    int size_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> brought_;
    int arrived_ = 0, leaving_ = 0;
    std::map<std::pair<int, int>, std::deque<std::string>> mail_;
    std::map<std::uint64_t, Agreement> agreements_;
    std::uint64_t announced_ = 0;
};

} // namespace feedbench::test
