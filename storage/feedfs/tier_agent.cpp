#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage/feedfs/tier.hpp"

namespace feedbench::feedfs {

struct TierAgent::State {
    State(Tiering& the_tiering, std::uint64_t pause, std::function<void(const std::string&)> warning)
        : tiering(the_tiering), pause_ns(pause), warn(std::move(warning)) {}

    void loop() {
        std::uint64_t pauses = 1;
        for (std::unique_lock lock(mutex); !over;) {
            is_asked = false;
            lock.unlock();
            const TierWatcher go_on = [this](const TierProgress&) {
                const std::lock_guard look(mutex);
                return !over;
            };
            const Status sealed = tiering.seal_idle();
            TierWork work = tiering.upload(go_on);
            const TierWork room = tiering.make_room(go_on);
            if (!work.first_error) work.first_error = room.first_error;
            if (!work.first_error && !sealed) work.first_error = sealed.error();
            lock.lock();
            sum.done.segments += work.done.segments + room.done.segments;
            sum.done.bytes += work.done.bytes + room.done.bytes;
            sum.failed.segments += work.failed.segments + room.failed.segments;
            sum.failed.bytes += work.failed.bytes + room.failed.bytes;
            if (work.first_error) {
                const std::string sentence = work.first_error->describe();
                if (warn && sentence != last_warning) warn(sentence); // once, however often it is tried again
                last_warning = sentence;
                sum.first_error = work.first_error;
                pauses = std::min<std::uint64_t>(pauses * 2, kPausesMost);
            } else {
                last_warning.clear();
                pauses = 1;
            }
            wake.wait_for(lock, std::chrono::nanoseconds(pause_ns * pauses), [this] { return over || is_asked; });
        }
    }

    static constexpr std::uint64_t kPausesMost = 32;
    Tiering& tiering;
    const std::uint64_t pause_ns;
    const std::function<void(const std::string&)> warn;
    std::mutex mutex;
    std::condition_variable wake;
    bool over = false, is_asked = false;
    std::string last_warning;
    TierWork sum;
    std::thread thread;
};

TierAgent::TierAgent(Tiering& tiering, std::uint64_t pause_ns, std::function<void(const std::string&)> warn)
    : state_(std::make_unique<State>(tiering, pause_ns, std::move(warn))) {
    state_->thread = std::thread([this] { state_->loop(); });
}

TierAgent::~TierAgent() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->over = true;
    }
    state_->wake.notify_all();
    state_->thread.join();
}

void TierAgent::wake() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_asked = true;
    }
    state_->wake.notify_all();
}

TierWork TierAgent::done() {
    const std::lock_guard lock(state_->mutex);
    return state_->sum;
}

} // namespace feedbench::feedfs
