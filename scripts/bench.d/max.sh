# feedbench max on the disk past the page cache, three times in a row: the same N within 5 %. In each run the disk decides, with
# some eighty accelerators, so that one of them is far less than the 5 %; the spread is (largest - smallest) / mean.
#
# A virtual machine's disk gives 2.6 GB/s in one minute and 2.1 in the next, because its neighbours read too; what would then be measured is
# the neighbours. So the reads go to the real disk, but at a rate that the kernel holds steady below what it always gives (the throttle of the
# block layer: cgroup blkio). Where that is not permitted the disk is taken as it is, and the row says so.
MAX_DISK_BYTES_PER_SECOND=1000000000
part_max() {
  local data=$BENCH_DISK/max group=/sys/fs/cgroup/blkio/feedbench-bench-$$ result try values=() disk="as it is" device
  local workload=(unet3d_h100 -p dataset.record_length_bytes=2800000 -p dataset.record_length_bytes_stdev=0
    -p dataset.num_files_train=2400 -p workflow.checkpoint=false -p reader.batch_size=1)
  dataset "$data" "${workload[@]}" || return 1
  device=$(lsblk -no MAJ:MIN "$(df --output=source "$data" | tail -1)" 2>/dev/null | head -1 | tr -d ' ')
  if [ -n "$device" ] && mkdir "$group" 2>/dev/null; then
    echo "$device $MAX_DISK_BYTES_PER_SECOND" >"$group/blkio.throttle.read_bps_device" 2>/dev/null &&
      disk="held at $(calc "$MAX_DISK_BYTES_PER_SECOND/1e6") MB/s by the kernel"
  fi
  settle
  for try in 1 2 3; do
    result=$(in_group "$group" "$BIN/feedbench" max "${workload[@]}" --data-dir "$data" -p reader.odirect=true -p reader.read_threads=1 \
      -p reader.prefetch_size=1 -p reader.transfer_size=1048576 -p train.computation_time=0.2 -p train.epochs=5 --probe-seconds 6) || break
    say "max, try $try: $(metric "$result" max_accelerator_count) accelerators; $(json "$result" 'd["scaling_stop"]')"
    values+=("$(metric "$result" max_accelerator_count)")
  done
  rmdir "$group" 2>/dev/null
  [ ${#values[@]} -eq 3 ] || return 1
  bound "max on the disk ($disk), three times: ${values[*]} accelerators, spread" \
    "$(calc "(max(${values[0]},${values[1]},${values[2]})-min(${values[0]},${values[1]},${values[2]}))/((${values[0]}+${values[1]}+${values[2]})/3)")" "" le 0.05
}
# in_group GROUP COMMAND... : run_result with its process in the group of the block layer's throttle, where there is one
in_group() (
  local group=$1; shift
  [ -d "$group" ] && echo "$BASHPID" >"$group/cgroup.procs"
  run_result "$@"
)
