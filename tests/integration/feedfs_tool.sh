#!/usr/bin/env bash
# The command feedfs without a mount: mkfs, import, export, ls, cat, stat, and how each refuses.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"

note "mkfs takes every key of volume.yaml, and refuses what cannot be"
run "$FEEDFS" mkfs "$WORK/v1" --name pictures --target data --target more --chunk 1MiB --segment 16MiB --fast-capacity 2GB \
  --object-target "$WORK/cold" --metadata lmdb --metadata-place names --metadata-option map_limit_bytes=4294967296 --root-mode 1777
expect_status 0; expect_said "volume 'pictures'"
for key in 'format_version: ' 'name: "pictures"' 'chunk_bytes: 1048576' 'segment_bytes: 16777216' 'fast_capacity_bytes: 2000000000' \
  'engine: lmdb' 'place: "names"' 'place: "more"' 'tier: object' 'map_limit_bytes'; do
  grep -q -- "$key" "$WORK/v1/volume.yaml" || fail "volume.yaml lacks $key"
done
run "$FEEDFS" mkfs "$WORK/v1"; expect_status 3; expect_said 'v1'
run "$FEEDFS" mkfs "$WORK/v2" --chunk 3MiB; expect_status 2; expect_said 'chunk_bytes'
run "$FEEDFS" mkfs "$WORK/v2" --chunk many; expect_status 2; expect_said "'many' is not a size"
run "$FEEDFS" mkfs "$WORK/v2" --metadata sqlite; expect_status 2; expect_said 'lmdb'
run "$FEEDFS" mkfs "$WORK/v2" --root-mode 9; expect_status 2; expect_said 'octal'
for place in ftp://a/b gs://b/x S3://b/x s3:/x; do
  run "$FEEDFS" mkfs "$WORK/v2" --object-target $place; expect_status 2; expect_said "'$place' is neither s3://BUCKET/PREFIX nor a folder"
done
for bad in '--grace nan' '--grace -1' '--grace 9e9' '--live-below nan' '--live-below 1.5'; do
  # shellcheck disable=SC2086 # two words
  run "$FEEDFS" compact "$WORK/v1" $bad; expect_status 2; expect_said 'is not a number from 0 to'
done
cp -a "$WORK/v1" "$WORK/v3"; sed -i 's/^chunk_bytes: .*/chunk_bytes: -1/' "$WORK/v3/volume.yaml"
run "$FEEDFS" stat "$WORK/v3"; expect_status 2; expect_said "v3/volume.yaml: .*line [0-9]*: the key 'chunk_bytes' is '-1'"
mkdir "$WORK/mount_here"
run env -C "$WORK" "$FEEDFS" mount nothere mount_here; [ "$STATUS" -ne 0 ] || fail "a volume that is not there was mounted"
expect_said "$WORK/nothere"
run "$FEEDFS" paint; expect_status 2; expect_said "no command 'paint'"
run "$FEEDFS" ls "$WORK/nowhere"; expect_status 3; expect_said 'no feedfs volume'
for command in mkfs mount import export ls cat stat tier; do run "$FEEDFS" $command --help; expect_status 0; expect_said 'VOLUME'; done

note "import and export are the same tree, and go on where they stopped"
make_volume
make_tree "$WORK/tree"
run "$FEEDFS" import "$VOLUME" "$WORK/tree" --into sets/one; expect_status 0; expect_said '^511 files, '
run "$FEEDFS" mkfs "$WORK/second" --target "$VOLUME/data"; expect_status 2; expect_said "$VOLUME/data: .*feedfs.target says that it belongs to volume"
run "$FEEDFS" mkfs "$WORK/second" --object-target "$VOLUME/data"; expect_status 2; expect_said "$VOLUME/data: "
[ ! -e "$WORK/second" ] || fail "a mkfs that was refused has made its folder"
run "$FEEDFS" import "$VOLUME" "$WORK/tree" --into sets/one; expect_status 0; expect_said '^0 files.* 511 files were there already'
printf changed >"$WORK/tree/many/f7"; printf new >"$WORK/tree/many/g"
run "$FEEDFS" import "$VOLUME" "$WORK/tree" --into sets/one; expect_status 0; expect_said '^2 files, '
run "$FEEDFS" export "$VOLUME" "$WORK/back" --from sets/one; expect_status 0; expect_said '^512 files, '
same_trees "$WORK/tree" "$WORK/back"
rm "$WORK/back/many/f3"
run "$FEEDFS" export "$VOLUME" "$WORK/back" --from sets/one; expect_status 0; expect_said '^1 files.* 511 files were there already'
same_trees "$WORK/tree" "$WORK/back"
run "$FEEDFS" export "$VOLUME" "$WORK/single" --from sets/one/a/b/large; expect_status 0
cmp "$WORK/single/large" "$WORK/tree/a/b/large" || fail "a single file exported"
run "$FEEDFS" import "$VOLUME" "$WORK/nothing"; expect_status 3; expect_said 'nothing'
run "$FEEDFS" import "$VOLUME" ftp://host/x; expect_status 2; expect_said 's3://'

note "an import that is interrupted leaves whole files only, and the next one brings the rest"
mkdir "$WORK/big"
for i in $(seq 40); do head -c 20000000 /dev/zero | tr '\0' "$((i % 10))" >"$WORK/big/b$i"; done
launch "$FEEDFS" import "$VOLUME" "$WORK/big" --into big -j 2
wait_until 60 "$FEEDFS" ls "$VOLUME" big >"$WORK/ls.txt" 2>&1 || fail "the import never began"
kill -INT "$job"; settle 60
[ "$STATUS" -eq 130 ] || [ "$STATUS" -eq 0 ] || fail "exit code $STATUS after SIGINT, expected 130"
interrupted=$STATUS
[ "$interrupted" -eq 0 ] || expect_said 'interrupted'
run "$FEEDFS" ls "$VOLUME" big -l; expect_status 0
awk '$4 != 20000000 { exit 1 }' "$WORK/out.txt" || fail "a file is there in part"
run "$FEEDFS" import "$VOLUME" "$WORK/big" --into big; expect_status 0
run "$FEEDFS" export "$VOLUME" "$WORK/big_back" --from big -q; expect_status 0
diff -r "$WORK/big" "$WORK/big_back" || fail "what an interrupted import and a second one brought differs"

note "ls, cat and stat say what is there"
run "$FEEDFS" ls "$VOLUME" sets/one; expect_status 0; expect_said '^a$'; expect_said '^many$'
run "$FEEDFS" ls "$VOLUME" -R; expect_said '^sets/one/a/b/large$'
run "$FEEDFS" ls "$VOLUME" sets/one/many -l; expect_said '^lrwxrwxrwx .* link -> ../a/size_1$'
run "$FEEDFS" ls "$VOLUME" sets/one/a -l; expect_said '^-rws--x--x .* 4097 .* size_4097$'
run "$FEEDFS" cat "$VOLUME" sets/one/many/f1 sets/one/many/f2; expect_status 0
[ "$(cat "$WORK/out.txt")" = "$(printf 'file 1\nfile 2')" ] || fail "cat of two files"
run "$FEEDFS" cat "$VOLUME" sets/none; expect_status 3; expect_said 'none'
run "$FEEDFS" stat "$VOLUME" sets/one/a/b/large; expect_status 0; expect_said '^extent +4194304 bytes at 0 '
run "$FEEDFS" stat "$VOLUME" --json; expect_status 0; cp "$WORK/out.txt" "$WORK/stat.json"
expect_json "$WORK/stat.json" 'd["files"] == 552 and d["symlinks"] == 2 and d["format_version"] == 1 and d["metadata"]["engine"] == "lmdb"'
expect_json "$WORK/stat.json" 'sum(t["live_bytes"] for t in d["targets"]) == d["payload_bytes"] > 8e8'

server=$FEEDBENCH_SOURCE_DIR/tests/servers/s3rver.sh
run "$server" up "$WORK/s3"
if [ "$STATUS" -ne 0 ]; then
  note "no S3 server here: import from and export to s3:// are left out"
else
  note "to a bucket and back"
  undo() { "$server" down "$WORK/s3"; ! is_mounted || umount -l "$MOUNT"; }
  value() { sed -n "s/^$1=//p" "$WORK/s3/endpoint.env"; }
  export AWS_ENDPOINT_URL=$(value ENDPOINT) AWS_ACCESS_KEY_ID=$(value ACCESS_KEY) AWS_SECRET_ACCESS_KEY=$(value SECRET_KEY)
  bucket=$(value BUCKET)
  run "$FEEDFS" export "$VOLUME" "s3://$bucket/copy" --from sets/one; expect_status 0; expect_said '^512 files, '; expect_said '2 symbolic links were left out'
  run "$FEEDFS" export "$VOLUME" "s3://$bucket/copy" --from sets/one; expect_status 0; expect_said '^0 files.* 512 files were there already'
  run "$FEEDFS" import "$VOLUME" "s3://$bucket/copy" --into from_s3; expect_status 0; expect_said '^512 files, '
  run "$FEEDFS" import "$VOLUME" "s3://$bucket/copy" --into from_s3; expect_status 0; expect_said '^0 files.* 512 files were there already'
  run "$FEEDFS" export "$VOLUME" "$WORK/s3_back" --from from_s3 -q; expect_status 0
  rm "$WORK/tree/many/link" "$WORK/tree/dangling"; rmdir "$WORK/tree/empty" "$WORK/tree/a/b/c"
  diff -r "$WORK/tree" "$WORK/s3_back" || fail "what came back from the bucket differs"
  run "$FEEDFS" import "$VOLUME" "s3://nobucket/copy" --into x; expect_status 3; expect_said 'nobucket'
  AWS_SECRET_ACCESS_KEY=wrong run "$FEEDFS" import "$VOLUME" "s3://$bucket/copy" --into y; expect_status 3; expect_said 's3://'
fi
note "passed"
