# feedfs through FUSE beside ext4 and the raw device: small files in random order, cold, and 140 MB files in order.
part_feedfs_mount() {
  [ -c /dev/fuse ] && [ "$(id -u)" -eq 0 ] || { say "feedfs_mount: needs root and /dev/fuse; left out"; return 0; }
  build release feedfs || return 1
  local place=$BENCH_DISK/feedfs_mount; mkdir -p "$place/mount"
  feedfs_mount_small "$place"; feedfs_mount_large "$place"
}
feedfs_cold() { sync; echo 3 >/proc/sys/vm/drop_caches; }
feedfs_mounted() { # PLACE VOLUME COMMAND... : with VOLUME mounted, to read, on PLACE/mount
  local place=$1 volume=$2 code=0; shift 2
  "$BIN/feedfs" mount "$volume" "$place/mount" -o ro || return 1
  "$@" || code=$?
  umount "$place/mount"
  return "$code"
}
# 50,000 files of 10 KiB, as the same program reads them from either, by 32 threads; best of three turns each, alternating.
feedfs_mount_small() {
  local place=$1 count=50000 try ours=0 theirs=0
  if [ ! -e "$place/small/volume.yaml" ]; then
    rm -rf "$place/files" "$place/small"; mkdir -p "$place/files"
    "$BIN/bench_small_files" create --files "$count" --bytes 10240 --threads 4 "$place/files" >/dev/null || return 1
    "$BIN/feedfs" mkfs "$place/small" >/dev/null && "$BIN/feedfs" import "$place/small" "$place/files" -q || return 1
  fi
  settle
  for try in 1 2 3; do
    feedfs_cold
    theirs=$(calc "max($theirs,$("$BIN/bench_small_files" threads --files "$count" --bytes 10240 --threads 32 "$place/files" | json - 'd["files_per_second"]'))") || return 1
    feedfs_cold
    ours=$(calc "max($ours,$(feedfs_mounted "$place" "$place/small" "$BIN/bench_small_files" threads --files "$count" --bytes 10240 --threads 32 "$place/mount" | json - 'd["files_per_second"]'))") || return 1
  done
  ratio "FUSE: cold files of 10 KiB, 32 threads, beside ext4" "$ours" "$theirs" files/s ge 0.8
}
# 20 files of 140 MB: the same fio job on the mount and on the same bytes as plain files of the same disk; and one thread that
# reads the mount through the page cache, where each byte is copied twice more.
feedfs_mount_large() {
  local place=$1 try ours=0 theirs=0 cached=0 files direct
  direct=(--direct=1 --ioengine=io_uring --bs=1M --iodepth=16 --file_service_type=sequential)
  if [ ! -e "$place/large/volume.yaml" ]; then
    rm -rf "$place/plain" "$place/large"; mkdir -p "$place/plain"
    fio_write --directory="$place/plain" --filesize=140m --nrfiles=20 --bs=1M --direct=1 --size=2800m --file_service_type=sequential >/dev/null || return 1
    "$BIN/feedfs" mkfs "$place/large" >/dev/null && "$BIN/feedfs" import "$place/large" "$place/plain" -q || return 1
  fi
  settle
  files=$(cd "$place/plain" && find . -type f | sort)
  local plain mount
  plain=$(sed "s|^\.|$place/plain|" <<<"$files" | paste -sd:); mount=$(sed "s|^\.|$place/mount|" <<<"$files" | paste -sd:)
  for try in 1 2 3; do
    feedfs_cold
    theirs=$(calc "max($theirs,$(fio_read --filename="$plain" "${direct[@]}" | json - 'd["MB_per_second"]'))") || return 1
    feedfs_cold
    ours=$(calc "max($ours,$(feedfs_mounted "$place" "$place/large" fio_read --filename="$mount" "${direct[@]}" | json - 'd["MB_per_second"]'))") || return 1
    feedfs_cold
    cached=$(calc "max($cached,$(feedfs_mounted "$place" "$place/large" fio_read --filename="$mount" --ioengine=psync --bs=1M --file_service_type=sequential | json - 'd["MB_per_second"]'))") || return 1
  done
  ratio "FUSE: 140 MB files, O_DIRECT, 1 MiB, depth 16, beside the same on the raw disk" "$ours" "$theirs" MB/s ge 0.8
  ratio "the same through the page cache, one thread, beside the raw disk at depth 16" "$cached" "$theirs" MB/s ge 0.6
}
