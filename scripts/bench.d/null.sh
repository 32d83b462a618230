# Storage that costs nothing: what is left is the harness. AU lost here is the harness's own.
part_null() {
  settle
  local run=(cosmoflow_h100 --data-dir null: -p train.epochs=1 --no-steps -p dataset.num_files_train=16000 -p train.computation_time=0.000375)
  bound "null, 8 accelerators in 1 rank, think 0.375 ms, AU" "$(best_of 3 max null_au "$BIN/feedbench" run "${run[@]}" -a 8)" % ge 97
  bound "null, 2 ranks x 4, think 0.375 ms, AU" \
    "$(best_of 3 max null_au "${MPIRUN[@]}" -n 2 "$BIN/feedbench" run "${run[@]}" -a 8)" % ge 92
  local try ours=0 bare=0
  for try in 1 2 3; do
    bare=$(calc "max($bare,$("${MPIRUN[@]}" -n 8 "$BIN/bench_mpi_sleep_barrier" 375 2000 | json - 'd["utilization_percentage"]'))")
    ours=$(calc "max($ours,$(null_au "${MPIRUN[@]}" -n 8 "$BIN/feedbench" run "${run[@]}" -a 8))")
  done
  ratio "null, 8 ranks on $(nproc) cores, think 0.375 ms, beside sleep + MPI_Barrier" "$ours" "$bare" "% AU" ge 0.95
  bound "null, 2 ranks, think 162 ms, AU" "$(best_of 2 max null_au "${MPIRUN[@]}" -n 2 "$BIN/feedbench" run unet3d_b200 --data-dir null: \
    -p workflow.checkpoint=false -p dataset.num_files_train=700 -p train.epochs=1 --no-steps)" % ge 99.8
  local result best=0 cores=1e300
  for try in 1 2 3; do
    result=$(run_result "$BIN/feedbench" run resnet50_h100 -a 1000 --data-dir null: -p train.epochs=1 -p dataset.num_files_train=16384 --no-steps) || return 1
    best=$(calc "max($best,$(metric "$result" au_mean_percentage))")
    cores=$(calc "min($cores,$(json "$result" 'sum(h["process_cpu_s"] for h in d["hosts"])')/$(metric "$result" wall_s))")
  done
  bound "null, 1000 accelerators in one process, think 224 ms, AU" "$best" % ge 99
  bound "the same, processor cores in use" "$cores" cores le 0.5
}
null_au() { metric "$(run_result "$@")" au_mean_percentage; }
