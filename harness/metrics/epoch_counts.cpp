#include "harness/metrics/epoch_counts.hpp"

#include <cassert>
#include <cstring>

#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

constexpr std::array kNanoseconds{&EpochCounts::in_flight_ns, &EpochCounts::client_queue_ns, &EpochCounts::decode_ns,
                                  &EpochCounts::verify_ns, &EpochCounts::buffer_wait_ns};
constexpr std::array kSeconds{&EpochCounts::process_cpu_s, &EpochCounts::host_cpu_s};

template <class T>
void append(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T take(const std::string& bytes, std::size_t& position) {
    T value{};
    const bool is_there = position + sizeof value <= bytes.size();
    assert(is_there); // it comes from another rank's serialise(), never from a file
    if (is_there) std::memcpy(&value, bytes.data() + position, sizeof value);
    position += sizeof value;
    return value;
}

} // namespace

void EpochCounts::merge(const EpochCounts& other) {
    for (const CountedHistogram& one : kCountedHistograms) (this->*one.histogram).merge(other.*one.histogram);
    for (const auto member : kNanoseconds) this->*member += other.*member;
    for (const auto member : kSeconds) this->*member += other.*member;
}

LoaderTime EpochCounts::loader_time() const {
    LoaderTime time;
    time.in_flight_s = seconds(in_flight_ns);
    time.client_queue_s = seconds(client_queue_ns);
    time.decode_s = seconds(decode_ns);
    time.verify_s = seconds(verify_ns);
    time.buffer_wait_s = seconds(buffer_wait_ns);
    return time;
}

std::vector<HistogramData> EpochCounts::histograms() const {
    std::vector<HistogramData> all;
    for (const CountedHistogram& one : kCountedHistograms)
        all.push_back((this->*one.histogram).data(std::string(one.key)));
    return all;
}

std::string EpochCounts::serialise() const {
    std::string bytes;
    for (const auto member : kNanoseconds) append(bytes, this->*member);
    for (const auto member : kSeconds) append(bytes, this->*member);
    for (const CountedHistogram& one : kCountedHistograms) {
        const std::string histogram = (this->*one.histogram).serialise();
        append(bytes, std::uint64_t{histogram.size()});
        bytes += histogram;
    }
    return bytes;
}

EpochCounts EpochCounts::parse(const std::string& bytes) {
    EpochCounts counts;
    std::size_t position = 0;
    for (const auto member : kNanoseconds) counts.*member = take<std::uint64_t>(bytes, position);
    for (const auto member : kSeconds) counts.*member = take<double>(bytes, position);
    for (const CountedHistogram& one : kCountedHistograms) {
        const auto length = take<std::uint64_t>(bytes, position);
        if (position + length > bytes.size()) break;
        counts.*one.histogram = Histogram::parse(bytes.substr(position, length));
        position += length;
    }
    return counts;
}

void add(LoaderTime& sum, const LoaderTime& part) {
    sum.in_flight_s += part.in_flight_s;
    sum.client_queue_s += part.client_queue_s;
    sum.decode_s += part.decode_s;
    sum.verify_s += part.verify_s;
    sum.buffer_wait_s += part.buffer_wait_s;
}

} // namespace feedbench::metrics
