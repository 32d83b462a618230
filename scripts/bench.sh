#!/usr/bin/env bash
# Speed, as ratios to a yardstick that is measured in the same run on the same machine; exit 1 where a bound is missed.
#
#   scripts/bench.sh [PART...]      parts: one a file of scripts/bench.d/; default: all
#   BENCH_DISK=DIR (default build/bench) is the folder whose disk is measured, BENCH_RAM=DIR (default /dev/shm/feedbench-bench) the RAM disk's.
. "$(dirname "$0")/lib.sh"
. "$ROOT/scripts/bench_lib.sh"
case ${1:-} in -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
need_packages build bench || exit 1
build release feedbench bench_tools || exit 1
BIN=$ROOT/build/release
BENCH_DISK=${BENCH_DISK:-$ROOT/build/bench} BENCH_RAM=${BENCH_RAM:-/dev/shm/feedbench-bench}
mkdir -p "$BENCH_DISK" "$BENCH_RAM"
trap 'rm -rf "$BENCH_RAM"' EXIT

for file in "$ROOT"/scripts/bench.d/*.sh; do . "$file"; done

parts=("$@")
[ ${#parts[@]} -gt 0 ] || mapfile -t parts < <(declare -F | sed -n 's/^declare -f part_//p')
for part in "${parts[@]}"; do
  declare -F "part_$part" >/dev/null || die "no part called $part; parts: $(declare -F | sed -n 's/^declare -f part_//p' | paste -sd' ')"
  "part_$part"
done
print_rows
