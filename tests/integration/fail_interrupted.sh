#!/usr/bin/env bash
# Case F4: SIGINT in the middle of an epoch: a partial result, marked interrupted, exit 130. Alone and under mpirun.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
begin() { # RESULTS COMMAND... : starts a long run in the background, waits until it works
  local results=$1; shift
  # A background job of a shell that is not interactive starts with SIGINT ignored; a person's terminal does not.
  python3 - "$@" run "$(small_workload)" --data-dir "$WORK/data" --accelerators 2 --results-dir "$results" "${SMALL[@]}" \
    -p train.epochs=1000 >"$WORK/out.txt" 2>"$WORK/err.txt" <<'PY' &
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execvp(sys.argv[1], sys.argv[1:])
PY
  job=$!
  working() { [ -n "$(rank_pids)" ]; }
  wait_until 30 working || fail "the run did not start"
  sleep 2
}
finish() { # SECONDS
  gone() { ! kill -0 "$job" 2>/dev/null; }
  wait_until "$1" gone || fail "still running $1 s after the signal"
  wait "$job"; STATUS=$?
}
for signal in INT TERM; do
  begin "$WORK/results-$signal" "$FEEDBENCH"
  kill -"$signal" "$job"
  finish 10
  expect_status 130 "SIG$signal, one process"
  result=$(result_dir "$WORK/results-$signal")/result.json
  expect_json "$result" 'd["status"] == "interrupted" and d["valid"] is False'
  expect_json "$result" 'sum(e["step_count"] for e in d["epochs"]) > 0'
  note "SIG$signal, one process: passed"
done

# mpirun passes SIGINT on as SIGTERM and kills after a moment: what was measured must be on disk by then.
begin "$WORK/results-mpi" "${MPIRUN[@]}" -n 2 "$FEEDBENCH"
kill -INT "$job"
finish 15
[ "$STATUS" -ne 0 ] || fail "exit code 0 after SIGINT to mpirun"
expect_json "$(result_dir "$WORK/results-mpi")/result.json" 'd["status"] == "interrupted" and d["valid"] is False'
[ -z "$(rank_pids)" ] || fail "ranks are left behind"
note "SIGINT to mpirun: passed"
