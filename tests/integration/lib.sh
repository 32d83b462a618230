# Sourced by the integration tests (bash): a folder of one's own, mpirun as everywhere, assertions that say what was expected.
#
# Environment, set by CMake: FEEDBENCH (the binary), FEEDBENCH_SOURCE_DIR. Exit codes: 0 passed, 1 failed, 77 skipped (said why).
set -u -o pipefail
: "${FEEDBENCH:?set by ctest: path of the binary}" "${FEEDBENCH_SOURCE_DIR:?set by ctest}"

export FEEDBENCH_CEILING_SECONDS=0 # 2 s of every run; tests/integration/ceiling.sh asks for it
PYTHON=/usr/bin/python3 # Debian's, which has numpy and h5py
TEST_NAME=$(basename "$0" .sh)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/feedbench-$TEST_NAME.XXXXXX") || exit 1
cleanup() {
  local code=$?
  trap - EXIT
  local pid
  for pid in $(jobs -p); do kill -KILL "$pid" 2>/dev/null; done
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    # What the failed command said, before its folder goes.
    for f in "$WORK"/out.txt "$WORK"/err.txt; do
      [ -s "$f" ] && { echo "--- last 40 lines of ${f##*/}"; tail -n 40 "$f"; }
    done
  fi
  undo >/dev/null 2>&1
  [ -n "${KEEP:-}" ] && echo "kept: $WORK" || rm -rf "$WORK"
  exit "$code"
}
trap cleanup EXIT
undo() { :; } # a test that mounts or starts something says here how it goes away again

fail() { echo "FAILED $TEST_NAME: $*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
note() { echo "$TEST_NAME: $*"; }

# Ranks share few cores here: a waiting rank gives way, nothing is bound, root may run it.
MPIRUN=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)

# run COMMAND... : runs it within LIMIT seconds (default 120); then $STATUS, $WORK/out.txt, $WORK/err.txt. A hang is a failure.
run() {
  local limit=${LIMIT:-120}
  timeout --kill-after=5 "$limit" "$@" >"$WORK/out.txt" 2>"$WORK/err.txt"
  STATUS=$?
  [ "$STATUS" -ne 124 ] && [ "$STATUS" -ne 137 ] || fail "did not end within $limit s: $*"
}
# run_ranks N ARGS... : feedbench under mpirun
run_ranks() { local n=$1; shift; run "${MPIRUN[@]}" -n "$n" "$FEEDBENCH" "$@"; }

expect_status() { [ "$STATUS" -eq "$1" ] || fail "exit code $STATUS, expected $1${2:+: $2}"; }
# expect_said PATTERN [COUNT] : stderr and stdout together hold the extended regular expression (COUNT times)
expect_said() {
  local n; n=$(cat "$WORK/out.txt" "$WORK/err.txt" | grep -E -c -- "$1")
  if [ $# -gt 1 ]; then [ "$n" -eq "$2" ] || fail "said $n times, expected $2 times: $1"
  else [ "$n" -gt 0 ] || fail "nothing said like: $1"; fi
}
expect_not_said() { ! cat "$WORK/out.txt" "$WORK/err.txt" | grep -E -q -- "$1" || fail "said, and should not have: $1"; }
expect_file() { [ -s "$1" ] || fail "no such file, or empty: $1"; }
expect_no_file() { [ ! -e "$1" ] || fail "left behind: $1"; }
# expect_json FILE PYTHON-EXPRESSION over d : expect_json result.json 'd["status"] == "complete"'
expect_json() {
  "$PYTHON" - "$1" "$2" <<'PY' || fail "$1: not true: $2"
import json, sys
with open(sys.argv[1]) as f: d = json.load(f)
sys.exit(0 if eval(sys.argv[2], {"d": d}) else 1)
PY
}
# json_value FILE PYTHON-EXPRESSION : prints it
json_value() { "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
# launch COMMAND... : in the background as $job, with SIGINT as a terminal gives it (a background job of a shell that is not
# interactive starts with SIGINT ignored); settle SECONDS: waits for its end; then $STATUS. A hang is a failure.
launch() {
  "$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" >"$WORK/out.txt" 2>"$WORK/err.txt" &
  job=$!
}
job_gone() { ! kill -0 "$job" 2>/dev/null; }
settle() {
  wait_until "$1" job_gone || fail "still running after $1 s"
  wait "$job"; STATUS=$?
}
# epoch_ended N RESULTS : the run below RESULTS has N epochs behind it
epoch_ended() { grep -q -s "epoch $1 ended" $(find "$2" -name log.txt 2>/dev/null) /dev/null; }
# The result folder of the only run below DIR.
result_dir() {
  local found; found=$(find "$1" -name result.json | head -n 2)
  [ "$(echo "$found" | grep -c .)" -eq 1 ] || fail "expected one result.json below $1, found: ${found:-none}"
  dirname "$found"
}
# wait_until SECONDS COMMAND... : polls
wait_until() {
  local end=$(($(date +%s) + $1)); shift
  until "$@"; do [ "$(date +%s)" -lt "$end" ] || return 1; sleep 0.02; done
}

# A dataset small enough for a test: 32 npz files of some 100 KB, thinking 20 ms a batch. More -p go behind.
SMALL=(-p dataset.num_files_train=32 -p dataset.record_length_bytes=100000 -p dataset.record_length_bytes_stdev=0
  -p reader.batch_size=2 -p train.epochs=2 -p train.computation_time=0.02 -p workflow.checkpoint=False)
small_workload() { echo unet3d_mini; }
# make_small DIR : generates it there
make_small() {
  run "$FEEDBENCH" datagen "$(small_workload)" --data-dir "$1" "${SMALL[@]}"
  expect_status 0 "datagen"
}
# pids of the ranks that work for this test (their command line names $WORK)
rank_pids() { pgrep -f -- "$(basename "$FEEDBENCH") .*$WORK" | while read -r p; do
  [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$(basename "$FEEDBENCH" | cut -c1-15)" ] && echo "$p"; done; }
