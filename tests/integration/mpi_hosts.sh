#!/usr/bin/env bash
# Case T9: several hosts, ranks placed by slot and round robin; the step barrier and stops across hosts.
. "$(dirname "$0")/lib.sh"
HOSTS_TOOL=$FEEDBENCH_SOURCE_DIR/tests/servers/mpi_hosts.sh
[ "$(id -u)" -eq 0 ] || skip "emulated hosts need root"
HOSTS=3 bash "$HOSTS_TOOL" up "$WORK/hosts" >"$WORK/out.txt" 2>"$WORK/err.txt" || skip "emulated hosts do not start: $(tail -n 1 "$WORK/err.txt")"
undo() { bash "$HOSTS_TOOL" down "$WORK/hosts"; }
on_hosts() { run bash "$HOSTS_TOOL" mpirun "$WORK/hosts" "$@"; }

export ASAN_OPTIONS=detect_leaks=0
for mapping in slot node; do
  LIMIT=60 on_hosts --host h1:2,h2:2,h3:1 --map-by "$mapping" -n 5 "$FEEDBENCH_BINARY_DIR/mpi_cluster_test" --hosts 3
  expect_status 0 "5 ranks on 3 hosts by $mapping"
  expect_said "All tests passed" 5
  note "5 ranks on 3 hosts, placed by $mapping: passed"
done
