#!/usr/bin/env bash
# Case P8: 8 ranks on hosts as 3+3+2: three epochs complete, or the uneven split is refused before the run; never a hang.
. "$(dirname "$0")/lib.sh"
HOSTS_TOOL=$FEEDBENCH_SOURCE_DIR/tests/servers/mpi_hosts.sh
[ "$(id -u)" -eq 0 ] || skip "emulated hosts need root"
make_small "$WORK/data"
HOSTS=3 bash "$HOSTS_TOOL" up "$WORK/hosts" >"$WORK/out.txt" 2>"$WORK/err.txt" || skip "emulated hosts do not start: $(tail -n 1 "$WORK/err.txt")"
undo() { bash "$HOSTS_TOOL" down "$WORK/hosts"; }

LIMIT=120 run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:3,h2:3,h3:2 -n 8 "$FEEDBENCH" run "$(small_workload)" \
  --data-dir "$WORK/data" --accelerators 8 --results-dir "$WORK/uneven" "${SMALL[@]}" -p train.epochs=3
case $STATUS in
  0) expect_json "$(result_dir "$WORK/uneven")/result.json" 'len(d["epochs"]) == 3 and d["status"] == "complete"' ;;
  2) expect_said "8 accelerators" 1
     expect_no_file "$WORK/uneven/training" ;;
  *) fail "exit code $STATUS for 3+3+2 ranks" ;;
esac
note "3+3+2: exit code $STATUS, as it may be"

# The same number on even hosts must run.
LIMIT=120 run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" --host h1:2,h2:2 --map-by node -n 4 "$FEEDBENCH" run "$(small_workload)" \
  --data-dir "$WORK/data" --accelerators 8 --results-dir "$WORK/even" "${SMALL[@]}"
expect_status 0 "2+2 ranks, 8 accelerators"
result=$(result_dir "$WORK/even")/result.json
expect_json "$result" '[h["name"] for h in d["hosts"]] == ["h1", "h2"]'
expect_json "$result" 'all(h["rank_count"] == 2 and h["accelerator_count"] == 4 for h in d["hosts"])'
