#include "storage/model.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>

#include "harness/engine/reactor.hpp"
#include "harness/types/option_values.hpp"
#include "harness/types/random.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

constexpr Option kOptions[] = {
    {"bandwidth", OptionType::size_bytes, "bytes/s", "0",
     "shared by all operations of this process; 0 = without limit"},
    {"latency", OptionType::duration_s, "s", "0", "of every read and write, after its turn at the pipe"},
    {"open_latency", OptionType::duration_s, "s", "0", "of every open and create"},
    {"jitter", OptionType::duration_s, "s", "0", "mean of an exponential time added to each latency (seeded)"},
    {"iops", OptionType::number, "1/s", "0", "operations a second of this process; 0 = without limit"},
};

struct Parameters {
    double bytes_per_second = 0, operations_per_second = 0;
    std::uint64_t latency_ns = 0, open_latency_ns = 0, jitter_ns = 0;
};

class ModelBackend final : public Backend {
  public:
    ModelBackend(Parameters parameters, const BackendRequest& request)
        : parameters_(parameters), reactor_(*request.reactor), random_(stream_seed(request.seed, "model jitter")),
          uri_(request.uri) {
        capabilities_.name = "model";
        capabilities_.has_content = false;
        capabilities_.virtual_time = true;
    }

    const Capabilities& capabilities() const override { return capabilities_; }
    std::string display_path(const std::string& path) const override { return uri_ + "/" + path; }
    Expected<FilesystemFacts> facts(const std::string&) override {
        FilesystemFacts facts;
        facts.type = "model";
        facts.free_bytes = facts.total_bytes = ~std::uint64_t{0} >> 1;
        return facts;
    }
    Status make_directories(const std::string&) override { return {}; }

    Submit submit(IoOp& op) override {
        std::uint64_t latency = 0, bytes = 0;
        switch (op.kind) {
        case IoKind::open:
        case IoKind::create:
            op.opened = std::make_unique<engine::File>();
            op.opened->size_bytes = op.kind == IoKind::open ? op.size_hint : 0;
            op.result = 0;
            latency = parameters_.open_latency_ns;
            break;
        case IoKind::read:
            bytes = op.offset >= op.file->size_bytes ? 0 : std::min(op.bytes, op.file->size_bytes - op.offset);
            op.result = static_cast<std::int64_t>(bytes);
            latency = parameters_.latency_ns;
            break;
        case IoKind::write:
            bytes = op.bytes;
            op.file->size_bytes = std::max(op.file->size_bytes, op.offset + op.bytes);
            op.result = static_cast<std::int64_t>(bytes);
            latency = parameters_.latency_ns;
            break;
        case IoKind::commit: // more than was written cannot become visible
            op.result = op.size_hint > op.file->size_bytes ? -EINVAL : 0;
            return Submit::done;
        case IoKind::flush:
        case IoKind::close:
            op.result = 0;
            return Submit::done;
        }
        return wait(op, latency, bytes);
    }

  private:
    struct Pending : engine::Timer {
        ModelBackend* backend = nullptr;
        IoOp* op = nullptr;
        Pending* next = nullptr;
    };

    Submit wait(IoOp& op, std::uint64_t latency, std::uint64_t bytes) {
        const std::uint64_t now = reactor_.now_ns();
        std::uint64_t ready = now;
        if (parameters_.bytes_per_second > 0 && bytes > 0) {
            pipe_free_ns_ = std::max(pipe_free_ns_, static_cast<double>(now)) +
                            static_cast<double>(bytes) / parameters_.bytes_per_second * 1e9;
            ready = static_cast<std::uint64_t>(std::llround(pipe_free_ns_));
        }
        if (parameters_.operations_per_second > 0) {
            next_turn_ns_ = std::max(next_turn_ns_, static_cast<double>(now)) + 1e9 / parameters_.operations_per_second;
            ready = std::max(ready, static_cast<std::uint64_t>(std::llround(next_turn_ns_)));
        }
        ready += latency;
        if (parameters_.jitter_ns > 0 && latency > 0)
            ready += static_cast<std::uint64_t>(-std::log(1.0 - random_.uniform()) *
                                                static_cast<double>(parameters_.jitter_ns));
        if (ready <= now) return Submit::done;

        Pending* pending = take();
        pending->op = &op;
        pending->deadline_ns = ready;
        pending->late_allowed_ns = (ready - now) / 100;
        op.backend_state = pending;
        reactor_.set_timer(*pending);
        return Submit::pending;
    }

    Pending* take() {
        if (!unused_) {
            all_.push_back(std::make_unique<Pending>());
            Pending& made = *all_.back();
            made.backend = this;
            made.fire = [](engine::Timer& timer) {
                auto& self = static_cast<Pending&>(timer);
                IoOp* op = self.op;
                self.next = self.backend->unused_;
                self.backend->unused_ = &self;
                op->sink->completed(*op);
            };
            return &made;
        }
        Pending* taken = unused_;
        unused_ = taken->next;
        return taken;
    }

    Parameters parameters_;
    engine::Reactor& reactor_;
    Random random_;
    std::string uri_;
    Capabilities capabilities_;
    double pipe_free_ns_ = 0, next_turn_ns_ = 0;
    std::vector<std::unique_ptr<Pending>> all_; // as many as were ever in flight at once
    Pending* unused_ = nullptr;
};

} // namespace

std::span<const Option> model_options() { return kOptions; }

Expected<std::unique_ptr<Backend>> make_model_backend(const BackendRequest& request) {
    Parameters parameters;
    for (const auto& [key, text] : request.options) {
        Error error;
        auto number = [&](Expected<std::uint64_t> value, std::uint64_t& out) {
            if (value)
                out = *value;
            else
                error = value.error();
            return value.has_value();
        };
        std::uint64_t bandwidth = 0;
        bool good = true;
        if (key == "bandwidth") {
            good = number(parse_size_bytes(text), bandwidth);
            parameters.bytes_per_second = static_cast<double>(bandwidth);
        } else if (key == "latency")
            good = number(parse_duration_ns(text), parameters.latency_ns);
        else if (key == "open_latency")
            good = number(parse_duration_ns(text), parameters.open_latency_ns);
        else if (key == "jitter")
            good = number(parse_duration_ns(text), parameters.jitter_ns);
        else if (key == "iops") {
            auto value = parse_number(text);
            good = value && *value >= 0;
            if (good)
                parameters.operations_per_second = *value;
            else
                error = config_error("'" + text + "' is not a number of operations a second");
        }
        if (!good) return config_error(error.message, request.uri + ": " + key);
    }
    return std::unique_ptr<Backend>(std::make_unique<ModelBackend>(parameters, request));
}

} // namespace feedbench::storage
