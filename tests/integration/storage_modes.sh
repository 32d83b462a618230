#!/usr/bin/env bash
# Buffered and direct, each by io_uring and by threads, verified byte by byte; O_DIRECT where it is refused or not real (C3); what drop_cache
# does and says.
. "$(dirname "$0")/lib.sh"
SET=("${SMALL[@]}" -p train.epochs=1 -p train.computation_time=0.002)
CONTENT=(-p reader.verify=content)
bench() { run "$FEEDBENCH" "$@"; }

for engine in uring threads; do
  for direct in False True; do
    name=$engine-$direct
    options=(-p reader.io_engine=$engine -p reader.odirect=$direct)
    bench datagen unet3d_mini --data-dir "$WORK/$name" "${SET[@]}" "${options[@]}" $([ $direct = True ] && echo --odirect)
    if [ $direct = True ] && [ "$STATUS" -ne 0 ]; then # this filesystem refuses it, and must say so
      refused=1; expect_status 3 "O_DIRECT"; expect_said "^feedbench: error: .*filesystem .* refuses O_DIRECT" 1; continue
    fi
    expect_status 0 "datagen $name"
    [ "$name" = uring-False ] || diff -r "$WORK/uring-False" "$WORK/$name" >/dev/null || fail "other bytes by $name"
    bench run unet3d_mini --data-dir "$WORK/$name" "${SET[@]}" "${CONTENT[@]}" "${options[@]}" --results-dir "$WORK/results-$name"
    expect_status 0 "run $name"
    expect_json "$(result_dir "$WORK/results-$name")/result.json" \
      "d['valid'] and d['io_engine'] == '$engine' and d['odirect'] is $direct and d['backend'] == 'posix'"
    [ "$name" = uring-False ] || rm -rf "$WORK/$name"
    note "$name: passed"
  done
done
data=$WORK/uring-False

# drop_cache: off says nothing (and measures the cache: verdict_cached.sh), fadvise drops or says why not, system where allowed.
for how in off fadvise; do
  bench run unet3d_mini --data-dir "$data" "${SET[@]}" -p reader.drop_cache=$how --results-dir "$WORK/results-drop-$how" --allow-cached
  expect_status 0 "drop_cache=$how"
  expect_json "$(result_dir "$WORK/results-drop-$how")/result.json" 'not any(f["rule"] == "drop_cache" for f in d["findings"])'
done
bench run unet3d_mini --data-dir "$data" "${SET[@]}" -p reader.drop_cache=everything --results-dir "$WORK/results-drop-x"
expect_status 2 "drop_cache=everything"; expect_said "drop_cache" 1
setpriv_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" -eq 0 ] && "${setpriv_nobody[@]}" test -x "$FEEDBENCH" 2>/dev/null; then
  chmod 755 "$WORK"; mkdir -m 777 "$WORK/results-drop-system"
  run env TMPDIR=/tmp HOME=/tmp "${setpriv_nobody[@]}" "$FEEDBENCH" run unet3d_mini --data-dir "$data" "${SET[@]}" -p reader.drop_cache=system \
    --results-dir "$WORK/results-drop-system" --allow-cached
  expect_status 0 "drop_cache=system without the right to"
  expect_json "$(result_dir "$WORK/results-drop-system")/result.json" \
    'any(f["rule"] == "drop_cache" and "not permitted" in f["evidence"] for f in d["findings"])'
else note "drop_cache=system without rights: left out (needs root)"; fi
note "drop_cache: passed"

# C3
[ "$(id -u)" -eq 0 ] || { note "no root: filesystems that refuse O_DIRECT are left out"; exit 0; }
mkdir "$WORK/ram"
mount -t ramfs none "$WORK/ram" 2>/dev/null || { note "no mounts here: filesystems that refuse O_DIRECT are left out"; exit 0; }
undo() { umount "$WORK/ram"; }
bench datagen unet3d_mini --data-dir "$WORK/ram/data" "${SET[@]}"; expect_status 0 "ramfs, buffered"
for engine in uring threads; do
  bench run unet3d_mini --data-dir "$WORK/ram/data" "${SET[@]}" -p reader.odirect=True -p reader.io_engine=$engine --results-dir "$WORK/results-ram"
  expect_status 3 "O_DIRECT on ramfs"
  expect_said "^feedbench: error: .*ramfs.*refuses O_DIRECT" 1
  expect_no_file "$WORK/results-ram"
done
bench run unet3d_mini --data-dir "$WORK/ram/data" "${SET[@]}" -p reader.drop_cache=fadvise --results-dir "$WORK/results-ram"
expect_status 0 "drop_cache where memory is the storage"
expect_json "$(result_dir "$WORK/results-ram")/result.json" 'any(f["rule"] == "drop_cache" and "not offered" in f["evidence"] for f in d["findings"])'
