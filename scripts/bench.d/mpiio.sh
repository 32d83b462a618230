# MPI's own I/O beside the posix backend on the same file of 1 GiB, read through the page cache by both. From the device: the file leaves the
# page cache before each reading; one reader takes its blocks in order, or four take them in turn. From memory: four readers.
part_mpiio() {
  local folder=$BENCH_DISK/mpiio try result state readers ours posix
  mkdir -p "$folder"
  [ "$(stat -c %s "$folder/0" 2>/dev/null)" = 1073741824 ] || head -c 1073741824 /dev/urandom >"$folder/0" || return 1
  settle
  while read -r state readers; do
    ours=0 posix=0
    for try in 1 2 3 4 5 6; do # the device's speed swings, as reclaim of memory does: the best of several
      result=$(mpiio_read "$state" "$readers" "$folder") || return 1
      posix=$(calc "max($posix,$(json - 'd["rate_MB_per_second"]' <<<"$result"))")
      result=$(mpiio_read "$state" "$readers" "$folder" mpiio:) || return 1
      ours=$(calc "max($ours,$(json - 'd["rate_MB_per_second"]' <<<"$result"))")
    done
    ratio "mpiio, one file, reads of 1 MiB, $readers in flight, from $state, beside posix" "$ours" "$posix" MB/s ge 0.90
  done <<<"device 1
device 4
memory 4"
  rm -rf "$folder"
}
# mpiio_read STATE READERS FOLDER [SCHEME] : prints JSON
mpiio_read() {
  local loops=1
  if [ "$1" = device ]; then dd of="$3/0" oflag=nocache conv=notrunc,fdatasync count=0 status=none || return 1
  else cat "$3/0" >/dev/null; loops=4; fi
  "$BIN/bench_backend_loop" --mode blocks --depth "$2" --block 1048576 --loops $loops "${4:-}$3"
}
