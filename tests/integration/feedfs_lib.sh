# Sourced by the tests of feedfs behind lib.sh: a volume of one's own, mounted and unmounted.
FEEDFS=${FEEDFS:-$(dirname "$FEEDBENCH")/feedfs}
VOLUME=$WORK/volume MOUNT=$WORK/mount
[ -x "$FEEDFS" ] || fail "no binary feedfs beside $FEEDBENCH"

need_fuse() {
  [ -c /dev/fuse ] && [ -r /dev/fuse ] || skip "no /dev/fuse here"
  command -v fusermount3 >/dev/null || skip "no fusermount3 here"
}
is_mounted() { grep -q " $MOUNT fuse.feedfs " /proc/mounts; }
undo() { ! is_mounted || umount -l "$MOUNT" || fusermount3 -uz "$MOUNT"; }

make_volume() { run "$FEEDFS" mkfs "$VOLUME" "$@"; expect_status 0 "mkfs"; mkdir -p "$MOUNT"; }
# mount_volume OPTION... : in the background; $MOUNT_PID
mount_volume() {
  run "$FEEDFS" mount "$VOLUME" "$MOUNT" "$@"; expect_status 0 "mount"
  is_mounted || fail "feedfs mount said 0, and nothing is mounted"
  MOUNT_PID=$(pgrep -f -- "^$FEEDFS mount $VOLUME ") || fail "no process serves the mount"
}
unmount_volume() {
  wait_until 20 umount "$MOUNT" || fail "cannot be unmounted: $(fuser -vm "$MOUNT" 2>&1)"
  wait_until 20 server_gone || fail "the mount's process goes on after umount"
}
server_gone() { ! kill -0 "$MOUNT_PID" 2>/dev/null; }
# same_trees A B : names, types, modes, owners, times and every byte
same_trees() {
  diff -r --no-dereference "$1" "$2" >"$WORK/diff.txt" 2>&1 || { head -n 5 "$WORK/diff.txt"; fail "$2 differs from $1"; }
  local list='%P %y %m %U %G %T@ %l\n'
  (cd "$1" && find . -mindepth 1 -printf "$list" | sort) >"$WORK/a.txt"
  (cd "$2" && find . -mindepth 1 -printf "$list" | sort) >"$WORK/b.txt"
  diff -y --suppress-common-lines -W 160 "$WORK/a.txt" "$WORK/b.txt" >"$WORK/diff.txt" || { head -n 5 "$WORK/diff.txt"; fail "attributes in $2 differ from $1"; }
}
# make_tree DIR : files of many sizes, links, empty and read-only things
make_tree() {
  mkdir -p "$1/a/b/c" "$1/empty" "$1/many"
  local i
  for i in 0 1 4095 4096 4097 65535 65536 65537 300000; do head -c "$i" /dev/urandom >"$1/a/size_$i"; done
  head -c 9500000 /dev/urandom >"$1/a/b/large"
  for i in $(seq 500); do printf 'file %d\n' "$i" >"$1/many/f$i"; done
  ln -s ../a/size_1 "$1/many/link"; ln -s nowhere "$1/dangling"
  printf x >"$1/a/name with spaces and ü"
  chmod 400 "$1/a/size_4095"; chmod 2755 "$1/empty"; chmod 4711 "$1/a/size_4097"
  # Times long ago, those of folders last: rsync takes times within the same second for equal, and leaves them.
  find "$1" -depth -exec touch -h -d '2002-02-03 04:05:06.012345678' {} +
  touch -d '2001-02-03 04:05:06.789' "$1/a/size_1" "$1/a/b"
}
# repair_volume [VOLUME] : what dead writers left is put right (exit code 1: all repaired), and then nothing is found, every byte read
repair_volume() {
  "$FEEDFS" fsck --help >/dev/null 2>&1 || return 0
  run "$FEEDFS" fsck "${1:-$VOLUME}" --repair; [ "$STATUS" -le 1 ] || fail "fsck --repair: exit code $STATUS"
  run "$FEEDFS" fsck "${1:-$VOLUME}" --data; expect_status 0 "fsck --data after a repair"
}
