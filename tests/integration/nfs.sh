#!/usr/bin/env bash
# nfs: beyond the suite of all backends (backend.sh, row nfs): version 4 reads what version 3 wrote and refuses to write; a server that is not
# there, exports something else, permits nothing, is full, falls silent, ends in the middle, or comes back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/backend_rows.sh"
"$FEEDBENCH" list backends | grep -q '^  nfs:.*not in this build' && skip "this build has no libnfs"
# Small, and on a filesystem whose files have handles (overlay and tmpfs have none).
PLACE=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/nfs.XXXXXX") || skip "the build folder cannot be written"
UNDO+=("rm -rf '$PLACE'")
serve_in() { WORK=$PLACE serve nfs_ganesha "$1"; } # NAME
serve_in server
of() { sed -n "s/^$1=//p" "$PLACE/server/endpoint.env"; }
PORT=$(of NFS_PORT) MOUNT=$(of MOUNT_PORT) EXPORTED=$(of EXPORTED)
V3=nfs://127.0.0.1:$PORT$EXPORTED/data?mountport=$MOUNT
V4=nfs://127.0.0.1:$PORT$(of EXPORT_V4)/data?version=4
result_count=0
new_folder() { folder=$WORK/results-$((++result_count)); }
train() { # URI OPTION... : two ranks, two accelerators; $folder holds the result
  local uri=$1; shift
  new_folder
  run_ranks 2 run unet3d_mini --data-dir "$uri" --accelerators 2 --results-dir "$folder" --allow-cached "${SMALL[@]}" "$@"
}

run_ranks 2 datagen unet3d_mini --data-dir "$V3" "${SMALL[@]}"
expect_status 0 "datagen over version 3"
[ "$(find "$EXPORTED/data/train" -type f | wc -l)" -eq 32 ] || fail "not 32 files on the server: $(ls -A "$EXPORTED/data/train")"
train "$V4" -p reader.verify=content -p reader.batch_size=4
expect_status 0 "training over version 4"
result=$(result_dir "$folder")/result.json
expect_json "$result" 'd["status"] == "complete" and all(e["samples_proved"] for e in d["epochs"])'
expect_json "$result" 'd["storages"][0]["filesystem_type"] == "nfs4" and d["storages"][0]["endpoints"][0]["connection_count"] == 8'
# Requests of 8 KiB on one connection: 100 KB files are many pieces, some in flight at once.
train "$V3&rsize=8KiB&connections=1" -p reader.verify=content
expect_status 0 "training with small requests"
expect_json "$(result_dir "$folder")/result.json" 'd["storages"][0]["endpoints"][0]["request_count"] > 32 * 2 * 12'
note "reading: passed"

# refused CODE WHAT PATTERN COMMAND... : one message
refused() {
  local code=$1 what=$2 pattern=$3; shift 3
  LIMIT=40 run "$@"
  expect_status "$code" "$what"
  expect_said '^feedbench: error: ' 1
  expect_said "$pattern"
  note "$what: passed"
}
# On one rank; the set is not there or not reached, so nothing is run.
RUN=("$FEEDBENCH" run unet3d_mini --results-dir "$WORK/refused" "${SMALL[@]}" --data-dir)
GENERATE=("$FEEDBENCH" datagen unet3d_mini "${SMALL[@]}" --data-dir)
refused 2 "datagen over version 4" 'cannot write over NFS version 4; write with version=3' "${GENERATE[@]}" "$V4"
refused 2 "checkpoints over version 4" 'cannot write over NFS version 4; write with version=3' "${RUN[@]}" "$V3" -p workflow.checkpoint=True \
  -p checkpoint.checkpoint_folder="$V4"
refused 3 "a wrong export" 'mount nfs://127.0.0.1:[0-9]+/no/such/export: ' "${RUN[@]}" "nfs://127.0.0.1:$PORT/no/such/export?mountport=$MOUNT"
refused 3 "a wrong export, version 4" 'mount nfs://127.0.0.1:[0-9]+/no/such/export: .*ENOENT' "${RUN[@]}" "nfs://127.0.0.1:$PORT/no/such/export?version=4"
refused 3 "nobody listens" 'port 1: Connection refused \(ECONNREFUSED\)' "${RUN[@]}" "nfs://127.0.0.1:1/x?mountport=1"
refused 3 "nobody listens, version 4" 'port 1: Connection refused \(ECONNREFUSED\)' "${RUN[@]}" "nfs://127.0.0.1:1/x?version=4"
refused 3 "no such host" "'no-such-host.invalid' is no host that can be found" "${RUN[@]}" nfs://no-such-host.invalid/x
refused 2 "an unknown argument" "no argument 'vers'" "${RUN[@]}" "nfs://127.0.0.1/x?vers=3"
refused 2 "a version there is not" "'version': '2' is outside 3 to 4" "${RUN[@]}" "nfs://127.0.0.1/x?version=2"
refused 2 "no export" 'the export is missing' "${RUN[@]}" nfs://127.0.0.1
mkdir -m 700 "$EXPORTED/closed"
refused 3 "no permission to write" 'closed.*Permission denied \(EACCES\).*uid and gid' "${GENERATE[@]}" \
  "nfs://127.0.0.1:$PORT$EXPORTED/closed/set?mountport=$MOUNT&uid=12345&gid=12345"
chmod 600 "$EXPORTED/data/train/img_07_of_32.npz"
refused 3 "no permission to read" 'img_07_of_32.npz.*Permission denied \(EACCES\)' "${RUN[@]}" "$V3&uid=12345&gid=12345"
chmod 644 "$EXPORTED/data/train/img_07_of_32.npz"

# What a killed datagen leaves half-written is never a file of the set, and goes with the next one.
FRESH=nfs://127.0.0.1:$PORT$EXPORTED/fresh?mountport=$MOUNT
LARGE=("${SMALL[@]}" -p dataset.record_length_bytes=20000000 -p dataset.num_files_train=8)
"$FEEDBENCH" datagen unet3d_mini --data-dir "$FRESH" "${LARGE[@]}" >/dev/null 2>&1 &
killed=$!
half_written() { find "$EXPORTED/fresh/train" -name '.*.tmp' 2>/dev/null | grep -q .; }
wait_until 20 half_written || fail "no file was being written"
kill -KILL "$killed"; wait "$killed" 2>/dev/null
for file in "$EXPORTED"/fresh/train/img_*; do
  [ ! -e "$file" ] || [ "$(stat -c %s "$file")" -ge 19000000 ] || fail "half a file under a whole file's name: $file"
done
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$FRESH" "${LARGE[@]}"
expect_status 0 "datagen after one that was killed"
half_written && fail "left behind: $(ls -A "$EXPORTED/fresh/train")"
rm -rf "$EXPORTED/fresh"
note "killed datagen: passed"

# A full server. Where no loop device can be had, this part says so and the rest goes on.
image=$PLACE/image
full() {
  truncate -s 32M "$image" && mkfs.ext4 -q "$image" && mkdir "$EXPORTED/full" && device=$(losetup --find --show "$image" 2>/dev/null) || return 1
  UNDO+=("losetup -d $device")
  mkdir "$PLACE/tiny" && mount "$device" "$PLACE/tiny" || return 1
  UNDO+=("umount -l $PLACE/tiny")
  WORK=$PLACE/tiny serve nfs_ganesha server
}
if [ "$(id -u)" -eq 0 ] && command -v mkfs.ext4 >/dev/null && full; then
  tiny() { sed -n "s/^$1=//p" "$PLACE/tiny/server/endpoint.env"; }
  refused 3 "a full server" 'No space left on device \(ENOSPC\)' "${GENERATE[@]}" \
    "nfs://127.0.0.1:$(tiny NFS_PORT)$(tiny EXPORTED)/set?mountport=$(tiny MOUNT_PORT)" -p dataset.record_length_bytes=4000000
else
  note "a full server: not tried, no loop device here"
fi

# Silent for a moment: waited for. Silent for good: one message, and an end in time.
read -r server _ <"$PLACE/server/ganesha.pid"
training() { # URI : long enough to be met in the middle
  new_folder
  launch "${MPIRUN[@]}" -n 2 "$FEEDBENCH" run unet3d_mini --data-dir "$1" --accelerators 2 --results-dir "$folder" --allow-cached "${SMALL[@]}" \
    -p train.epochs="$2"
  wait_until 60 epoch_ended 1 "$folder" || fail "the run did not get through its first epoch"
}
training "$V3&timeout=20" 8
kill -STOP "$server"; sleep 2; kill -CONT "$server"
settle 60
expect_status 0 "a server that is silent for 2 s"
training "$V3&timeout=2" 1000
kill -STOP "$server"
settle 30
kill -CONT "$server"
expect_status 3 "a silent server"
expect_said '^feedbench: error: .*has answered nothing for 2 s \(option timeout\)' 1
note "silence: passed"

# Gone for a moment: another connection is made and the calls are sent again. Gone for good: one message.
command=$(tr '\0' '\n' <"/proc/$server/cmdline")
mapfile -t command <<<"$command"
case ${command[0]} in *ganesha.nfsd) ;; *) fail "the server's command is not that of ganesha: ${command[*]}" ;; esac
# Its threads hold the port and the lock of its pid file until the last of them has gone, after the first is a zombie already.
ended() { ! running && [ "$(ls "/proc/$server/task" 2>/dev/null | wc -l)" -le 1 ]; }
running() { case $(sed 's/.*) //' "/proc/$server/stat" 2>/dev/null | cut -c1) in '' | Z) return 1 ;; esac; }
answering() { timeout 5 nfs-ls "nfs://127.0.0.1/export?version=4&nfsport=$PORT" >/dev/null 2>&1; }
again() { # beside the first one's rpcbind, with the whole of /etc/netconfig; tried anew where it ends before it answers
  local rpcbind
  read -r rpcbind _ <"$PLACE/server/rpcbind.pid"
  for _ in 1 2 3 4 5; do
    nsenter -t "$rpcbind" -m unshare -m --propagation private sh -c 'umount /etc/netconfig && exec "$@"' sh "${command[@]}" >>"$PLACE/again.log" 2>&1 &
    server=$!
    UNDO+=("kill -KILL $server")
    until answering; do ended && break; sleep 0.05; done
    running && return
    note "the server ended again: $(tail -n 1 "$PLACE/again.log" "$PLACE/server/nfsd.log" | tr '\n' ' ')"
    sleep 0.5
  done
  fail "the server did not come back: $(tail -n 5 "$PLACE/again.log" "$PLACE/server/nfsd.log")"
}
training "$V3&timeout=60" 12
kill -KILL "$server"; wait_until 10 ended || fail "the server does not end"
again
settle 150
expect_status 0 "a server that comes back"
expect_json "$(result_dir "$folder")/result.json" 'd["status"] == "complete" and d["storages"][0]["endpoints"][0]["connection_count"] > 8'
for version in "$V3&timeout=2" "$V4&timeout=2"; do
  training "$version" 1000
  server=$(pgrep -f -- "ganesha.nfsd .*$PLACE/server/ganesha.conf" | head -n 1)
  kill -KILL "$server"; wait_until 10 ended
  settle 30
  expect_status 3 "a server that ends: $version"
  expect_said '^feedbench: error: ' 1
  expect_said '^feedbench: error: .*the connection to nfs://127.0.0.1:[0-9]+ was lost, and for 2 s'
  [ -z "$(rank_pids)" ] || fail "ranks are left behind"
  again
done
note "the server's end: passed"
