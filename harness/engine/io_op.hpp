// One storage operation: a plain struct that a backend completes. Backends know nothing of coroutines.
//
// Thread: reactor thread. Owner: the awaiting frame; the op and its buffer stay where they are until completion.
// Units: bytes, ns of the run's clock. Errors: result < 0 is -errno; `message` may add a sentence.
// Source: DESIGN sections 4 and 6; one submit with three answers, as in fio's ioengines.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace feedbench::engine {

// An open file of some backend. Closing without an IoKind::close operation is allowed (destructor) but may block.
class File {
  public:
    virtual ~File() = default;
    std::uint64_t size_bytes = 0;      // at open; of a file being created: what has been written so far
    std::uint32_t alignment_bytes = 1; // offsets, lengths and addresses of reads and writes must be multiples of this
};

enum class IoKind : std::uint8_t {
    open,   // path -> file; size_hint = the planned size (backends without bytes answer it as the size)
    create, // path -> file under a temporary name; size_hint = planned size or 0
    read,   // file, offset, data, bytes -> result = bytes read (short only at the end of file)
    write,  // file, offset, data, bytes -> result = bytes written (all of them or an error)
    flush,  // file: what was written is on stable storage
    commit, // file of create: becomes visible under its path with `size_hint` bytes (truncates padding of direct
            // writes)
    close,  // file: released; an uncommitted file vanishes without trace
};
std::string_view io_kind_name(IoKind kind);

enum class Submit : std::uint8_t {
    done,    // finished already: result is set, no completion will come
    pending, // op.sink->completed(op) will be called on the reactor thread, never from inside submit
    busy,    // no room now: ask again after another operation of this target has completed
};

struct IoOp;
class CompletionSink {
  public:
    virtual void completed(IoOp& op) = 0; // sets complete_ns; reactor thread

  protected:
    ~CompletionSink() = default;
};

struct IoOp {
    IoKind kind = IoKind::read;
    File* file = nullptr;
    std::unique_ptr<File> opened; // answer of open and create
    std::string_view path; // open, create (others: for messages): relative to the backend's root; the caller keeps the
                           // characters alive
    std::uint64_t offset = 0;
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t size_hint = 0;
    std::uint32_t client = 0; // accelerator that asks: model: spreads them over emulated hosts
    int buffer_index = -1;    // registered buffer that `data` lies in, -1 = none
    std::int64_t result = 0;  // >= 0: bytes or 0; < 0: -errno
    std::string message;      // detail of an error, else empty
    std::uint64_t submit_ns = 0, complete_ns = 0, resume_ns = 0; // the storage's: submit to complete (0: at once)

    CompletionSink* sink = nullptr; // set by the engine before submit
    void* waiter = nullptr;         // engine's own
    IoOp* pending_next = nullptr;   // engine's own: list of everything outstanding, for the watchdog
    IoOp* pending_previous = nullptr;
    IoOp* next = nullptr;          // whoever queues the op at the moment
    void* backend_state = nullptr; // backend's own while pending
};

// Something that operations can be submitted to: a backend.
class IoTarget {
  public:
    virtual ~IoTarget() = default;
    virtual Submit submit(IoOp& op) = 0; // reactor thread; must not block where the answer may be `pending`
};

} // namespace feedbench::engine
