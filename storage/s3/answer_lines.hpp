// The status line and headers of an HTTP answer, line by line, into an Answer.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: what cannot be read leaves its fields as they were.
// Source: RFC 9112; the headers that S3 clients look at.
#pragma once

#include <string_view>

#include "storage/s3/request.hpp"

namespace feedbench::storage::s3 {

// With or without its line end. True: the empty line, behind which the body begins. A status line begins anew, for
// "100 Continue" may have come before.
bool take_answer_line(std::string_view line, Answer& answer);

// Once all lines are there: whether the body is data of an object (and not an error, or a listing).
bool is_data_answer(const Request& request, const Answer& answer);

} // namespace feedbench::storage::s3
