#include "harness/cluster/error_exchange.hpp"

#include <vector>

namespace feedbench::cluster {

namespace {
constexpr char kSeparator = '\0';
}

std::string encode(const std::optional<Error>& error) {
    if (!error) return {};
    std::string bytes;
    for (const std::string& field : {std::to_string(static_cast<int>(error->kind)), error->message, error->operation,
                                     error->path, std::to_string(error->offset), std::to_string(error->errno_value),
                                     error->host, std::to_string(error->rank), std::to_string(error->accelerator)}) {
        bytes += field;
        bytes += kSeparator;
    }
    return bytes;
}

std::optional<Error> decode(const std::string& bytes) {
    if (bytes.empty()) return {};
    std::vector<std::string> fields;
    std::size_t start = 0;
    for (std::size_t end; (end = bytes.find(kSeparator, start)) != std::string::npos; start = end + 1)
        fields.push_back(bytes.substr(start, end - start));
    if (fields.size() != 9) return internal_error("an error message between ranks was damaged");
    Error error;
    error.kind = static_cast<ErrorKind>(std::stoi(fields[0]));
    error.message = fields[1];
    error.operation = fields[2];
    error.path = fields[3];
    error.offset = std::stoll(fields[4]);
    error.errno_value = std::stoi(fields[5]);
    error.host = fields[6];
    error.rank = std::stoi(fields[7]);
    error.accelerator = std::stoll(fields[8]);
    return error;
}

std::optional<Error> first_error_of_all(Communicator& communicator, const std::optional<Error>& mine) {
    std::optional<Error> placed = mine;
    // In a job of one process the rank says nothing that helps.
    if (placed && communicator.size() > 1) {
        if (placed->rank < 0) placed->rank = communicator.rank();
        if (placed->host.empty())
            placed->host = communicator.hosts()[static_cast<std::size_t>(communicator.host_index())].name;
    }
    std::string chosen;
    for (const std::string& one : communicator.gather(encode(placed)))
        if (chosen.empty()) chosen = one;
    return decode(communicator.broadcast(chosen));
}

Status agree(Communicator& communicator, const Status& mine) {
    const auto error = first_error_of_all(communicator, mine ? std::nullopt : std::optional<Error>(mine.error()));
    if (error) return *error;
    return {};
}

} // namespace feedbench::cluster
