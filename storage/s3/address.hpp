// Where objects are: bucket and prefix of a URI, keys below it, and how keys are written in a URL.
//
// Thread: any; plain values. Owner: the holder. Units: none. Errors: config_error for what names no bucket.
// Source: cases O1 and O2; the encoding is RFC 3986's as AWS Signature Version 4 asks for it.
#pragma once

#include <string>
#include <string_view>

#include "harness/types/error.hpp"

namespace feedbench::storage::s3 {

struct Address {
    std::string bucket;
    std::string prefix; // no '/' at its end, may be empty; '/' at its start or doubled inside belongs to the keys

    std::string uri() const;                         // "s3://bucket/prefix", the one canonical form
    std::string key(std::string_view path) const;    // prefix + '/' + path; path empty: the prefix itself
    std::string folder(std::string_view path) const; // what keys directly in `path` begin with: "" or ".../"
};

// "bucket", "bucket/p", "s3://bucket/p", "s3://bucket/p/" and the doubled "s3://s3://bucket/p" of other tools.
Expected<Address> parse_address(std::string_view text);

// Percent-encoding of everything but A-Z a-z 0-9 - . _ ~ (and '/', where kept): bytes, so any UTF-8 name.
std::string encode(std::string_view text, bool keep_slash);
// The reverse; '+' stays itself. What is no valid escape stays as it is.
std::string decode(std::string_view text);

} // namespace feedbench::storage::s3
