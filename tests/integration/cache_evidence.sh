#!/usr/bin/env bash
# Where an epoch's bytes came from, on a real disk with real ranks: C1 (a warm cache; direct; dropped), C2 (a drop that takes too long), C9 (just
# written); memory and null:, below which nothing lies; every host for itself. The verdict is another test's (verdict_cached.sh).
. "$(dirname "$0")/lib.sh"
DISK=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/cache-evidence.XXXXXX") || skip "the build folder cannot be written"
MEMORY=
undo() { rm -rf "$DISK" ${MEMORY:+"$MEMORY"}; }
SET=(-p dataset.num_files_train=64 -p dataset.record_length_bytes=1000000 -p dataset.record_length_bytes_stdev=0 -p reader.batch_size=4
  -p train.epochs=2 -p train.computation_time=0.002 -p workflow.checkpoint=False)
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$DISK" "${SET[@]}"; expect_status 0 "datagen"

# measure NAME DATA OPTIONS... : two ranks, two epochs; what a cache makes of the verdict is not asked here
measure() {
  local name=$1 data=$2; shift 2
  rm -rf "$WORK/$name"
  run_ranks 2 run unet3d_mini --data-dir "$data" --accelerators 2 "${SET[@]}" --allow-cached --results-dir "$WORK/$name" "$@"
  expect_status 0 "$name"
  result=$(result_dir "$WORK/$name")/result.json
  # What holds of all evidence: one host, all bytes of the epoch, a reason where there is no number.
  expect_json "$result" 'all(len(e["hosts"]) == 1 and e["hosts"][0]["cache"]["bytes_delivered"] == e["bytes_delivered"] > 0 for e in d["epochs"])'
  expect_json "$result" 'all((c["source_bytes"] is None) == (c["source_reason"] != "") and (c["sampled_page_count"] == 0) == (c["residency_reason"] != "")
    and (c["residency_method"] in ("cachestat", "mincore")) == (c["sampled_page_count"] > 0) for e in d["epochs"] for c in [e["hosts"][0]["cache"]])'
}
# cache EXPRESSION : over c1, c2 (the evidence of both epochs) and d
cache() { expect_json "$result" "(lambda c1, c2: $1)(*[e['hosts'][0]['cache'] for e in d['epochs']])"; }
holds() { "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); c1,c2=[e["hosts"][0]["cache"] for e in d["epochs"]]; sys.exit(not eval(sys.argv[2]))' \
  "$result" "$1"; }

# C9: the pages of what was written and synced are all there, and the device is not asked. (Others may read from it: three attempts.)
for attempt in 1 2 3; do
  measure written "$DISK" -p reader.drop_cache=off
  kind=$(json_value "$result" 'd["epochs"][0]["hosts"][0]["cache"]["source_kind"]')
  [ "$kind" = block ] || skip "$DISK does not lie on a disk whose reads are counted: $kind"
  holds 'c1["source_bytes"] < 0.1 * c1["bytes_delivered"] and c2["source_bytes"] < 0.1 * c2["bytes_delivered"]' && break
done
cache 'c1["source_bytes"] < 0.1 * c1["bytes_delivered"] and c2["source_bytes"] < 0.1 * c2["bytes_delivered"]'
cache 'all(c["resident_page_count"] >= 0.99 * c["sampled_page_count"] > 0 and c["process_read_bytes"] < 0.1 * c["bytes_delivered"] for c in (c1, c2))'
cache 'c1["drop_outcome"] == "not asked" and c1["drop_s"] == 0'
expect_json "$result" '[m for m in d["metrics"] if m["key"] == "source_bytes_over_delivered"][0]["value"] < 0.1'
note "C9: passed"

# C1: dropped before the run only: the first epoch is read from the device, but for the heads of files that the run's own spot check has looked
# at (a fifteenth of so small a set); the second from memory.
"$PYTHON" - "$DISK" <<'PY'
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        fd = os.open(os.path.join(folder, name), os.O_RDONLY); os.fsync(fd); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED); os.close(fd)
PY
measure warm "$DISK" -p reader.drop_cache=off
cache 'c1["source_bytes"] >= 0.9 * c1["bytes_delivered"] and c1["process_read_bytes"] >= 0.9 * c1["bytes_delivered"]'
cache 'c1["resident_page_count"] <= 0.1 * c1["sampled_page_count"] and c2["resident_page_count"] >= 0.99 * c2["sampled_page_count"]'
cache 'c2["process_read_bytes"] < 0.1 * c2["bytes_delivered"]'
measure direct "$DISK" -p reader.drop_cache=off -p reader.odirect=True
cache 'all(c["source_bytes"] >= 0.99 * c["bytes_delivered"] and c["process_read_bytes"] >= 0.99 * c["bytes_delivered"] for c in (c1, c2))'
cache '"O_DIRECT" in c1["residency_reason"]'
for how in fadvise $([ "$(id -u)" -eq 0 ] && echo system); do
  measure "$how" "$DISK" -p reader.drop_cache=$how
  cache 'all(c["drop_outcome"] == "dropped" and c["drop_s"] > 0 for c in (c1, c2))'
  cache 'all(c["source_bytes"] >= 0.99 * c["bytes_delivered"] and c["resident_page_count"] <= 0.1 * c["sampled_page_count"] for c in (c1, c2))'
  expect_json "$result" '[m for m in d["metrics"] if m["key"] == "source_bytes_over_delivered"][0]["value"] >= 0.99'
done
note "C1: passed"

# C2: no drop ends within a microsecond; it is no refusal, and the next epoch tries again.
measure late "$DISK" -p reader.drop_cache=fadvise -p reader.drop_cache_timeout=0.000001
cache 'c1["drop_outcome"] == c2["drop_outcome"] == "timeout"'
expect_json "$result" 'sorted(f["evidence"].split(":")[0] for f in d["findings"] if f["rule"] == "drop_cache") == ["epochs 1 to 2"]'
expect_json "$result" '[h["cache"]["drop_outcome"] for e in d["epochs"] for h in e["hosts"]] == ["timeout", "timeout"]'
expect_json "$result" 'all("timeout" in f["evidence"] for f in d["findings"] if f["rule"] == "drop_cache")'
run "$FEEDBENCH" run unet3d_mini --data-dir "$DISK" "${SET[@]}" -p reader.drop_cache_timeout=0 --results-dir "$WORK/zero"
expect_status 2 "no time at all"; expect_said "reader.drop_cache_timeout" 1
note "C2: passed"

# Hosts' limits: what a machine has; null where it does not say.
expect_json "$result" 'all(0 < h["cpu_allowed"] <= h["cpu_count"] and h["memory_bytes_per_second"] > 1e8 for h in d["hosts"])'
expect_json "$result" 'all(h["nic_bytes_per_second"] is None or h["nic_bytes_per_second"] > 0 for h in d["hosts"])'
bound=$(taskset -c 0 true 2>/dev/null && echo 1)
if [ -n "$bound" ]; then
  run taskset -c 0 "$FEEDBENCH" run unet3d_mini --data-dir "$DISK" "${SET[@]}" --allow-cached --results-dir "$WORK/bound"
  expect_json "$(result_dir "$WORK/bound")/result.json" 'd["hosts"][0]["cpu_allowed"] == 1'
fi
note "limits: passed"

# Below memory nothing lies; null: has no place.
MEMORY=$(mktemp -d /dev/shm/feedbench-evidence.XXXXXX 2>/dev/null)
if [ -n "$MEMORY" ] && [ "$(stat -f -c %T "$MEMORY")" = tmpfs ]; then
  cp -r "$DISK/." "$MEMORY"
  measure memory "$MEMORY" -p reader.drop_cache=off
  cache 'c1["source_kind"] == "memory" and c1["source_bytes"] is None and "nothing lies below" in c1["source_reason"]'
  expect_json "$result" '[m for m in d["metrics"] if m["key"] == "source_bytes_over_delivered"][0]["reason"] == "source_not_counted"'
fi
measure null null: -p reader.drop_cache=off
cache 'c1["source_kind"] == "none" and "null" in c1["source_reason"] and c1["source_bytes"] is None'
note "memory, null: passed"

# Every host drops its own cache and counts for itself. (These hosts share one disk, so each sees the other's reads, too.)
HOSTS_TOOL=$FEEDBENCH_SOURCE_DIR/tests/servers/mpi_hosts.sh
if [ "$(id -u)" -eq 0 ] && HOSTS=2 bash "$HOSTS_TOOL" up "$WORK/hosts" >/dev/null 2>&1; then
  undo() { bash "$HOSTS_TOOL" down "$WORK/hosts"; rm -rf "$DISK" ${MEMORY:+"$MEMORY"}; }
  run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2,h2:1 -n 3 "$FEEDBENCH" run unet3d_mini --data-dir "$DISK" --accelerators 4 \
    "${SET[@]}" --allow-cached -p reader.drop_cache=fadvise --results-dir "$WORK/two"
  expect_status 0 "two hosts"
  result=$(result_dir "$WORK/two")/result.json
  expect_json "$result" 'd["rank_count"] == 3 and all(len(e["hosts"]) == 2 and sum(h["cache"]["bytes_delivered"] for h in e["hosts"]) == e["bytes_delivered"] for e in d["epochs"])'
  expect_json "$result" 'all(h["cache"]["drop_outcome"] == "dropped" and h["cache"]["sampled_page_count"] > 0 and
    h["cache"]["process_read_bytes"] <= h["cache"]["source_bytes"] for e in d["epochs"] for h in e["hosts"])'
  note "two hosts: passed"
fi
