// A directory's own times: when a name came into it, went, or was changed.
//
// They lie beside its entry, under a key of their own, and only ever grow (Batch::raise): any number of writers on any
// number of hosts make entries in one directory without a conflict, and a batch of thousands costs one small change for
// each directory. What somebody sets (utimens) lies in the entry, and holds until a name changes after that.
//
// Thread: any; pure functions but those that take a view (its thread). Owner: none. Units: ns since 1970; kept in us,
// which Redis' arithmetic holds exactly. Errors: those of the engine.
#pragma once

#include <vector>

#include "storage/feedfs/metadata/schema.hpp"

namespace feedbench::feedfs {

// Names that came, went or changed in directories, for one batch.
class TouchedDirectories {
  public:
    // `named_ns`: when the name was made or taken, which becomes the directory's mtime; a file that is written takes
    // its name when it is begun and is seen by others only when it is published, `seen_ns`, which becomes the ctime:
    // who watches for changes misses none.
    void touch(InodeId directory, std::int64_t named_ns, std::int64_t seen_ns);
    void add_to(Batch& batch) const;

  private:
    struct Touched {
        InodeId directory = 0;
        std::int64_t named_ns = 0, seen_ns = 0;
    };
    std::vector<Touched> touched_; // each directory once
};
void touch_directory(Batch& batch, InodeId directory, std::int64_t now_ns);

// The entry of a directory with its times as they are by now; of others nothing is changed.
Status add_directory_times(ReadView& view, Inode& inode);

} // namespace feedbench::feedfs
