#include "storage/s3/answer_lines.hpp"

#include <algorithm>
#include <charconv>

namespace feedbench::storage::s3 {

namespace {

std::uint64_t number_of(std::string_view text, bool& is_number) {
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    is_number = code == std::errc{} && end != text.data();
    return number;
}

bool is_name(std::string_view name, std::string_view lower_case) {
    return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

// "bytes 0-99/1000", "bytes */1000"
void take_content_range(std::string_view value, Answer& answer) {
    if (!value.starts_with("bytes ")) return;
    value.remove_prefix(6);
    const std::size_t slash = value.find('/');
    if (slash == std::string_view::npos) return;
    bool is_number = false;
    const std::uint64_t total = number_of(value.substr(slash + 1), is_number);
    if (!is_number) return;
    answer.total_bytes = total;
    answer.has_total = true;
    const std::uint64_t first = number_of(value, is_number);
    if (!is_number) return;
    answer.body_offset = first;
    answer.has_range = true;
}

} // namespace

bool take_answer_line(std::string_view line, Answer& answer) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
        if (!answer.has_total && answer.has_length && (answer.status == 200 || answer.status == 206)) {
            answer.total_bytes = answer.body_bytes;
            answer.has_total = true;
        }
        return true;
    }
    bool is_number = false;
    if (line.starts_with("HTTP/")) {
        answer = Answer{};
        const std::size_t space = std::min(line.find(' ') + 1, line.size());
        answer.status = static_cast<long>(number_of(line.substr(space), is_number));
        answer.keeps_connection = !line.starts_with("HTTP/1.0");
        return false;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    if (is_name(name, "content-length"))
        answer.body_bytes = number_of(value, answer.has_length);
    else if (is_name(name, "content-range"))
        take_content_range(value, answer);
    else if (is_name(name, "etag"))
        answer.etag = std::string(value);
    else if (is_name(name, "date"))
        answer.date = std::string(value);
    else if (is_name(name, "connection") && is_name(value, "close"))
        answer.keeps_connection = false;
    else if (is_name(name, "transfer-encoding") || is_name(name, "content-encoding"))
        answer.is_encoded = true;
    else if (is_name(name, "x-amz-bucket-region"))
        answer.region = std::string(value);
    return false;
}

bool is_data_answer(const Request& request, const Answer& answer) {
    return request.method == Method::get && !request.key.empty() && request.query.empty() &&
           (answer.status == 200 || answer.status == 206);
}

} // namespace feedbench::storage::s3
