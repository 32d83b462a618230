// Reads of segments that only the object tier has: piece by piece, each fetched once however many readers want it, and
// kept in the fast tier for the next.
//
// A piece is VolumeConfig::chunk_bytes of a segment. It is kept as a file of the fast tier, "SEGMENT-PIECE.cold", with
// a trailer that says what it is and the CRC of its bytes: a piece is believed only where that holds, so that it needs
// no sync, no metadata, and may be removed at any time. Read-only volumes, and those whose fast tier is missing or
// full, keep the latest pieces in memory instead.
//
// Thread: any. Owner: SegmentStore. Units: bytes. Errors: those of the object tier; a fast tier that fails only costs
// the fetch. Source: issue 7, "Tiering".
#pragma once

#include <memory>

#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

struct ReadThroughFigures {
    std::uint64_t fetches = 0, bytes_fetched = 0; // from the object tier
    std::uint64_t waits = 0;                      // reads that waited for another's fetch
    std::uint64_t fast_hits = 0, memory_hits = 0; // pieces that were there
    std::uint64_t damaged = 0;                    // pieces of the fast tier that did not hold, and were fetched anew
};

class ReadThrough : public SegmentFetcher {
  public:
    virtual ReadThroughFigures figures() = 0;
    // Bytes of pieces in the fast tier, as far as this process knows.
    virtual std::uint64_t cached_bytes() = 0;
    // Removes pieces, least recently used first, until `bytes` are gone or none is left; answers how many went.
    virtual Expected<std::uint64_t> shrink(std::uint64_t bytes) = 0;
};

struct ReadThroughOptions {
    bool keeps_in_fast_tier = true;           // false: read-only volumes
    std::uint64_t memory_bytes = 64ULL << 20; // of pieces in memory; at least one piece is kept
};

// `targets`: of the volume, the object tier's among them. nullptr where there is none.
std::shared_ptr<ReadThrough> make_read_through(std::vector<std::shared_ptr<Target>> targets, const VolumeConfig& volume,
                                               ReadThroughOptions options);

// "0000000000000001-00000003.cold"
std::string piece_name(std::uint64_t segment, std::uint64_t piece);
bool is_piece_name(const std::string& name);

} // namespace feedbench::feedfs
