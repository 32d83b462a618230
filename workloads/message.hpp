// Strings of one rank in one message, as the gather carries them.
//
// Thread: any. Owner: the caller. Units: none. Errors: none; both ends are the same binary.
#pragma once

#include <string>
#include <vector>

namespace feedbench::workloads {

// length, bytes, length, bytes
inline std::string pack_strings(const std::vector<std::string>& parts) {
    std::string bytes;
    for (const std::string& part : parts) bytes += std::to_string(part.size()) + ":" + part;
    return bytes;
}

inline std::vector<std::string> unpack_strings(const std::string& bytes) {
    std::vector<std::string> parts;
    for (std::size_t position = 0; position < bytes.size();) {
        const std::size_t colon = bytes.find(':', position);
        const std::size_t length = std::stoull(bytes.substr(position, colon - position));
        parts.push_back(bytes.substr(colon + 1, length));
        position = colon + 1 + length;
    }
    return parts;
}

} // namespace feedbench::workloads
