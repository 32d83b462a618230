#!/usr/bin/env bash
# Hosts that share nothing but the dataset: names, host arrays (T9), caches dropped on each, and results that are whole although only
# the first rank's host has the results folder: each host has a private one under the same path.
. "$(dirname "$0")/lib.sh"
HOSTS_TOOL=$FEEDBENCH_SOURCE_DIR/tests/servers/mpi_hosts.sh
[ "$(id -u)" -eq 0 ] || skip "emulated hosts need root"
make_small "$WORK/data"
HOSTS=2 bash "$HOSTS_TOOL" up "$WORK/hosts" >"$WORK/out.txt" 2>"$WORK/err.txt" || skip "emulated hosts do not start: $(tail -n 1 "$WORK/err.txt")"
undo() { bash "$HOSTS_TOOL" down "$WORK/hosts"; }
on() { bash "$HOSTS_TOOL" exec "$WORK/hosts" "$@"; }

mkdir "$WORK/private"
for host in h1 h2; do on "$host" mount -t tmpfs -o size=64m private "$WORK/private" || skip "no private mounts here"; done
for mapping in slot node; do
  results=$WORK/private/$mapping
  LIMIT=60 run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2,h2:2 --map-by "$mapping" -n 4 "$FEEDBENCH" run "$(small_workload)" \
    --data-dir "$WORK/data" --accelerators 8 --results-dir "$results" "${SMALL[@]}" -p reader.drop_cache=fadvise --allow-cached
  expect_status 0 "4 ranks on two hosts by $mapping"
  expect_no_file "$results" # not here ...
  [ -z "$(on h2 find "$WORK/private" -mindepth 1)" ] || fail "the second host wrote something: $(on h2 find "$WORK/private")"
  on h1 cp -r "$results" "$WORK/copy-$mapping" || fail "the first host has no results" # ... but there
  folder=$(result_dir "$WORK/copy-$mapping")
  result=$folder/result.json
  expect_json "$result" 'd["status"] == "complete" and all(e["samples_proved"] for e in d["epochs"])'
  expect_json "$result" '[h["name"] for h in d["hosts"]] == ["h1", "h2"]'
  expect_json "$result" 'all(h["rank_count"] == 2 and h["accelerator_count"] == 4 for h in d["hosts"])'
  # Each host delivered its own half, and says so.
  expect_json "$result" 'len({h["bytes_delivered"] for h in d["hosts"]}) == 1 and d["hosts"][0]["bytes_delivered"] > 0'
  # Every accelerator's steps have arrived: 8 accelerators x 2 epochs x 2 steps.
  "$PYTHON" - "$folder/steps.h5" <<'PY' || fail "steps.h5 does not hold every host's steps"
import collections, h5py, sys
steps = h5py.File(sys.argv[1])["steps"][:]
count = collections.Counter(int(a) for a in steps["accelerator_index"])
assert sorted(count) == list(range(8)) and set(count.values()) == {4}, count
PY
  # Caches were dropped on each host for itself, epoch by epoch.
  expect_json "$result" 'all([h["cache"]["drop_outcome"] for h in e["hosts"]] == ["dropped", "dropped"] for e in d["epochs"])'
  note "4 ranks by $mapping: passed"
done

# Checkpoints: each rank reads what its counterpart on the other host wrote; where the hosts do not share the folder, that is not there.
shifted() {
  LIMIT=60 run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2,h2:2 --map-by slot -n 4 "$FEEDBENCH" run llama3_8b --results-dir "$WORK/private/$1" \
    -p model.scale=0.0001 -p checkpoint.checkpoint_folder="$2" -p checkpoint.num_checkpoints_write=1 -p checkpoint.num_checkpoints_read=1 \
    -p checkpoint.recovery_rank_shift=$3 -p reader.verify=content -p reader.drop_cache=fadvise --allow-cached
}
shifted shared "$WORK/ck" True
expect_status 0 "checkpoints shifted by one host"
on h1 cp -r "$WORK/private/shared" "$WORK/copy-shared" || fail "the first host has no results"
result=$(result_dir "$WORK/copy-shared")/result.json
expect_json "$result" 'd["status"] == "complete" and d["checkpoints"][1]["content_verified"]'
expect_json "$result" 'all([r["host"] for r in c["ranks"]] == ["h1", "h1", "h2", "h2"] and [h["host"] for h in c["hosts"]] == ["h1", "h2"] for c in d["checkpoints"])'
expect_json "$result" 'all(h["bytes"] * 2 == c["bytes"] and h["cache"]["bytes_delivered"] == h["bytes"] for c in d["checkpoints"] for h in c["hosts"])'
expect_json "$WORK/ck/feedbench-checkpoints.json" '[e["hosts"] for e in d["committed"]] == [["h1", "h1", "h2", "h2"]]'
shifted own "$WORK/private/ck" False
expect_status 0 "a folder of each host's own"
shifted gone "$WORK/private/gone" "False -p checkpoint.keep_files=False"
expect_status 0 "nothing is to stay"
for host in h1 h2; do [ -z "$(on $host find "$WORK/private/gone" -name '*.pt')" ] || fail "files stayed on $host"; done
shifted other "$WORK/private/ck" True
expect_status 3 "the other host's files"
expect_said "^feedbench: error: .*zero_pp_rank_[0-3]_mp_rank_0_model_states.pt: .*was committed with this file, and it is missing" 1
note "checkpoints: passed"
