# Many accelerators in one process, and many ranks: what the harness itself costs where storage costs nothing.
scale_run() { # COMMAND... : sets $au and $cores, the best of three: what else runs on the machine can only make them worse
  local try result; au=0 cores=1e300
  for try in 1 2 3; do
    result=$(run_result "$@" --data-dir null: -p train.epochs=1 --no-steps) || return 1
    au=$(calc "max($au,$(metric "$result" au_mean_percentage))")
    cores=$(calc "min($cores,$(json "$result" 'sum(h["process_cpu_s"] for h in d["hosts"])')/$(metric "$result" wall_s))")
  done
}
part_scale() {
  settle
  local au cores
  # resnet50 on 4,096 accelerators of one process: 3.2 million reads of 256 KiB a second.
  scale_run "$BIN/feedbench" run resnet50_h100 -a 4096 -p dataset.num_files_train=32768 -p train.total_training_steps=24
  bound "null, 4096 accelerators in one process, think 224 ms, batch 400, AU" "$au" % ge 99
  bound "the same, processor cores in use" "$cores" cores le 1.0
  scale_run "$BIN/feedbench" run cosmoflow_h100 -a 64 -p dataset.num_files_train=64000
  bound "null, 64 accelerators in one process, think 3.5 ms, batch 1, AU" "$au" % ge 98
  # 1,024 accelerators as 16 ranks of 64 and as one: the barrier's two levels, on far too few cores for the ranks.
  scale_run "$BIN/feedbench" run resnet50_h100 -a 1024 -p dataset.num_files_train=8192 -p reader.batch_size=40
  local one=$au
  scale_run "${MPIRUN[@]}" -n 16 "$BIN/feedbench" run resnet50_h100 -a 1024 -p dataset.num_files_train=8192 -p reader.batch_size=40
  ratio "null, 16 ranks x 64 accelerators on $(nproc) cores, beside one process of 1024" "$au" "$one" "% AU" ge 0.95
}
