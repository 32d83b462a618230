# feedfs, past the page cache, beside what the same disk gives: small files beside ext4 (by threads and by io_uring chains) and beside raw
# reads of the very blocks; large ones beside fio on the segments. FEEDFS_FILES=N (default 200000) small files of 10 KiB.
part_feedfs() {
  local data=$BENCH_DISK/feedfs device
  device="$(df --output=source "$BENCH_DISK" | tail -n 1) ($(stat -f -c %T "$BENCH_DISK"))"
  say "feedfs on $device"
  rm -rf "$data"; mkdir -p "$data"
  build release feedfs || return 1
  local status=0 part
  for part in ${FEEDFS_PARTS:-small fast large}; do "feedfs_$part" "$data" "$device" || status=1; done
  rm -rf "$data"
  return $status
}

feedfs_volume() { rm -rf "$1"; "$BIN/feedfs" mkfs "$1" >/dev/null; }
feedfs_cold() { sync; echo 3 2>/dev/null >/proc/sys/vm/drop_caches || say "caches may not be dropped here: metadata is warm for everybody"; }
rate_of() { json - 'd["files_per_second"]' <<<"$1"; }
cpu_of() { json - 'd["cpu_us_per_file"]' <<<"$1"; }

feedfs_small() {
  local data=$1 device=$2 files=${FEEDFS_FILES:-200000} bytes=10240 try json threads
  local ours=0 theirs=0 raw=0 ours_cpu=1e300 theirs_cpu=0 created=0 ext4_created=0
  settle
  for threads in 2 4 32; do
    rm -rf "$data/ext4"; sync
    json=$("$BIN/bench_small_files" create --files "$files" --bytes $bytes --threads $threads "$data/ext4") || return 1
    ext4_created=$(calc "max($ext4_created,$(rate_of "$json"))")
  done
  for try in 1 2 3; do
    feedfs_volume "$data/volume" || return 1
    sync
    json=$("$BIN/bench_feedfs_files" create --files "$files" --bytes $bytes --group 2048 --threads 3 "$data/volume") || return 1
    created=$(calc "max($created,$(rate_of "$json"))")
  done
  "$BIN/bench_feedfs_files" list --files "$files" "$data/volume" >"$data/blocks.txt" || return 1
  local mode
  for try in 1 2 3; do
    for mode in "threads --threads 32" "threads --threads 32 --odirect" "chain --depth 64" "chain --depth 64 --odirect"; do
      feedfs_cold
      # shellcheck disable=SC2086 # words
      json=$("$BIN/bench_small_files" $mode --files "$files" --bytes $bytes "$data/ext4") || return 1
      say "ext4 by $mode: $json"
      if [ "$(calc "$(rate_of "$json") > $theirs")" = 1 ]; then
        theirs=$(rate_of "$json") theirs_cpu=$(cpu_of "$json")
      fi
    done
    feedfs_cold
    json=$("$BIN/bench_small_files" raw --bytes $bytes --depth 64 "$data/blocks.txt") || return 1
    say "raw: $json"
    raw=$(calc "max($raw,$(rate_of "$json"))")
    feedfs_cold
    json=$("$BIN/bench_feedfs_files" read --files "$files" --depth 64 "$data/volume") || return 1
    say "feedfs: $json"
    ours=$(calc "max($ours,$(rate_of "$json"))") ours_cpu=$(calc "min($ours_cpu,$(cpu_of "$json"))")
  done
  ratio "feedfs, $files files of 10 KiB, random, cold, beside raw reads of the blocks on $device" "$ours" "$raw" files/s ge 0.9
  ratio "the same, beside ext4 (the better of 32 threads and chains)" "$ours" "$theirs" files/s ge 2.5
  ratio "the same, CPU a file" "$ours_cpu" "$theirs_cpu" us le 0.2
  ratio "feedfs, creating them, beside ext4, both synced" "$created" "$ext4_created" files/s ge 5
  rm -rf "$data/ext4" "$data/volume"
}

feedfs_fast() {
  local files=${FEEDFS_ZRAM_FILES:-100000} place=$1/zram why="" status=0
  local name="feedfs, $files files of 10 KiB, random, cold, beside ext4 (the better of 32 threads and chains), both on ext4 on /dev/zram0"
  if [ "$(id -u)" -ne 0 ]; then why="needs root"
  elif [ ! -b /dev/zram0 ] && ! modprobe zram 2>/dev/null; then why="no zram here"
  elif [ "$(cat /sys/block/zram0/disksize 2>/dev/null)" != 0 ]; then why="/dev/zram0 is in use"
  elif ! { echo 8G >/sys/block/zram0/disksize && mkfs.ext4 -q -F /dev/zram0 && mkdir -p "$place" && mount /dev/zram0 "$place"; } 2>/dev/null; then
    why="/dev/zram0 cannot be mounted"; echo 1 2>/dev/null >/sys/block/zram0/reset
  fi
  if [ -n "$why" ]; then
    skipped "$name, all cores" files/s ge 2.5 "$why"; skipped "the same, one core each" files/s ge 2.5 "$why"
    return 0
  fi
  feedfs_fast_rows "$place" "$files" "$name" || status=1
  umount "$place" && echo 1 >/sys/block/zram0/reset
  return $status
}
# All cores: a reader (a rank) on each, beside 32 threads or a ring of chains for each; then the same on core 0 alone.
feedfs_fast_rows() {
  local place=$1 files=$2 name=$3 bytes=10240 try json cores mode
  "$BIN/bench_small_files" create --files "$files" --bytes $bytes --threads 2 "$place/ext4" >/dev/null || return 1
  feedfs_volume "$place/volume" && "$BIN/bench_feedfs_files" create --files "$files" --bytes $bytes --group 2048 --threads 2 "$place/volume" >/dev/null || return 1
  settle
  for cores in "$(nproc)" 1; do
    local ours=0 theirs=0 one=()
    [ "$cores" -gt 1 ] || one=(taskset -c 0)
    for try in 1 2 3; do
      for mode in "threads --threads 32" "threads --threads 32 --odirect" "chain --depth 64 --rings $cores" "chain --depth 64 --rings $cores --odirect"; do
        feedfs_cold
        # shellcheck disable=SC2086 # words
        json=$("${one[@]}" "$BIN/bench_small_files" $mode --files "$files" --bytes $bytes "$place/ext4") || return 1
        say "ext4 on zram, $cores cores, by $mode: $json"
        theirs=$(calc "max($theirs,$(rate_of "$json"))")
      done
      feedfs_cold
      json=$("${one[@]}" "$BIN/bench_feedfs_files" read --files "$files" --depth 64 --readers "$cores" "$place/volume") || return 1
      say "feedfs on zram, $cores cores: $json"
      ours=$(calc "max($ours,$(rate_of "$json"))")
    done
    if [ "$cores" -gt 1 ]; then
      ratio "$name, all cores" "$ours" "$theirs" files/s ge 2.5
    else
      ratio "the same, one core each" "$ours" "$theirs" files/s ge 2.5
    fi
  done
}

feedfs_large() {
  local data=$1 device=$2 try result fio segments ours=0 theirs=0
  local workload=(unet3d_h100 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0
    -p dataset.num_files_train=24 -p workflow.checkpoint=false)
  feedfs_volume "$data/large" || return 1
  dataset "feedfs:$data/large" "${workload[@]}" || return 1
  segments=$(find "$data/large/data" -name '*.segment' | sort | paste -sd:)
  settle
  for try in 1 2 3; do
    result=$(run_result "$BIN/feedbench" run "${workload[@]}" --data-dir "feedfs:$data/large" -p reader.odirect=true -p reader.batch_size=1 \
      -p train.epochs=2 -p train.computation_time=0 -p reader.data_loader=native -p reader.queue_depth=16 \
      -p reader.prefetch_size=2 -p reader.transfer_size=1048576) || return 1
    ours=$(calc "max($ours,$(metric "$result" delivered_MB_per_second))")
    fio=$(fio_read --filename="$segments" --file_service_type=sequential --direct=1 --ioengine=io_uring --bs=1M --iodepth=16 --loops=2)
    theirs=$(calc "max($theirs,$(json - 'd["MB_per_second"]' <<<"$fio"))")
  done
  ratio "feedfs, direct read of 140 MB files, 1 MiB, depth 16, beside fio on its segments on $device" "$ours" "$theirs" MB/s ge 0.97
  rm -rf "$data/large"
}
