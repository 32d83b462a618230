# feedfs' metadata on LMDB: 10 million files (FEEDBENCH_METADATA_FILES), one core: look-ups, listings, opening, memory. Beside: LMDB's bare
# mdb_get, which decodes nothing. Of the memory the anonymous part is ours; mapped pages are the file's in the page cache, as with read().
part_feedfs_metadata() {
  local files=${FEEDBENCH_METADATA_FILES:-10000000} of=1000 place look
  place=$(mktemp -d "${FEEDBENCH_BENCH_DISK:-$ROOT/build}/metadata.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$place'" RETURN
  say "filling $files entries"
  "$BIN/bench_feedfs_metadata" fill lmdb "$place/lmdb" "$files" "$of" >"$place/fill.json" || return 1
  say "filled at $(json "$place/fill.json" 'd["per_second"]') entries/s"
  settle
  "$BIN/bench_feedfs_metadata" open lmdb "$place/lmdb" >"$place/open.json" || return 1
  bound "metadata of $files files: opened in" "$(json "$place/open.json" 'd["seconds"]')" s le 2
  bound "memory then, anonymous and mapped" "$(json "$place/open.json" 'd["anonymous_MiB"] + d["mapped_MiB"]')" MiB le 256
  "$BIN/bench_feedfs_metadata" bare "$place/lmdb" "$files" "$of" 1000000 >/dev/null # warm
  look=$(best_of 3 max metadata_rate stat lmdb "$place/lmdb" "$files" "$of" 3000000)
  ratio "stat of $files files, random, one core, beside bare mdb_get" "$look" \
    "$(best_of 3 max metadata_rate bare "$place/lmdb" "$files" "$of" 3000000)" "/s" ge 0.7
  bound "directory entries listed, one core" "$(best_of 3 max metadata_rate list lmdb "$place/lmdb" "$files" "$of" 10000000)" "/s" ge 1000000
  "$BIN/bench_feedfs_metadata" fill lmdb "$place/million" 1000000 "$of" >/dev/null || return 1
  bound "stat of 1 million files, random, one core" "$(best_of 3 max metadata_rate stat lmdb "$place/million" 1000000 "$of" 2000000)" "/s" ge 500000
  "$BIN/bench_feedfs_metadata" stat lmdb "$place/lmdb" "$files" "$of" 3000000 >"$place/stat.json" || return 1
  bound "anonymous memory after 3 million look-ups" "$(json "$place/stat.json" 'd["anonymous_MiB"]')" MiB le 256
}
metadata_rate() { "$BIN/bench_feedfs_metadata" "$@" | json - 'd["per_second"]'; }
