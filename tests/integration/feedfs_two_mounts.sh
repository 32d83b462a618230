#!/usr/bin/env bash
# A volume mounted twice: what one mount removes, replaces or renames while the other has it open; and a segment that is gone.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
need_fuse

OTHER=$WORK/other # a second mount of the volume
undo() { for at in "$OTHER" "$MOUNT"; do ! grep -q " $at fuse.feedfs " /proc/mounts || umount -l "$at" || fusermount3 -uz "$at"; done; }

make_volume
mount_volume
cd "$WORK" || exit 1

note "what another mount removes, replaces or renames stays readable to who has it open; a path that is always there always opens"
mkdir "$OTHER"
for how in ro rw; do
  options=(); [ "$how" = rw ] || options=(-o ro)
  run "$FEEDFS" mount "$VOLUME" "$OTHER" "${options[@]}"; expect_status 0 "a second mount ($how)"
  "$PYTHON" - "$MOUNT" "$OTHER" <<'PY' >"$WORK/out.txt" 2>&1 || fail "a second mount ($how): $(tail -n 3 "$WORK/out.txt")"
import os, shutil, sys, threading, time
mine, other = (p + "/others/" for p in sys.argv[1:3])
def write(name, data):
  with open(mine + name, "wb") as f: f.write(data)
os.mkdir(mine)
names = [how + size for how in ("removed", "replaced", "renamed") for size in ("", "_large")]
content = {n: os.urandom(300_000 if n.endswith("_large") else 3000) for n in names}
for n in names: write(n, content[n])
write("always", b"begin")
os.sync(); time.sleep(0.5)
files = {n: os.open(other + n, os.O_RDONLY) for n in names}
for n in names:
  if n.startswith("removed"): os.unlink(mine + n)
  elif n.startswith("renamed"): os.rename(mine + n, mine + n + "_elsewhere")
  else: write("new", b"new"); os.rename(mine + "new", mine + n)
os.sync(); time.sleep(2)
for n, fd in files.items():
  assert os.read(fd, 1_000_000) == content[n], n
  assert os.fstat(fd).st_nlink == 0 and os.fstat(fd).st_size == len(content[n]), n
  if n.startswith("replaced"): assert open(other + n, "rb").read() == b"new", n
  else: assert not os.path.exists(other + n), n
  os.close(fd)
over, failed, reads = time.time() + 3, [], 0
def replace():
  i = 0
  while time.time() < over:
    write("next", b"%d" % (i % 10) * (1 + i % 9) * 1000); os.rename(mine + "next", mine + "always"); i += 1
writer = threading.Thread(target=replace); writer.start()
while time.time() < over:
  try:
    with open(other + "always", "rb") as f: got = f.read()
  except OSError as e: failed.append(e); continue
  assert got == b"begin" or len(set(got)) == 1, got[:20]
  reads += 1
writer.join()
assert reads > 0 and not failed, (reads, failed[:3], len(failed))
shutil.rmtree(mine)
PY
  wait_until 20 umount "$OTHER" || fail "the second mount ($how) cannot be unmounted"
done

printf last >"$MOUNT/last"
unmount_volume

note "a missing segment is EIO, not a name that is not there"
mkdir "$WORK/away"
find "$VOLUME" -name '*.segment' -exec mv -t "$WORK/away" {} + || fail "no segments to move away"
mount_volume -o ro
[ -s "$MOUNT/last" ] || fail "its entry is gone too"
run cat "$MOUNT/last"; [ "$STATUS" -ne 0 ] || fail "read without its segment"
expect_said 'Input/output error'
unmount_volume
run "$FEEDFS" cat "$VOLUME" last; expect_status 3; expect_said '[0-9a-f]{16}\.segment.*missing'
note "passed"
