// Task<T>: a lazy coroutine that one parent awaits, or a TaskGroup runs.
//
// Thread: reactor thread. Owner: the Task object owns the frame; destroying an unfinished, suspended task destroys its
// frame, which is allowed only when no operation of it is in flight (STYLE section 3: cancel, drain, destroy). Units:
// none. Errors: an exception leaving a task body ends the process (std::terminate): failures travel as Expected.
// Source: the completion-flag scheme of cppcoro for compilers without guaranteed symmetric transfer: GCC 12 drops it at
// -O0 and under sanitizers, and a million reads that complete at once must not grow the stack.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "harness/engine/frame_pool.hpp"

namespace feedbench::engine {

template <class T>
class Task;

namespace detail {

struct PromiseBase {
    static void* operator new(std::size_t bytes) { return FramePool::take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { FramePool::give_back(frame, bytes); }

    std::coroutine_handle<> continuation;
    bool parent_suspended = false;
    bool finished = false;

    struct FinalAwaiter {
        bool await_ready() noexcept { return false; }
        template <class P>
        void await_suspend(std::coroutine_handle<P> self) noexcept {
            PromiseBase& p = self.promise();
            p.finished = true;
            // The parent frees this frame as soon as it runs: nothing of it may be touched after resume().
            if (p.parent_suspended) p.continuation.resume();
        }
        void await_resume() noexcept {}
    };
    std::suspend_always initial_suspend() noexcept { return {}; }
    FinalAwaiter final_suspend() noexcept { return {}; }
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;
    Task<T> get_return_object() noexcept;
    void return_value(T v) { value.emplace(std::move(v)); }
};
template <>
struct Promise<void> : PromiseBase {
    Task<void> get_return_object() noexcept;
    void return_void() noexcept {}
};

} // namespace detail

template <class T = void>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    Task() = default;
    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        if (this != &other) {
            destroy();
            handle_ = std::exchange(other.handle_, {});
        }
        return *this;
    }
    ~Task() { destroy(); }

    explicit operator bool() const { return static_cast<bool>(handle_); }
    bool finished() const { return handle_ && handle_.promise().finished; }

    struct [[nodiscard]] Awaiter {
        Handle handle;
        explicit Awaiter(Handle h) : handle(h) {}
        Awaiter(const Awaiter&) = delete;
        Awaiter& operator=(const Awaiter&) = delete;
        bool await_ready() const noexcept { return handle.promise().finished; }
        // Runs the child on this stack. False (go on at once) when it finished without suspending.
        bool await_suspend(std::coroutine_handle<> parent) noexcept {
            auto& p = handle.promise();
            p.continuation = parent;
            handle.resume();
            if (p.finished) return false;
            p.parent_suspended = true;
            return true;
        }
        T await_resume() {
            if constexpr (!std::is_void_v<T>) return std::move(*handle.promise().value);
        }
    };
    // One await a task.
    Awaiter operator co_await() && noexcept { return Awaiter(handle_); }
    Awaiter wait() noexcept { return Awaiter(handle_); } // for a task kept in a container: `co_await v[i].wait()`

    // For a TaskGroup or the reactor: starts the body; `finished()` tells when it is over.
    void start() { handle_.resume(); }
    void set_continuation(std::coroutine_handle<> then) {
        handle_.promise().continuation = then;
        handle_.promise().parent_suspended = true;
    }

  private:
    void destroy() {
        if (handle_) handle_.destroy();
        handle_ = {};
    }
    Handle handle_;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
    return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() noexcept {
    return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
} // namespace detail

} // namespace feedbench::engine
