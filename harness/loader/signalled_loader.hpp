// What loaders share whose workers and accelerator wait on one signal: the first error, and how they end.
//
// Thread: reactor thread. Owner: as loader.hpp says; never moved, for its context points into it. Units: none.
// Errors: the first one is kept in error_; close() drains, then frees the workers' frames. Source: STYLE section 3
// (cancel, drain, destroy).
#pragma once

#include "harness/loader/loader.hpp"

namespace feedbench::loader {

class SignalledLoader : public Loader {
  public:
    SignalledLoader(const SignalledLoader&) = delete;
    SignalledLoader& operator=(const SignalledLoader&) = delete;

    void stop(const Error& reason) override {
        if (!error_) error_ = reason;
        stopping_ = true;
        changed_.notify();
    }

    engine::Task<void> close() override {
        stopping_ = true;
        changed_.notify();
        co_await group_.join();
        group_.clear();
    }

  protected:
    explicit SignalledLoader(const LoaderContext& context)
        : context_(context), group_(*context.reactor), changed_(*context.reactor) {
        context_.stopping = &stopping_;
        context_.wait = &wait_;
    }
    // A new epoch: nothing has gone wrong yet.
    void restart() {
        stopping_ = false;
        error_.reset();
    }

    LoaderContext context_;
    WaitAccount wait_;
    engine::TaskGroup group_;
    engine::Signal changed_;
    bool stopping_ = false;
    MaybeError error_;
};

} // namespace feedbench::loader
