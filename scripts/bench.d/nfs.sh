# Reading from nfs-ganesha on loopback: 8 files of 128 MiB beside libnfs's own nfs-cp, which copies them one after another to a RAM disk, for it
# takes no device (fio as Debian builds it has no nfs engine). The files lie in the server's page cache. Server, yardstick and feedbench share the machine's cores.
part_nfs() {
  local server status
  server=$(mktemp -d "$BENCH_DISK/nfs.XXXXXX") # on a disk: the server wants files with handles
  "$ROOT/tests/servers/nfs_ganesha.sh" up "$server/server" >/dev/null || return 1
  nfs_rows "$server/server"
  status=$?
  "$ROOT/tests/servers/nfs_ganesha.sh" down "$server/server" >/dev/null
  rm -f "$BENCH_RAM/copy"
  rm -rf "$server"
  return "$status"
}
nfs_rows() {
  local server=$1 try i result ours=0 ours_cpu=1e300 small=0 theirs=0 theirs_cpu=1e300 port mount exported uri
  port=$(sed -n 's/^NFS_PORT=//p' "$server/endpoint.env") mount=$(sed -n 's/^MOUNT_PORT=//p' "$server/endpoint.env")
  exported=$(sed -n 's/^EXPORTED=//p' "$server/endpoint.env")
  mkdir "$exported/big" || return 1
  for i in 0 1 2 3 4 5 6 7; do head -c 134217728 /dev/urandom >"$exported/big/$i" || return 1; done
  uri="nfs://127.0.0.1:$port$exported/big?mountport=$mount"
  settle
  for try in 1 2 3; do
    result=$(nfs_cp_read "$exported" "$port" "$mount") || return 1
    theirs=$(calc "max($theirs,$(json - 'd["MB_per_second"]' <<<"$result"))")
    theirs_cpu=$(calc "min($theirs_cpu,$(json - 'd["cpu_s_per_GB"]' <<<"$result"))")
    result=$("$BIN/bench_backend_loop" --mode open_pread --depth 8 --block 1048576 --loops 2 "$uri") || return 1
    ours=$(calc "max($ours,$(json - 'd["rate_MB_per_second"]' <<<"$result"))")
    ours_cpu=$(calc "min($ours_cpu,$(json - 'd["cpu_s_per_GB"]' <<<"$result"))")
    result=$("$BIN/bench_backend_loop" --mode open_pread --depth 8 --block 262144 --loops 2 "$uri") || return 1
    small=$(calc "max($small,$(json - 'd["rate_MB_per_second"]' <<<"$result"))")
  done
  ratio "nfs, reads of 1 MiB, 4 connections, beside nfs-cp" "$ours" "$theirs" MB/s ge 0.90
  ratio "nfs, reads of 256 KiB, 4 connections, beside nfs-cp" "$small" "$theirs" MB/s ge 0.90
  ratio "nfs, reads of 1 MiB, CPU of the client beside nfs-cp" "$ours_cpu" "$theirs_cpu" "CPU s/GB" le 1.2
}
# nfs_cp_read EXPORTED PORT MOUNT-PORT : all files twice into one file in memory; prints JSON
nfs_cp_read() {
  python3 - "$@" "$BENCH_RAM/copy" <<'END'
import json, os, resource, subprocess, sys, time
exported, port, mount, target = sys.argv[1:]
begin = time.monotonic()
for i in list(range(8)) * 2:
    if os.path.exists(target):
        os.remove(target)  # it makes its target itself
    subprocess.run(["nfs-cp", f"nfs://127.0.0.1{exported}/big/{i}?version=3&nfsport={port}&mountport={mount}", target],
                   check=True, stdout=subprocess.DEVNULL)
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
gigabytes = 16 * 134217728 / 1e9
print(json.dumps({"MB_per_second": 1000 * gigabytes / wall, "cpu_s_per_GB": (used.ru_utime + used.ru_stime) / gigabytes}))
END
}
