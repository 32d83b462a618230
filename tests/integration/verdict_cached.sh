#!/usr/bin/env bash
# `cached`, by really reading from a cache: a set that was just written (C9), a second epoch that finds what the first has read (C1); and what
# is not cached: dropped, direct, or in memory with nothing below.
. "$(dirname "$0")/lib.sh"
# Large files: a look at a file's head before the run, which the kernel reads ahead of, is little of it.
SMALL+=(-p dataset.num_files_train=16 -p dataset.record_length_bytes=4000000)
make_small "$WORK/data"
one() { run_ranks 2 run "$(small_workload)" --data-dir "$WORK/data" --accelerators 2 "${SMALL[@]}" "$@"; }
# kind NAME : where the bytes of run NAME came from
kind() { json_value "$(result_dir "$WORK/$1")/result.json" 'd["epochs"][0]["hosts"][0]["cache"]["source_kind"]'; }

# C9: written, synced, read back.
one -p reader.drop_cache=off --results-dir "$WORK/written"
if [ "$(kind written)" = block ]; then
  expect_status 4 "C9"
  expect_said "^VERDICT cached" 1
  expect_said "^feedbench: not valid: cached: " 1
  result=$(result_dir "$WORK/written")/result.json
  expect_json "$result" 'd["verdict"] == "cached" and not d["valid"] and d["status"] == "complete" and len(d["invalid_reasons"]) == 1'
  expect_json "$result" '[f["rule"] for f in d["findings"] if f["verdict"] != "warning"][0] == "cached"'
  # Both witnesses: nothing from the device, and every page was there.
  expect_json "$result" '{m["key"]: m["value"] for f in d["findings"] if f["rule"] == "cached" for m in f["facts"]}["source_bytes_over_delivered"] < 0.5'
  expect_json "$result" 'all(h["cache"]["resident_page_count"] >= 0.9 * h["cache"]["sampled_page_count"] > 0 for e in d["epochs"] for h in e["hosts"])'
  note "C9: passed"

  # One who measures a cache on purpose gets 0; what is said stays.
  one -p reader.drop_cache=off --allow-cached --results-dir "$WORK/allowed"
  expect_status 0 "--allow-cached"
  expect_said "^feedbench: not valid: cached: " 1
  expect_json "$(result_dir "$WORK/allowed")/result.json" 'd["verdict"] == "cached" and not d["valid"]'

  # C1: out of the cache before the run, so that the first epoch is honest and the second is not.
  "$PYTHON" - "$WORK/data" <<'PY'
import os, sys
for folder, _, names in [*os.walk(sys.argv[1])] * 2: # pages that were busy the first time
    for name in names:
        fd = os.open(os.path.join(folder, name), os.O_RDONLY); os.fsync(fd); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED); os.close(fd)
PY
  one -p reader.drop_cache=off --results-dir "$WORK/second"
  expect_status 4 "C1"
  note "C1: $(json_value "$(result_dir "$WORK/second")/result.json" '[(h["cache"]["source_bytes"], h["cache"]["bytes_delivered"], h["cache"]["resident_page_count"]) for e in d["epochs"] for h in e["hosts"]]')"
  expect_json "$(result_dir "$WORK/second")/result.json" \
    '{m["key"]: m["value"] for f in d["findings"] if f["rule"] == "cached" for m in f["facts"]}["cached_host_epoch_count"] == 1'
  expect_json "$(result_dir "$WORK/second")/result.json" \
    '[h["cache"]["resident_page_count"] >= 0.9 * h["cache"]["sampled_page_count"] for e in d["epochs"] for h in e["hosts"]] == [False, True]'
  note "C1: passed"
else
  note "$WORK is on '$(kind written)': C1 and C9 left out"
fi

# Dropped, or direct: the device gave every byte, and the run is about it.
one --results-dir "$WORK/dropped"
expect_status 0 "dropped"
one -p reader.drop_cache=off -p reader.odirect=True --results-dir "$WORK/direct"
[ "$STATUS" -eq 3 ] && expect_said "refuses O_DIRECT" || expect_status 0 "direct"
for name in dropped direct; do
  [ -n "$(find "$WORK/$name" -name result.json 2>/dev/null)" ] || continue
  expect_json "$(result_dir "$WORK/$name")/result.json" 'd["valid"] and d["verdict"] not in ("", "cached", "implausible")'
  [ "$(kind $name)" != block ] || expect_json "$(result_dir "$WORK/$name")/result.json" \
    'all(h["cache"]["source_bytes"] >= 0.99 * h["cache"]["bytes_delivered"] for e in d["epochs"] for h in e["hosts"])'
done
note "dropped, direct: passed"

# In memory: not cached, but said.
memory=$(mktemp -d /dev/shm/feedbench-verdict.XXXXXX 2>/dev/null)
if [ -n "$memory" ] && [ "$(stat -f -c %T "$memory")" = tmpfs ]; then
  undo() { rm -rf "$memory"; }
  cp -r "$WORK/data" "$memory/data"
  run_ranks 2 run "$(small_workload)" --data-dir "$memory/data" --accelerators 2 "${SMALL[@]}" -p reader.drop_cache=off --results-dir "$WORK/memory"
  expect_status 0 "in memory"
  expect_said "note \(memory_storage\): The data lay in memory" 1
  expect_json "$(result_dir "$WORK/memory")/result.json" 'd["valid"] and d["verdict"] not in ("cached", "implausible")'
  note "memory: passed"
fi
