#!/usr/bin/env bash
# Case F2: SIGKILL of one rank of 4 in the middle of a run: the job ends by itself, not with 0, and no result looks valid.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
results=$WORK/results
"${MPIRUN[@]}" -n 4 "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 --results-dir "$results" "${SMALL[@]}" \
  -p train.epochs=1000 >"$WORK/out.txt" 2>"$WORK/err.txt" &
job=$!
four_ranks() { [ "$(rank_pids | wc -l)" -eq 4 ]; }
wait_until 30 four_ranks || fail "the 4 ranks did not start"
sleep 2 # into the first epochs
victim=$(rank_pids | tail -n 1)
kill -KILL "$victim" || fail "rank $victim had already ended"
began=$(date +%s)
gone() { ! kill -0 "$job" 2>/dev/null; }
wait_until 15 gone || fail "the job goes on 15 s after a rank was killed"
wait "$job"; STATUS=$?
[ "$STATUS" -ne 0 ] || fail "exit code 0 after a rank was killed"
no_ranks() { [ "$(rank_pids | wc -l)" -eq 0 ]; }
wait_until 10 no_ranks || fail "ranks are left behind: $(rank_pids | tr '\n' ' ')"
note "ended $(($(date +%s) - began)) s after the kill, exit code $STATUS"
for result in $(find "$results" -name result.json 2>/dev/null); do
  expect_json "$result" 'd["valid"] is False and d["status"] != "complete"'
done
