# The step barrier alone: ranks on too few cores against the best that exact sleep and MPI_Barrier do.
part_barrier() {
  settle
  local try ours bare best=0 ours_best=0 bare_best=0
  # The best of three, alternating: what else runs on the machine can only lower either.
  for try in 1 2 3; do
    bare=$("${MPIRUN[@]}" -n 8 "$BIN/bench_mpi_sleep_barrier" 375 2000 | json - 'd["utilization_percentage"]')
    ours=$("${MPIRUN[@]}" -n 8 "$BIN/bench_step_barrier" 375 2000 | json - 'd["utilization_percentage"]')
    bare_best=$(calc "max($bare_best,$bare)") ours_best=$(calc "max($ours_best,$ours)")
  done
  ratio "step barrier, 8 ranks, think 0.375 ms" "$ours_best" "$bare_best" "% of time thinking" ge 0.95
  for try in 1 2 3; do
    ours=$("${MPIRUN[@]}" -n 2 "$BIN/bench_step_barrier" 375 2000 4 | json - 'd["utilization_percentage"]')
    best=$(calc "max($best,$ours)")
  done
  bound "step barrier, 2 ranks x 4, think 0.375 ms" "$best" "% of time thinking" ge 92
}
