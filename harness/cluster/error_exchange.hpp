// One error for the whole job: every rank hears the same one, whoever met it.
//
// Thread: main thread of every rank, outside measured time (collective calls). Owner: none. Units: none. Errors: that
// is the subject. Source: DESIGN section 10 (one rank's error stops all with ONE message).
#pragma once

#include <optional>

#include "harness/cluster/communicator.hpp"
#include "harness/types/error.hpp"

namespace feedbench::cluster {

// The error of the lowest rank that has one, with its rank and host filled in; the same answer everywhere.
std::optional<Error> first_error_of_all(Communicator& communicator, const std::optional<Error>& mine);
Status agree(Communicator& communicator, const Status& mine);

// Text form of an error, for any exchange between ranks of one binary.
std::string encode(const std::optional<Error>& error);
std::optional<Error> decode(const std::string& bytes);

} // namespace feedbench::cluster
