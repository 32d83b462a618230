#!/usr/bin/env bash
# Checkpoints without training, with real ranks on a real disk: 8 ranks of llama3 8b write, read and compare; fsync as the kernel sees it; written
# by one job and read by another (gap, C9); other ranks, missing, short and altered files; no room; a rank killed while it writes.
. "$(dirname "$0")/lib.sh"
DISK=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/checkpoint.XXXXXX") || skip "the build folder cannot be written"
undo() { rm -rf "$DISK"; }
official=$FEEDBENCH_SOURCE_DIR/../shared/corpus/workloads/mlperf-storage-v2.0/llama3_8b.yaml
[ -f "$official" ] || official=llama3_8b
CK=$DISK/ck
SMALL_8B=(-p model.scale=0.0004 -p "checkpoint.checkpoint_folder=$CK" -p checkpoint.time_between_checkpoints=0 --allow-cached)
# checkpoints WRITES READS OPTIONS... : 8 checkpoint ranks in one process; $result
checkpoints() {
  local writes=$1 reads=$2; shift 2
  rm -rf "$WORK/results"
  run "$FEEDBENCH" run "$official" -a 8 --results-dir "$WORK/results" "${SMALL_8B[@]}" -p checkpoint.num_checkpoints_write="$writes" \
    -p checkpoint.num_checkpoints_read="$reads" "$@"
  result=$WORK/results/checkpoint/*/run/*/result.json
}
in_result() { expect_json "$(echo $result)" "$1"; }

# The official file, 8 real ranks.
run_ranks 8 run "$official" --results-dir "$WORK/eight" "${SMALL_8B[@]}" -p checkpoint.num_checkpoints_write=2 -p checkpoint.num_checkpoints_read=2 \
  -p reader.verify=content -p reader.drop_cache=fadvise
expect_status 0 "8 ranks"
folder=$(result_dir "$WORK/eight")
expect_json "$folder/result.json" 'd["kind"] == "checkpoint" and d["status"] == "complete" and [c["kind"] for c in d["checkpoints"]] == ["write"] * 2 + ["read"] * 2'
expect_json "$folder/result.json" 'all(c["committed"] and c["file_count"] == 16 and [r["rank"] for r in c["ranks"]] == list(range(8)) for c in d["checkpoints"])'
expect_json "$folder/result.json" 'all(c["fsync_done_count"] == c["fsync_asked_count"] == 16 and 0 < c["first_byte_s"] <= c["data_s"] <= c["synced_s"] <= c["visible_s"] for c in d["checkpoints"][:2])'
expect_json "$folder/result.json" 'all(c["content_verified"] and c["hosts"][0]["cache"]["drop_outcome"] == "dropped" and c["hosts"][0]["cache"]["sampled_page_count"] > 0 for c in d["checkpoints"][2:])'
expect_json "$folder/result.json" 'sum(s["bytes"] for s in d["slices"]) == sum(c["bytes"] for c in d["checkpoints"]) == sum(h["bytes_delivered"] for h in d["hosts"])'
expect_json "$folder/result.json" 'all(h["peak_rss_bytes"] < 256 * 2**20 for h in d["hosts"])'
expect_json "$folder/summary.json" 'all(k + "_checkpoint_io_mean_GB_per_second" in d["metric"] for k in ("save", "load")) and abs(d["metric"]["checkpoint_size_GB"] - 104.7045 * 0.0004) < 1e-5'
"$PYTHON" - "$CK" <<'PY' || fail "the files are not those of llama3 8b scaled down"
import os, sys
for epoch in (1, 2):
    folder = f"{sys.argv[1]}/global_epoch{epoch}_step0"
    sizes = {name: os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder)}
    # 14.9575 GiB of model and 89.7470 of optimizer, an eighth each
    expected = {f"zero_pp_rank_{r}_mp_rank_0_{kind}_states.pt": gib * 2**30 / 8 * 0.0004
                for r in range(8) for kind, gib in (("model", 14.9575), ("optim", 89.7470))}
    assert sizes.keys() == expected.keys(), sorted(sizes)
    assert all(abs(sizes[n] - expected[n]) < 300 for n in sizes), sizes
PY
note "8 ranks: passed"

# fsync as the kernel sees it: each file before it gets its name.
if command -v strace >/dev/null; then
  for fsync in True False; do
    run strace -f -y -e trace=fsync,rename,renameat,renameat2 -o "$WORK/trace" "$FEEDBENCH" run "$official" -a 8 --results-dir "$WORK/strace-$fsync" "${SMALL_8B[@]}" \
      -p checkpoint.num_checkpoints_write=1 -p checkpoint.num_checkpoints_read=0 -p reader.io_engine=threads -p checkpoint.fsync=$fsync
    expect_status 0 "under strace"
    "$PYTHON" - "$WORK/trace" $fsync <<'PY' || fail "fsync=$fsync: not what the kernel was asked for"
import re, sys
synced, named, early = set(), 0, []
for line in open(sys.argv[1]):
    if (m := re.search(r"fsync\(\d+<(.*/\.([^/]*\.pt)\.feedbench[^>]*)>", line)): synced.add(m[1].split("/")[-1])
    elif (m := re.search(r'rename\w*\(.*"[^"]*?(\.[^"/]*\.pt\.feedbench[^"]*)"', line)):
        named += 1
        if m[1] not in synced: early.append(m[1])
print(len(synced), "synced", named, "named", early[:2])
sys.exit(not (named == 16 and (len(synced) == 16 and not early if sys.argv[2] == "True" else not synced)))
PY
  done
  note "fsync: passed"
else note "no strace here: fsync is left to the recording backend"; fi

# Written by one job, read by another. C9: no drop, so the pages are all there.
checkpoints 2 0; expect_status 0 "write only"
in_result 'd["checkpoint_gap_s"] is None and len(d["checkpoints"]) == 2'
checkpoints 0 2 -p reader.verify=content; expect_status 0 "read only, --allow-cached"
in_result '0 < d["checkpoint_gap_s"] < 30 and all(c["kind"] == "read" and c["content_verified"] for c in d["checkpoints"])'
if [ "$(json_value "$(echo $result)" 'd["checkpoints"][0]["hosts"][0]["cache"]["source_kind"]')" = block ]; then
  in_result 'd["verdict"] == "cached" and not d["valid"] and all(c["resident_page_count"] >= 0.99 * c["sampled_page_count"] > 0 for x in d["checkpoints"] for c in [x["hosts"][0]["cache"]])'
  note "C9: passed"
fi

one_sentence() { # one_sentence STATUS PATTERN WHAT
  expect_status "$1" "$3"; expect_said "^feedbench: error: .*$2" 1
}
run "$FEEDBENCH" run "$official" -a 7 --results-dir "$WORK/seven" "${SMALL_8B[@]}" -p checkpoint.num_checkpoints_write=0 -p checkpoint.num_checkpoints_read=1
one_sentence 2 "global_epoch2_step0: the checkpoint was written by 8 ranks, 7 are to read it" "another number of ranks"
expect_no_file "$WORK/seven"
checkpoints 0 3; one_sentence 2 "3 checkpoints are to be read, and 2 are committed" "more than there are"
file=$CK/global_epoch2_step0/zero_pp_rank_5_mp_rank_0_optim_states.pt
"$PYTHON" -c 'import sys; f=open(sys.argv[1], "r+b"); f.seek(123456); b=f.read(1)[0]; f.seek(123456); f.write(bytes([b ^ 1]))' "$file"
checkpoints 0 1 -p reader.verify=content; one_sentence 3 "zero_pp_rank_5_mp_rank_0_optim_states.pt at offset 123456: the content differs" "an altered file"
truncate -s -1 "$file"; checkpoints 0 1; one_sentence 3 "zero_pp_rank_5_mp_rank_0_optim_states.pt: the file has [0-9]+ bytes, the checkpoint" "a short file"
rm "$file"; checkpoints 0 1; one_sentence 3 "zero_pp_rank_5_mp_rank_0_optim_states.pt: .*ENOENT.*it is missing" "a missing file"
note "bad files: passed"

# No room: known before the first byte; and in the middle, when what was half written goes away.
if [ "$(id -u)" -eq 0 ] && mkdir "$WORK/disk" && mount -t tmpfs -o size=64m none "$WORK/disk" 2>/dev/null; then
  undo() { umount "$WORK/disk"; rm -rf "$DISK"; }
  checkpoints 2 0 -p "checkpoint.checkpoint_folder=$WORK/disk/a"
  one_sentence 3 "2 checkpoints of 0.0419 GiB need 0.0838 GiB, the tmpfs filesystem has room for" "a disk too small"
  checkpoints 2 0 -p checkpoint.keep_last=1 -p "checkpoint.checkpoint_folder=$WORK/disk/a"
  one_sentence 3 "2 checkpoints of" "keep_last needs room for one more"
  [ -z "$(find "$WORK/disk" -type f)" ] || fail "something was written to a disk that is too small"
else note "no mounts here: a full disk is left out"; fi
checkpoints 2 0 -p "checkpoint.checkpoint_folder=fault:space=60MB;inner=$CK-full"
one_sentence 3 "global_epoch2_step0/.*ENOSPC" "no room in the middle"
in_result 'len(d["checkpoints"]) == 1 and d["status"] == "failed"'
[ "$(ls -A "$CK-full" | tr '\n' ' ')" = "feedbench-checkpoints.json global_epoch1_step0 " ] || fail "left behind: $(ls -A "$CK-full")"
note "no room: passed"

# A rank killed while it writes the second checkpoint: that one is not on the list, and the next run takes its place.
launch "${MPIRUN[@]}" -n 4 "$FEEDBENCH" run "$official" -a 8 --results-dir "$WORK/killed" "${SMALL_8B[@]}" -p checkpoint.num_checkpoints_write=9 \
  -p checkpoint.num_checkpoints_read=0 -p "checkpoint.checkpoint_folder=fault:delay=300ms,on=fsync;inner=$CK-killed"
second() { [ -d "$CK-killed/global_epoch2_step0" ]; }
wait_until 20 second || fail "no second checkpoint was begun"
kill -KILL "$(rank_pids | tail -n 1)"
settle 15; [ "$STATUS" -ne 0 ] || fail "exit code 0 after a rank was killed"
expect_json "$CK-killed/feedbench-checkpoints.json" '0 < len(d["committed"]) < 9'
"$PYTHON" - "$CK-killed" <<'PY' || fail "a checkpoint is on the list and not whole"
import json, os, sys
for c in json.load(open(sys.argv[1] + "/feedbench-checkpoints.json"))["committed"]:
    folder = os.path.join(sys.argv[1], c["folder"])
    files = [f for f in os.listdir(folder) if f.endswith(".pt")]
    assert len(files) == 16 and sum(os.path.getsize(os.path.join(folder, f)) for f in files) == c["bytes"], folder
PY
checkpoints 2 2 -p reader.verify=content -p "checkpoint.checkpoint_folder=$CK-killed"; expect_status 0 "after the kill"
[ -z "$(find "$CK-killed/global_epoch1_step0" "$CK-killed/global_epoch2_step0" -name '.*.tmp')" ] || fail "half-written files stayed"
note "killed: passed"
