#!/usr/bin/env bash
# What goes wrong on another host: a failing read, a stalled one, a rank killed, a rank and a host that freeze. One message that says
# where, the right exit code, and nobody left on any host (F1 to F3).
. "$(dirname "$0")/lib.sh"
HOSTS_TOOL=$FEEDBENCH_SOURCE_DIR/tests/servers/mpi_hosts.sh
[ "$(id -u)" -eq 0 ] || skip "emulated hosts need root"
make_small "$WORK/data"
HOSTS=2 bash "$HOSTS_TOOL" up "$WORK/hosts" >"$WORK/out.txt" 2>"$WORK/err.txt" || skip "emulated hosts do not start: $(tail -n 1 "$WORK/err.txt")"
undo() { bash "$HOSTS_TOOL" down "$WORK/hosts"; }
RUN=("$FEEDBENCH" run "$(small_workload)" --accelerators 4 --stall-timeout 2 "${SMALL[@]}" -p train.epochs=1000)
no_ranks() { [ -z "$(rank_pids)" ]; }
ended() { # CODE WHAT
  expect_status "$1" "$2"
  wait_until 5 no_ranks || fail "$2: ranks are left behind"
  expect_said "^feedbench: error: " 1
  for result in $(find "$WORK/$2" -name result.json 2>/dev/null); do
    expect_json "$result" 'd["valid"] is False and d["status"] in ("failed", "incomplete")'
  done
  note "$2: passed"
}
# with_fault WHAT FAULT : ranks 0 and 1 on h1 are well, 2 and 3 on h2 have the fault
with_fault() {
  LIMIT=30 run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2 -n 2 "${RUN[@]}" --results-dir "$WORK/$1" --data-dir "$WORK/data" \
    : --host h2:2 -n 2 "${RUN[@]}" --results-dir "$WORK/$1" --data-dir "fault:$2;inner=$WORK/data"
}
with_fault failing "error=EIO@9"
expect_said "^feedbench: error: rank [23] \(host h2.*read .*img_[0-9]+_of_32\.npz at offset [0-9]+.*EIO" 1
ended 3 failing
with_fault stalled "stall=9+"
expect_said "^feedbench: error: rank [23] \(host h2.*no storage operation has completed for [0-9.]+ s; [0-9]+ outstanding" 1
expect_said "^ +read train/img_[0-9]+_of_32\.npz at offset"
ended 3 stalled

host_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p'; }
begin() { # RESULTS : a long run of four ranks on two hosts, under way
  launch bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2,h2:2 -n 4 "${RUN[@]}" --data-dir "$WORK/data" --results-dir "$WORK/$1"
  wait_until 30 epoch_ended 2 "$WORK/$1" || fail "$1: the run did not start"
}
signal_ranks() { # SIGNAL RANK...
  local signal=$1 pid rank found=0; shift
  for pid in $(rank_pids); do for rank in "$@"; do
    [ "$(host_of "$pid")" = "$rank" ] && kill -"$signal" "$pid" && found=$((found + 1))
  done; done
  [ "$found" -eq $# ] || fail "$found of $# ranks found"
}
begin killed; signal_ranks KILL 3; settle 15
[ "$STATUS" -ne 0 ] || fail "exit code 0 after a rank was killed"
wait_until 10 no_ranks || fail "ranks are left behind after one was killed"
expect_json "$(result_dir "$WORK/killed")/result.json" 'd["status"] == "incomplete" and d["valid"] is False'
note "killed: passed"
begin frozen; signal_ranks STOP 3; settle 15
expect_said "^feedbench: error: rank 2 \(host h2.*rank 3 on host h2 has given no sign of life for" 1
ended 3 frozen
begin silent; signal_ranks STOP 2 3; settle 20
expect_said "^feedbench: error: rank [01] \(host h1.*nothing has been heard of host h2 \(ranks 2 to 3\) for" 1
ended 3 silent
