# Checkpoints: content made and "written" where writing costs nothing; a disk past the page cache beside fio with the same block size, depth and
# fsync; from the start of 64 processes to their first byte.
part_checkpoint() {
  local once=(-p checkpoint.num_checkpoints_read=0 -p checkpoint.time_between_checkpoints=0) folder=$BENCH_DISK/checkpoint
  settle
  bound "checkpoint to null, 1 rank on 1 core, made and written" "$(best_of 3 max checkpoint_MB llama3_8b -a 1 -p model.scale=0.2 \
    -p checkpoint.num_checkpoints_write=2 -p checkpoint.checkpoint_folder=null: "${once[@]}")" MB/s ge 8000
  # Three turns each, alternating, 5.6 GB a turn; new files each time on both sides.
  local try one ours=0 theirs=0 bytes fio
  mkdir -p "$folder" || return 1
  for try in 1 2 3; do
    rm -rf "$folder/ck"
    one=$(run_result "$BIN/feedbench" run llama3_8b -a 1 -p model.scale=0.05 -p checkpoint.odirect=true -p checkpoint.transfer_size=1048576 \
      -p checkpoint.queue_depth=16 -p checkpoint.fsync=true -p checkpoint.num_checkpoints_write=1 -p checkpoint.checkpoint_folder="$folder/ck" \
      --allow-cached "${once[@]}") || return 1
    ours=$(calc "max($ours,$(metric "$one" checkpoint_write_MB_per_second))")
    bytes=$(json "$one" 'd["checkpoints"][0]["bytes"]')
    rm -rf "$folder/ck" "$folder/fio"
    fio=$(fio_write --filename="$folder/fio" --size=$((bytes / 1048576))M --direct=1 --ioengine=io_uring --bs=1M --iodepth=16 --fallocate=none --end_fsync=1)
    theirs=$(calc "max($theirs,$(json - 'd["MB_per_second"]' <<<"$fio"))")
    rm -f "$folder/fio"
  done
  ratio "direct write of a checkpoint, 1 MiB, depth 16, fsync, beside fio" "$ours" "$theirs" MB/s ge 0.95
  local ranks
  for ranks in 8 64; do
    one=$(run_result "${MPIRUN[@]}" -n $ranks "$BIN/feedbench" run llama3_8b -a $ranks -p model.scale=0.0002 -p checkpoint.num_checkpoints_write=1 \
      -p checkpoint.checkpoint_folder="$folder/many" --allow-cached "${once[@]}") || return 1
    bound "$ranks ranks on $(nproc) cores, start of the slowest process to its first byte" "$(metric "$one" start_to_first_byte_s)" s le \
      $([ $ranks -eq 8 ] && echo 2 || echo 20)
  done
  rm -rf "$folder"
}
checkpoint_MB() { metric "$(run_result "$BIN/feedbench" run "$@")" checkpoint_write_MB_per_second; }
