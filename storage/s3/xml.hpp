// What object stores answer in XML: errors, listings, uploads.
//
// Thread: any. Owner: the caller. Units: none. Errors: false where the text is no XML at all.
// Source: Amazon S3 API Reference; expat parses, entities are never expanded beyond XML's five.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace feedbench::storage::s3 {

// Calls `each` at the end of every element, with the names of it and of its ancestors joined by '/'
// ("ListBucketResult/Contents/Key") and its text; of elements that hold others the text is empty.
bool for_each_element(std::string_view xml,
                      const std::function<void(std::string_view path, std::string_view text)>& each);

// The text of the first element of that name, at any depth, or "".
std::string first_text(std::string_view xml, std::string_view name);

} // namespace feedbench::storage::s3
