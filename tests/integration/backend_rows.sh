# shellcheck shell=bash
# Sourced by backend.sh: how each row of backend_rows.txt is started and reached. A row sets
#   URI      the place below which datasets and checkpoints are made
#   OPTIONS  -p storage.storage_options...: of every command that takes a workload; LOOK: --storage-option ... of list and adopt
#   FOLDER   where its files lie for this machine's own commands, or empty (then fetch, store, drop, names are functions of the row)
#   BACKEND  name in results; SOURCE: kind of its bytes' source in cache evidence: block, network, memory or any
#   ONE      what a single rank is launched with (MPI's I/O wants mpirun)
#   SERVERS  how many servers a client library of ours speaks to (entries of storages[0].endpoints)
# and UNDO gets what takes it away again.
SERVER_SCRIPTS=$FEEDBENCH_SOURCE_DIR/tests/servers
OPTIONS=() LOOK=() ONE=() FOLDER='' BACKEND=posix SOURCE=any SERVERS=0 UNDO=()

undo() { local i; for ((i = ${#UNDO[@]} - 1; i >= 0; i--)); do eval "${UNDO[i]}"; done; }
# serve SCRIPT NAME [VARIABLE=VALUE...] : starts a server below $WORK; skips the test where it cannot run here
serve() {
  local script=$1 dir=$WORK/$2 code; shift 2
  UNDO+=("'$SERVER_SCRIPTS/$script.sh' down '$dir'")
  env "$@" "$SERVER_SCRIPTS/$script.sh" up "$dir" >"$WORK/serve.txt" 2>&1; code=$?
  [ "$code" -ne 77 ] || skip "$(tail -n 1 "$WORK/serve.txt")"
  [ "$code" -eq 0 ] || { cat "$WORK/serve.txt"; fail "$script did not come up"; }
}
of_server() { sed -n "s/^$2=//p" "$WORK/$1/endpoint.env"; } # NAME KEY
# mount_here TYPE OPTIONS SOURCE : at $WORK/mnt, or skips
mount_here() {
  [ "$(id -u)" -eq 0 ] || skip "mounting needs root"
  mkdir -p "$WORK/mnt"
  mount -t "$1" -o "$2" "$3" "$WORK/mnt" 2>"$WORK/mount.txt" || skip "no mount of $1 here: $(head -n 1 "$WORK/mount.txt")"
  UNDO+=("umount '$WORK/mnt' || umount -l '$WORK/mnt'")
  FOLDER=$WORK/mnt/place URI=$FOLDER
}

# What is done behind feedbench's back; NAME is below $URI.
fetch() { cat "$FOLDER/$1"; }      # NAME : its bytes to stdout
store() { cat >"$FOLDER/$1"; }     # NAME : its bytes from stdin
drop() { rm "$FOLDER/$1"; }        # NAME
names() { (cd "$FOLDER" && find "$1" -type f 2>/dev/null | sort); } # FOLDER : all files below it, hidden ones too

row_posix() {
  # /tmp may be memory; the build folder is on a disk.
  FOLDER=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/backend.XXXXXX") || skip "the build folder cannot be written"
  UNDO+=("rm -rf '$FOLDER'")
  URI=$FOLDER
}
row_tmpfs() { mount_here tmpfs size=512m,nosuid feedbench-tmpfs; SOURCE=memory; }
row_overlayfs() {
  local layers; layers=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/backend.XXXXXX") || skip "the build folder cannot be written"
  UNDO+=("rm -rf '$layers'")
  mkdir "$layers/lower" "$layers/upper" "$layers/work"
  mount_here overlay "lowerdir=$layers/lower,upperdir=$layers/upper,workdir=$layers/work" overlay
}
row_ext4() {
  local image; image=$(mktemp "${FEEDBENCH_BINARY_DIR:-$PWD}/backend.XXXXXX") || skip "the build folder cannot be written"
  UNDO+=("rm -f '$image'")
  command -v mkfs.ext4 >/dev/null || skip "needs the package e2fsprogs"
  # Direct I/O below the loop device, or the disk's page cache would hold the image, and verdicts say so.
  local device
  truncate -s 512M "$image" && mkfs.ext4 -q "$image" && device=$(losetup --find --show --direct-io=on "$image" 2>"$WORK/loop.txt") ||
    skip "no loop device here: $(head -n 1 "$WORK/loop.txt")"
  UNDO+=("losetup -d '$device'")
  mount_here ext4 noatime "$device"
}
row_nfs() {
  serve nfs_ganesha nfs
  local exported; exported=$(of_server nfs EXPORTED)
  FOLDER=$exported/place BACKEND=nfs SOURCE=network SERVERS=1
  URI="nfs://127.0.0.1:$(of_server nfs NFS_PORT)$exported/place"
  OPTIONS=(-p "storage.storage_options.mountport=$(of_server nfs MOUNT_PORT)") LOOK=(--storage-option "mountport=$(of_server nfs MOUNT_PORT)")
}
row_gluster() {
  serve gluster gluster
  FOLDER=$(of_server gluster MOUNT)/place URI=$FOLDER SOURCE=network
}
row_mpiio() {
  row_posix
  URI=mpiio:$FOLDER BACKEND=mpiio ONE=("${MPIRUN[@]}" -n 1)
}
row_feedfs() {
  local place
  [ -w /dev/fuse ] && command -v fusermount3 >/dev/null || skip "needs /dev/fuse and the package fuse3"
  tool=$(dirname "$FEEDBENCH")/feedfs
  [ -x "$tool" ] || tool=${FEEDBENCH_BINARY_DIR:-.}/feedfs
  place=$(mktemp -d "${FEEDBENCH_BINARY_DIR:-$PWD}/backend.XXXXXX") || skip "the build folder cannot be written"
  UNDO+=("rm -rf '$place'")
  volume=$place/volume
  "$tool" mkfs "$volume" >"$WORK/serve.txt" 2>&1 || { cat "$WORK/serve.txt"; fail "feedfs mkfs"; }
  URI=feedfs:$volume/place BACKEND=feedfs
  # Behind feedbench's back: the other door, a mount for as long as it takes.
  mkdir "$WORK/mnt"
  through_mount() { # COMMAND... in the volume's folder "place"
    local code
    "$tool" mount "$volume" "$WORK/mnt" >"$WORK/mount.txt" 2>&1 </dev/null || { cat "$WORK/mount.txt"; fail "feedfs mount"; }
    (cd "$WORK/mnt/place" && "$@"); code=$?
    fusermount3 -u "$WORK/mnt" || fail "feedfs: the mount does not go away"
    # Its process publishes what was closed last before it ends.
    wait_until 10 eval '! pgrep -f "feedfs mount $volume " >/dev/null && ! grep -q " $WORK/mnt " /proc/mounts' || fail "feedfs mount does not end"
    return "$code"
  }
  UNDO+=("grep -q ' $WORK/mnt ' /proc/mounts && umount -l '$WORK/mnt'")
  write_stdin() { cat >"$1" && sync "$1"; } # synced, it is there for every other process
  fetch() { through_mount cat "$1"; }
  store() { cat >"$WORK/to_store"; through_mount write_stdin "$1" <"$WORK/to_store"; }
  drop() { through_mount rm "$1"; }
  names() { "$tool" ls -lR "$volume" "place/$1" 2>/dev/null | awk -v folder="$1" '/^-/ { print folder "/" $NF }' | sort; }
}

# Keys go through the environment, never through a command line. curl's own SigV4 does what is done behind feedbench's back.
s3_keys() { # NAME of the server
  export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
  unset AWS_PROFILE AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_CA_BUNDLE
  export AWS_SHARED_CREDENTIALS_FILE=/nonexistent AWS_CONFIG_FILE=/nonexistent
  AWS_ACCESS_KEY_ID=$(of_server "$1" ACCESS_KEY) AWS_SECRET_ACCESS_KEY=$(of_server "$1" SECRET_KEY)
  S3_BUCKET=$(of_server "$1" BUCKET) S3_DIRECT=$(of_server "$1" ENDPOINT)
  (umask 077; printf 'user = "%s:%s"\naws-sigv4 = "aws:amz:us-east-1:s3"\nheader = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\n' \
    "$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY" >"$WORK/curl.conf")
}
s3() { curl -sS -f -K "$WORK/curl.conf" --max-time 60 "$@"; }
# s3_place ENDPOINTS : everything goes there; files of the suite lie below s3://BUCKET/place
s3_place() {
  URI=s3://$S3_BUCKET/place BACKEND=s3 SOURCE=network
  OPTIONS=(-p "storage.storage_options.endpoint_url=$1") LOOK=(--storage-option "endpoint_url=$1")
  fetch() { s3 "$S3_DIRECT/$S3_BUCKET/place/$1"; }
  store() { cat >"$WORK/to_store"; s3 -T "$WORK/to_store" -o /dev/null "$S3_DIRECT/$S3_BUCKET/place/$1"; }
  drop() { s3 -X DELETE "$S3_DIRECT/$S3_BUCKET/place/$1"; }
  names() { # fewer than a page
    s3 "$S3_DIRECT/$S3_BUCKET?list-type=2&prefix=place%2F${1//\//%2F}%2F" | grep -o '<Key>[^<]*' | sed 's|<Key>place/||' | sort
  }
}
row_s3() {
  serve s3rver s3
  s3_keys s3
  s3_place "$S3_DIRECT"
  SERVERS=1
}
row_s3_tls() {
  serve s3rver s3
  s3_keys s3
  serve nginx tls "PROXY=$S3_DIRECT"
  serve nginx tls2 "PROXY=$S3_DIRECT"
  cat "$(of_server tls CA_CERT)" "$(of_server tls2 CA_CERT)" >"$WORK/ca.pem"
  s3_place "$(of_server tls ENDPOINT_TLS),$(of_server tls2 ENDPOINT_TLS)"
  OPTIONS+=(-p "storage.storage_options.ca_file=$WORK/ca.pem") LOOK+=(--storage-option "ca_file=$WORK/ca.pem")
  SERVERS=2
}
row_radosgw() {
  serve ceph_rgw rgw
  s3_keys rgw
  s3_place "$S3_DIRECT"
  SERVERS=1
}
