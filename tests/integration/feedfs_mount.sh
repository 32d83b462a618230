#!/usr/bin/env bash
# A real mount of feedfs, used by the programs that people use: tar, cp, rsync, ls, fio; by several users and processes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"
need_fuse

# expect_errno NAME COMMAND... : fails, and says that
expect_errno() {
  local said=$1; shift
  run "$@"
  [ "$STATUS" -ne 0 ] || fail "should have been refused ($said): $*"
  expect_said "$said"
}
python_in_mount() { (cd "$MOUNT" && "$PYTHON" -c "$1") >"$WORK/out.txt" 2>"$WORK/err.txt" || fail "python in the mount: $(tail -n 1 "$WORK/err.txt")"; }

make_volume
mount_volume
cd "$WORK" || exit 1

note "copies by tar, cp and rsync are the same byte for byte, attribute for attribute"
make_tree "$WORK/tree"
mkdir "$MOUNT/tar"
tar -C "$WORK/tree" --format=posix -cf - . | tar -C "$MOUNT/tar" -xpf - || fail "tar into the mount"
same_trees "$WORK/tree" "$MOUNT/tar"
cp -a "$WORK/tree" "$MOUNT/cp" || fail "cp into the mount"
same_trees "$WORK/tree" "$MOUNT/cp"
if command -v rsync >/dev/null; then
  rsync -a "$WORK/tree/" "$MOUNT/rsync/" || fail "rsync into the mount"
  same_trees "$WORK/tree" "$MOUNT/rsync"
  [ "$(rsync -a --itemize-changes "$WORK/tree/" "$MOUNT/rsync/" | wc -l)" -eq 0 ] || fail "a second rsync finds work to do"
fi
mkdir "$WORK/out"
tar -C "$MOUNT/tar" --format=posix -cf - . | tar -C "$WORK/out" -xpf - || fail "tar out of the mount"
same_trees "$WORK/tree" "$WORK/out"

note "10,000 entries are listed, each once"
mkdir "$MOUNT/wide"
python_in_mount 'for i in range(10000): open(f"wide/{i:05d}", "w").write(str(i))'
[ "$(ls "$MOUNT/wide" | wc -l)" -eq 10000 ] || fail "ls shows $(ls "$MOUNT/wide" | wc -l) of 10000 entries"
[ "$(find "$MOUNT/wide" -type f -size -2 | sort -u | wc -l)" -eq 10000 ] || fail "find sees other files"
python_in_mount 'import os
names = sorted(os.listdir("wide")); assert names == [f"{i:05d}" for i in range(10000)]
with os.scandir("wide") as s: assert sum(e.stat().st_size for e in s) == 38890
d = os.open("wide", os.O_RDONLY)'

note "owners and modes are honoured for another user"
if [ "$(id -u)" -eq 0 ]; then
  as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  install -d -m 755 "$MOUNT/mine"; printf secret >"$MOUNT/mine/secret"; chmod 600 "$MOUNT/mine/secret"
  printf public >"$MOUNT/mine/public"; chmod 644 "$MOUNT/mine/public"
  chmod 755 "$WORK" "$MOUNT"
  run "${as_nobody[@]}" cat "$MOUNT/mine/public"; expect_status 0; expect_said public
  expect_errno 'Permission denied' "${as_nobody[@]}" cat "$MOUNT/mine/secret"
  expect_errno 'Permission denied' "${as_nobody[@]}" touch "$MOUNT/mine/new"
  expect_errno 'Permission denied' "${as_nobody[@]}" rm -f "$MOUNT/mine/public"
  expect_errno 'not permitted' "${as_nobody[@]}" chmod 777 "$MOUNT/mine/public"
  install -d -m 1777 "$MOUNT/sticky"; printf x >"$MOUNT/sticky/roots"
  expect_errno 'not permitted' "${as_nobody[@]}" rm -f "$MOUNT/sticky/roots"
  run "${as_nobody[@]}" sh -c "umask 027; printf y >$MOUNT/sticky/theirs"; expect_status 0
  [ "$(stat -c '%u %g %a' "$MOUNT/sticky/theirs")" = "65534 65534 640" ] || fail "owner or mode: $(stat -c '%u %g %a' "$MOUNT/sticky/theirs")"
fi

note "rename replaces atomically, also what is not published yet; unlinked files stay readable"
cd "$MOUNT" || exit 1
printf old >r1; printf new >r2; mv r2 r1; [ "$(cat r1)" = new ] && [ ! -e r2 ] || fail "rename over a file"
printf again >r2; sync -d r2; printf later >r3; mv r3 r2; [ "$(cat r2)" = later ] || fail "rename of a fresh file over an old one"
python_in_mount 'import os, ctypes, errno
f = open("gone", "wb"); f.write(b"a" * 100000); f.close()
r = open("gone", "rb"); os.unlink("gone")
assert not os.path.exists("gone") and r.read() == b"a" * 100000
assert os.fstat(r.fileno()).st_nlink == 0 and os.fstat(r.fileno()).st_size == 100000
w = open("unborn", "wb+"); w.write(b"b" * 5000); w.flush(); os.unlink("unborn")
w.write(b"c" * 5000); w.flush(); w.seek(0); assert w.read() == b"b" * 5000 + b"c" * 5000; w.close()
assert not os.path.exists("unborn")
d = os.open(".", os.O_RDONLY)
os.mkdir("d1"); open("d1/x", "w").write("x"); os.rename("d1", "d2"); assert open("d2/x").read() == "x"
try: os.rmdir("d2"); assert False
except OSError as e: assert e.errno == errno.ENOTEMPTY
try: os.rename("d2", "d2/inside"); assert False
except OSError as e: assert e.errno == errno.EINVAL
libc = ctypes.CDLL(None, use_errno=True)
def rename2(a, b, flags): return 0 if libc.renameat2(-100, a, -100, b, flags) == 0 else ctypes.get_errno()
assert rename2(b"r1", b"r2", 1) == errno.EEXIST and rename2(b"r1", b"r2", 2) == errno.EINVAL
assert rename2(b"r1", b"r5", 1) == 0 and open("r5").read() == "new"'
cd "$WORK" || exit 1

note "write once: what is not allowed is refused with EOPNOTSUPP, what is allowed works"
python_in_mount 'import os, errno
def refused(call):
  try: call()
  except OSError as e: assert e.errno == errno.EOPNOTSUPP, e; return
  assert False, "was not refused"
open("once", "wb").write(b"0123456789"); os.sync()
def overwrite():
  fd = os.open("once", os.O_RDWR)
  try: os.pwrite(fd, b"x", 3)
  finally: os.close(fd)
refused(overwrite); refused(lambda: open("once", "ab")); refused(lambda: os.truncate("once", 5))
assert open("once").read() == "0123456789"
old = open("once", "rb"); w = open("once", "wb"); w.write(b"second"); w.close()
assert open("once").read() == "second"
os.truncate("once", 0); assert os.stat("once").st_size == 0
open("once", "ab").write(b"third"); assert open("once").read() == "third"
fd = os.open("sparse", os.O_RDWR | os.O_CREAT | os.O_EXCL); os.ftruncate(fd, 200000); os.pwrite(fd, b"end", 199997)
os.pwrite(fd, b"begin", 0); assert os.fstat(fd).st_size == 200000 and os.pread(fd, 10, 199995) == b"\0\0end"; os.close(fd)
b = open("sparse", "rb").read(); assert len(b) == 200000 and b.startswith(b"begin") and b.endswith(b"end") and b.count(0) == 200000 - 8
open("log", "w").close(); a = open("log", "a"); a.write("1\n"); a.flush(); c = open("log", "a"); c.write("2\n"); c.flush(); a.write("3\n"); a.close(); c.close()
assert open("log").read() == "1\n2\n3\n"
fd = os.open("chunks", os.O_RDWR | os.O_CREAT)
for i in range(12): os.write(fd, bytes([i]) * (1 << 20))
try: os.pwrite(fd, b"x", 100); raise AssertionError("overwritten behind the chunk being written")
except OSError as e: assert e.errno == errno.EOPNOTSUPP
assert os.pread(fd, 2, (5 << 20) - 1) == bytes([4, 5]); os.close(fd)
os.link' ; expect_errno 'not permitted' ln "$MOUNT/once" "$MOUNT/hard"
expect_errno 'not permitted' mkfifo "$MOUNT/fifo"
(cd "$MOUNT" && { echo a; cat /etc/hostname; /bin/echo c; } >shell && [ "$(wc -l <shell)" -eq 3 ]) || fail "a shell's group of commands into one file"

note "statfs, times, symbolic links"
python_in_mount 'import os
s = os.statvfs("."); assert s.f_blocks * s.f_frsize > 1e8 and 0 < s.f_bavail <= s.f_blocks and s.f_namemax == 255 and s.f_files > 10000
os.utime("once", ns=(1_000_000_001, 2_000_000_003)); st = os.stat("once"); assert (st.st_atime_ns, st.st_mtime_ns) == (1_000_000_001, 2_000_000_003)
os.symlink("once", "s"); assert os.readlink("s") == "once" and os.path.islink("s") and os.stat("s").st_size == 5
os.symlink("x" * 1000, "long"); assert len(os.readlink("long")) == 1000
try: open("n" * 256, "w"); assert False
except OSError as e: assert e.errno == 36
open("n" * 255, "w").close()'

note "a directory's times move with its names, and what tar sets holds"
python_in_mount 'import os, time
os.mkdir("times"); seen = [os.stat("times").st_mtime_ns]
def moved(what):
  now = os.stat("times"); assert now.st_mtime_ns > seen[-1] and now.st_ctime_ns >= now.st_mtime_ns, what
  seen.append(now.st_mtime_ns)
f = open("times/a", "w"); moved("create"); f.write("x"); f.close()
os.rename("times/a", "times/b"); moved("rename of what is not published"); os.sync()
os.mkdir("times/d"); moved("mkdir"); os.symlink("b", "times/s"); moved("symlink")
os.unlink("times/s"); moved("unlink"); os.rmdir("times/d"); moved("rmdir")
open("times/c", "w").close(); os.unlink("times/c"); moved("a name that nobody else saw")
os.fsync(os.open("times", os.O_RDONLY)); assert os.stat("times").st_mtime_ns >= seen[-1] // 1000 * 1000
stays = os.stat("times").st_mtime_ns; open("times/b", "w").write("again"); os.chmod("times/b", 0o600); os.fsync(os.open("times", os.O_RDONLY))
assert os.stat("times").st_mtime_ns == stays, "content is not a name"
open("times/late", "w").write("x"); os.utime("times", ns=(5, 5)); assert os.stat("times").st_mtime_ns == 5
os.fsync(os.open("times", os.O_RDONLY)); time.sleep(1.1); assert os.stat("times").st_mtime_ns == 5, "published later than it was set"
open("times/more", "w").close(); assert os.stat("times").st_mtime_ns > seen[-1]'

note "several processes write, read and remove at once"
for writer in 1 2 3 4; do
  (mkdir -p "$MOUNT/p$writer" && cd "$MOUNT/p$writer" && for i in $(seq 60); do head -c $((i * 997)) /dev/zero | tr '\0' "$writer" >"t$i" && mv "t$i" "f$i" || exit 1; done
    for i in $(seq 1 3 60); do rm "f$i" || exit 1; done) &
  writers[writer]=$!
done
for writer in 1 2 3 4; do wait "${writers[writer]}" || fail "writer $writer"; done
python_in_mount 'import os
for w in "1234":
  assert sorted(os.listdir("p" + w)) == sorted(f"f{i}" for i in range(1, 61) if i % 3 != 1)
  for i in range(1, 61):
    if i % 3 != 1: assert open(f"p{w}/f{i}", "rb").read() == w.encode() * (i * 997)'

note "fio writes and verifies"
if command -v fio >/dev/null; then
  run fio --name=verify --directory="$MOUNT" --rw=write --bs=128k --size=24M --numjobs=2 --verify=crc32c --do_verify=1 --fallocate=none \
    --create_on_open=1 --end_fsync=1 --group_reporting
  expect_status 0 "fio"; expect_not_said 'verify failed|err=[^ 0]'
  run fio --name=verify --directory="$MOUNT" --rw=randread --bs=16k --size=24M --numjobs=2 --direct=1 --ioengine=libaio --iodepth=8 --runtime=3
  expect_status 0 "fio random reads"
fi

note "everything is there after an unmount, in the volume and in a read-only mount"
find "$MOUNT" -printf '%P %y %s %m\n' | sort >"$WORK/before.txt"
unmount_volume
mount_volume -o ro
find "$MOUNT" -printf '%P %y %s %m\n' | sort >"$WORK/after.txt"
diff "$WORK/before.txt" "$WORK/after.txt" >"$WORK/diff.txt" || { head -n 5 "$WORK/diff.txt"; fail "the mount shows something else after it was mounted again"; }
same_trees "$WORK/tree" "$MOUNT/tar"
expect_errno 'Read-only' touch "$MOUNT/new"
expect_errno 'Read-only' rm "$MOUNT/once"
unmount_volume

note "read only: many threads read pieces of files of all sizes; a damaged block is an error, its neighbours are not"
mount_volume
python_in_mount 'import os, random
os.mkdir("sizes")
for i, size in enumerate([0, 1, 4095, 4096, 10240, 65535, 65536, 65537, 200_000, 262_144, 262_145, 1_000_000, 5_000_000] * 3):
  open(f"sizes/{i}", "wb").write(random.Random(i).randbytes(size))
open("damaged", "wb").write(b"a" * 65536 + b"FLIP-HERE" + b"b" * 100_000)
open("damaged_small", "wb").write(b"FLIP-HERE" + b"c" * 20_000)'
unmount_volume
"$PYTHON" - "$VOLUME" <<'PY' || fail "the damaged block was not found"
import pathlib, sys
hits = 0
for path in pathlib.Path(sys.argv[1]).rglob("*.segment"):
  data = path.read_bytes(); at = data.find(b"FLIP-HERE")
  while at >= 0:
    with open(path, "r+b") as f: f.seek(at); f.write(b"f")
    hits += 1; at = data.find(b"FLIP-HERE", at + 1)
sys.exit(hits != 2)
PY
mount_volume -o ro
python_in_mount 'import errno, mmap, os, random, threading
from concurrent.futures import ThreadPoolExecutor
content = {n: random.Random(int(n)).randbytes(os.stat("sizes/" + n).st_size) for n in os.listdir("sizes")}
assert len(content) == 39
def check(seed):
  r = random.Random(seed); n = r.choice(sorted(content)); whole = content[n]
  direct = os.O_DIRECT if seed % 2 else 0
  fd = os.open("sizes/" + n, os.O_RDONLY | direct)
  for _ in range(8):
    at = r.randrange(len(whole) + 4096); size = r.choice([1, 1000, 4096, 70_000, 300_000])
    if direct: at, size = at // 4096 * 4096, (size + 4095) // 4096 * 4096
    m = mmap.mmap(-1, size); got = os.preadv(fd, [m], at)
    assert m[:got] == whole[at:at + size], (n, at, size, got)
  os.close(fd)
with ThreadPoolExecutor(16) as pool: list(pool.map(check, range(400)))
fd = os.open("damaged", os.O_RDONLY | os.O_DIRECT); m = mmap.mmap(-1, 4096)
assert os.preadv(fd, [m], 61440) == 4096 and m[:] == b"a" * 4096
for at in (65536, 65536 + 4096, 65536 + 61440):  # of one block of 64 KiB, of which only the first has the bit
  try: os.preadv(fd, [m], at); assert False, at
  except OSError as e: assert e.errno == errno.EIO, e
assert os.preadv(fd, [m], 131072) == 4096 and m[:] == b"b" * 4096
for name in ("damaged", "damaged_small"): # the small one is read with its look-up by now
  try: open(name, "rb").read(); assert False, name
  except OSError as e: assert e.errno == errno.EIO, e'
unmount_volume
mount_volume
rm "$MOUNT/damaged" "$MOUNT/damaged_small" || fail "a damaged file cannot be removed"
unmount_volume

note "a mount that is killed leaves nothing half-written, and what was synced"
mount_volume
(cd "$MOUNT" && mkdir killed && printf kept >killed/synced && sync killed/synced) || fail "sync"
"$PYTHON" - "$MOUNT/killed" <<'PY' >"$WORK/python.txt" 2>&1 &
import os, sys, time
os.chdir(sys.argv[1])
f = open("half", "wb"); f.write(b"x" * 7_000_000); f.flush(); open("../ready", "w").close()
i = 0
while True:
  with open(f"c{i}", "wb") as g: g.write(bytes([i % 256]) * 20_000)
  i += 1
PY
writer=$!
wait_until 20 test -e "$MOUNT/ready" || fail "the writer did not begin: $(cat "$WORK/python.txt")"
sleep 0.5
kill -KILL "$MOUNT_PID"; wait_until 20 server_gone || fail "killed, and still there"
wait "$writer"; [ $? -ne 0 ] || fail "the writer did not notice"
expect_errno 'not connected|endpoint' ls "$MOUNT"
umount "$MOUNT" || fail "what is left of a killed mount cannot be unmounted"
mount_volume
[ "$(cat "$MOUNT/killed/synced")" = kept ] || fail "a synced file is gone"
[ ! -e "$MOUNT/killed/half" ] || fail "a file that was never closed is visible"
python_in_mount 'import os
for name in os.listdir("killed"):
  if name[0] == "c": assert open("killed/" + name, "rb").read() == bytes([int(name[1:]) % 256]) * 20_000, name'
same_trees "$WORK/tree" "$MOUNT/tar"

note "a read-only mount brings its metadata into memory"
if command -v fincore >/dev/null; then
  unmount_volume
  sync "$VOLUME/metadata/data.mdb"; dd if="$VOLUME/metadata/data.mdb" iflag=nocache count=0 status=none
  in_memory() { fincore -nrb -o pages "$VOLUME/metadata/data.mdb"; }
  all=$(($(stat -c %s "$VOLUME/metadata/data.mdb") / 4096))
  mount_volume -o ro
  brought() { [ "$(in_memory)" -ge $((all * 9 / 10)) ]; }
  wait_until 20 brought || fail "$(in_memory) of $all pages of the metadata are in memory"
  unmount_volume
  mount_volume
fi

note "it ends by a signal, after what was closed is stored"
printf last >"$MOUNT/last"
kill -TERM "$MOUNT_PID"; wait_until 20 server_gone || fail "goes on after SIGTERM"
! is_mounted || fail "still mounted after SIGTERM"
run "$FEEDFS" cat "$VOLUME" last; expect_status 0; expect_said '^last$'

note "an unmount that follows a close at once loses nothing, though the kernel drops what it has not told of yet"
for round in $(seq 15); do
  mount_volume
  for name in small large; do head -c $((round * 20000 + ${#name})) /dev/urandom >"$WORK/$name"; cat "$WORK/$name" >"$MOUNT/$name"; done
  cat "$WORK/large" >"$MOUNT/last"
  unmount_volume
  for name in small large; do "$FEEDFS" cat "$VOLUME" "$name" | cmp -s - "$WORK/$name" || fail "round $round: $name is not what was closed"; done
  "$FEEDFS" cat "$VOLUME" last | cmp -s - "$WORK/large" || fail "round $round: last is not what was closed"
done

note "what cannot be mounted is refused with a reason"
run "$FEEDFS" mount "$WORK" "$MOUNT"; expect_status 3; expect_said 'no feedfs volume'
run "$FEEDFS" mount "$VOLUME" "$WORK/nowhere"; expect_status 3; expect_said 'nowhere'
run "$FEEDFS" mount "$VOLUME" "$MOUNT" -o colour=blue; expect_status 2; expect_said "no mount option 'colour'"
sed -i 's/^format_version: .*/format_version: 999/' "$VOLUME/volume.yaml"
run "$FEEDFS" mount "$VOLUME" "$MOUNT"; expect_status 2; expect_said 'format version 999'
! is_mounted || fail "mounted a volume of another version"
note "passed"
