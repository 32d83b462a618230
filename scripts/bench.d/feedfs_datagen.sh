# Large files written by datagen onto feedfs beside the same onto the filesystem below it (the better of O_DIRECT and the page cache), each
# synced file by file, by turns: what the layout and its checksums cost or save a writer. FEEDFS_DATAGEN_FILES=N (default 16) files of 140 MB.
part_feedfs_datagen() {
  local data=$BENCH_DISK/feedfs_datagen files=${FEEDFS_DATAGEN_FILES:-16} try rate ours=0 theirs=0 device way
  local workload=(unet3d_h100 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0 -p "dataset.num_files_train=$files")
  device="$(df --output=source "$BENCH_DISK" | tail -n 1) ($(stat -f -c %T "$BENCH_DISK"))"
  build release feedfs || return 1
  settle
  for try in 1 2 3; do
    for way in --odirect ""; do
      rm -rf "$data"; mkdir -p "$data"; sync
      rate=$(feedfs_datagen_rate "$data" $way) || return 1
      say "ext4 ${way:-by the page cache}: $rate MB/s"
      theirs=$(calc "max($theirs,$rate)")
    done
    rm -rf "$data"; mkdir -p "$data"; feedfs_volume "$data/volume" || return 1
    sync
    rate=$(feedfs_datagen_rate "feedfs:$data/volume" --odirect) || return 1
    say "feedfs: $rate MB/s"
    ours=$(calc "max($ours,$rate)")
  done
  rm -rf "$data"
  ratio "datagen of $files files of 140 MB on feedfs, beside the filesystem below it on $device" "$ours" "$theirs" MB/s ge 0.9
}
# feedfs_datagen_rate PLACE OPTION... : with the caller's `workload`
feedfs_datagen_rate() {
  local place=$1 text; shift
  text=$("$BIN/feedbench" datagen "${workload[@]}" --data-dir "$place" "$@" 2>/dev/null) || return 1
  sed -n 's/.* s: \([0-9.]*\) MB\/s.*/\1/p' <<<"$text"
}
