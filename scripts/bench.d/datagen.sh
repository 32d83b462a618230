# Writing a dataset beside fio writing the same bytes to the same place in as many files; and the content generator alone.
part_datagen() {
  local gb
  gb=$("$BIN/bench_content" | awk '$1 == "content_GB_per_second" { print $2 }')
  bound "content generator, one core" "$gb" GB/s ge 8
  datagen_pair "$BENCH_RAM/datagen" "RAM disk" 14 ""
  datagen_pair "$BENCH_DISK/datagen" "$(stat -f -c %T "$BENCH_DISK")" 28 --fsync_on_close=1
}
# datagen_pair FOLDER NAME FILES FIO-OPTION : alternating, three times
datagen_pair() {
  local folder=$1 name=$2 files=$3 option=$4 try ours=0 theirs=0 text rate size
  local workload=(unet3d_h100 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0 -p "dataset.num_files_train=$files")
  size=$((11832 * 11832 + 8192))
  settle
  for try in 1 2 3; do
    rm -rf "$folder"; sync
    mkdir -p "$folder"
    text=$("$BIN/feedbench" datagen "${workload[@]}" --data-dir "$folder" $([ -n "$option" ] || echo --no-fsync) 2>/dev/null) || return 1
    rate=$(sed -n 's/.* s: \([0-9.]*\) MB\/s.*/\1/p' <<<"$text")
    ours=$(calc "max($ours,$rate)")
    rm -rf "$folder"; sync
    mkdir -p "$folder"
    rate=$(fio_write --directory="$folder" --nrfiles="$files" --filesize="$size" --size=$((size * files)) --bs=1M --ioengine=psync \
      --file_service_type=sequential --fallocate=none $option | json - 'd["MB_per_second"]')
    theirs=$(calc "max($theirs,$rate)")
  done
  rm -rf "$folder"
  ratio "datagen of $files files of 140 MB on $name, beside fio" "$ours" "$theirs" MB/s ge 0.90
}
