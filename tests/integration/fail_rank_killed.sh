#!/usr/bin/env bash
# Case F2: SIGKILL of one rank of 4 in the middle of a run: the job ends by itself, not with 0, and what is left says that it is no
# result: <stamp>.partial with status incomplete.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
rank_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p'; }
four_ranks() { [ "$(rank_pids | wc -l)" -eq 4 ]; }
no_ranks() { [ "$(rank_pids | wc -l)" -eq 0 ]; }

# Rank 0 writes the results, the others do not: both kinds are killed.
for doomed in 0 2; do
  results=$WORK/results-$doomed
  launch "${MPIRUN[@]}" -n 4 "$FEEDBENCH" run "$(small_workload)" --data-dir "$WORK/data" --accelerators 4 --results-dir "$results" \
    "${SMALL[@]}" -p train.epochs=1000
  wait_until 30 four_ranks || fail "the 4 ranks did not start"
  wait_until 30 epoch_ended 2 "$results" || fail "the run did not get through two epochs"
  victim=
  for pid in $(rank_pids); do [ "$(rank_of "$pid")" = "$doomed" ] && victim=$pid; done
  [ -n "$victim" ] || fail "no process is rank $doomed"
  began=$(date +%s)
  kill -KILL "$victim" || fail "rank $doomed had already ended"
  settle 15
  [ "$STATUS" -ne 0 ] || fail "exit code 0 after rank $doomed was killed"
  wait_until 10 no_ranks || fail "ranks are left behind: $(rank_pids | tr '\n' ' ')"
  left=$(result_dir "$results")
  case $left in *.partial) ;; *) fail "a killed run left a folder that looks whole: $left" ;; esac
  expect_json "$left/result.json" 'd["status"] == "incomplete" and d["valid"] is False and d["invalid_reasons"]'
  expect_json "$left/result.json" 'len(d["epochs"]) >= 2 and d["epochs"][0]["step_count"] == 4'
  expect_no_file "$left/steps.h5"
  note "rank $doomed killed: ended after $(($(date +%s) - began)) s, exit code $STATUS"
done
