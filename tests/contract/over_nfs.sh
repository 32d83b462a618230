#!/usr/bin/env bash
# over_nfs.sh CONTRACT-BINARY FOLDER : the contract tests of backends in a folder that an NFS server exports.
set -u
folder=$(mktemp -d "$2/contract_nfs.XXXXXX") || exit 1 # on a disk: the server's files need handles
server=$(dirname "$0")/../servers/nfs_ganesha.sh
trap '"$server" down "$folder/server" >/dev/null 2>&1; rm -rf "$folder"' EXIT
"$server" up "$folder/server" >"$folder/out.txt" 2>&1
code=$?
[ "$code" -eq 0 ] || { cat "$folder/out.txt"; exit "$code"; }
value() { sed -n "s/^$1=//p" "$folder/server/endpoint.env"; }
export FEEDBENCH_TEST_EXPORT FEEDBENCH_TEST_NFS
FEEDBENCH_TEST_EXPORT=$(value EXPORTED) FEEDBENCH_TEST_NFS="nfsport=$(value NFS_PORT)&mountport=$(value MOUNT_PORT)"
"$1" "backends:*" || { echo "FAILED: contracts of backends over NFS"; exit 1; }
