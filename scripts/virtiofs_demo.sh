#!/usr/bin/env bash
# feedfs from inside a virtual machine: a QEMU guest reads a mounted volume through virtiofsd and runs feedbench on it.
#
#   scripts/virtiofs_demo.sh [RESULTS]     default: results/feedfs/virtiofs
#
# The guest is emulated (tcg), on the same cores as the storage: its figures show that it works and how to read them, not how
# fast virtio-fs is. ACCELERATOR=kvm where the machine has it. Needs root, /dev/fuse and the packages of [full].
. "$(dirname "$0")/lib.sh"
results=${1:-$ROOT/results/feedfs/virtiofs}
need_packages build test full || exit 1
[ -c /dev/fuse ] && [ "$(id -u)" -eq 0 ] || die "needs root and /dev/fuse"
build release feedfs feedbench || exit 1
BIN=$ROOT/build/release FEEDFS=${FEEDFS:-$ROOT/build/release/feedfs}
work=$(mktemp -d "${TMPDIR:-/tmp}/feedfs-virtiofs.XXXXXX") || exit 1
server=$ROOT/tests/servers/virtiofs.sh
end() {
  "$server" down "$work/guest" >/dev/null 2>&1
  ! grep -q " $work/mount " /proc/mounts || umount -l "$work/mount"
  rm -rf "$work"
}
trap end EXIT
workload=(unet3d_mini -p dataset.num_files_train=64 -p dataset.record_length_bytes=1000000 -p dataset.record_length_bytes_stdev=0
  -p reader.batch_size=2 -p train.epochs=2 -p train.computation_time=0.5 -p workflow.checkpoint=False)

mkdir -p "$work/mount" "$results"
"$FEEDFS" mkfs "$work/volume" --name virtiofs || exit 1
quietly "$work/datagen.txt" "$BIN/feedbench" datagen "${workload[@]}" --data-dir "$work/data" || exit 1
"$FEEDFS" import "$work/volume" "$work/data" || exit 1
"$FEEDFS" mount "$work/volume" "$work/mount" -o ro || exit 1
SHARE=$work/mount quietly "$work/guest.txt" "$server" up "$work/guest" || exit 1
on_guest() { EXEC_SECONDS=${EXEC_SECONDS:-300} "$server" exec "$work/guest" "$1"; }

{
  echo "feedfs in a virtual machine, through virtiofsd, on $(date -u +%F)"
  echo "host: $(uname -r), $(nproc) cores; guest: $(on_guest 'uname -r'), $(sed -n 's/^CPUS=//p' "$work/guest/endpoint.env") core, accelerator $(sed -n 's/^ACCELERATOR=//p' "$work/guest/endpoint.env")"
  echo "tcg emulates every instruction of the guest: what follows proves function, not speed."
  echo
  echo "the guest sees: $(on_guest 'grep " /mnt " /proc/mounts')"
  here=$(cd "$work/mount" && find . -type f -print0 | sort -z | xargs -0 md5sum | md5sum)
  there=$(on_guest 'find . -type f -print0 | sort -z | xargs -0 md5sum | md5sum')
  [ "$here" = "$there" ] || die "the guest reads other bytes than the host"
  echo "all files have the same MD5 in the guest and on the host"
  echo
  echo "guest# feedbench run ${workload[*]} --data-dir /mnt"
} | tee "$work/report.txt" || exit 1
on_guest "cd /tmp && FEEDBENCH_CEILING_SECONDS=0 $BIN/feedbench run ${workload[*]} --data-dir /mnt --results-dir /tmp/results >/tmp/run.txt 2>&1; code=\$?; cat /tmp/run.txt; exit \$code" >"$work/run.txt"
code=$?
cat "$work/run.txt" | tee -a "$work/report.txt"
# 4: measured, but not valid as a measurement (the guest's page cache): to be expected of a data set this small.
[ "$code" -eq 0 ] || [ "$code" -eq 4 ] || die "feedbench in the guest ended with exit code $code"
on_guest 'cat $(find /tmp/results -name result.json)' >"$work/result.json"
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["status"] == "complete", d["status"]' "$work/result.json" || die "the guest's result is not complete"
sed "s|$work|WORK|g" "$work/report.txt" >"$results/guest_run.txt"
say "written: $results/guest_run.txt"
