#include "workloads/host_message.hpp"

#include <cassert>
#include <cstring>
#include <optional>
#include <type_traits>

namespace feedbench::workloads {
namespace {

// The one list of members, for both directions. A member that is added to HostFacts breaks the binding, not the result.
template <class Facts, class Visit>
void walk(Facts& facts, Visit&& visit) {
    auto& [name, rank_count, accelerator_count, cpu_count, cpu_allowed, memory_bytes, cpu_model, kernel, process_cpu_s,
           host_cpu_s, bytes_delivered, peak_rss_bytes, nic_bytes_per_second, memory_bytes_per_second] = facts;
    const auto all = [&visit](auto&... members) { (visit(members), ...); };
    all(name, rank_count, accelerator_count, cpu_count, cpu_allowed, memory_bytes, cpu_model, kernel, process_cpu_s,
        host_cpu_s, bytes_delivered, peak_rss_bytes, nic_bytes_per_second, memory_bytes_per_second);
}

struct Writer {
    std::string bytes;
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void operator()(const std::string& text) {
        (*this)(std::uint64_t{text.size()});
        bytes += text;
    }
    void operator()(const std::optional<double>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }
};

struct Reader {
    const std::string& bytes;
    std::size_t position = 0;
    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        assert(position + sizeof value <= bytes.size());
        std::memcpy(&value, bytes.data() + position, sizeof value);
        position += sizeof value;
    }
    void operator()(std::string& text) {
        std::uint64_t length = 0;
        (*this)(length);
        text = bytes.substr(position, length);
        position += length;
    }
    void operator()(std::optional<double>& value) {
        bool is_there = false;
        (*this)(is_there);
        value.reset();
        if (is_there) (*this)(value.emplace());
    }
};

} // namespace

std::string pack_host(const HostFacts& facts) {
    Writer writer;
    walk(facts, writer);
    return std::move(writer.bytes);
}

HostFacts unpack_host(const std::string& bytes) {
    HostFacts facts;
    walk(facts, Reader{bytes});
    return facts;
}

} // namespace feedbench::workloads
