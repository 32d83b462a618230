#!/usr/bin/env bash
# Each verdict by a real run that causes it: the runs of docs/trust.md. Reports and trimmed results go to results/trust/.
#
#   scripts/trust.sh [NAME...]      default: all; names as in results/trust/
#
# Takes about a minute and 250 MB below build/trust on the filesystem of this clone, which must be on a disk. On a quiet machine, please.
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
need_packages build || exit 1
build release feedbench || exit 1
feedbench=$ROOT/build/release/feedbench work=$ROOT/build/trust out=$ROOT/results/trust
data=$work/data failed=0
mkdir -p "$work" "$out"
say "generating 246 MB in $data"
quietly "$ROOT/build/log/trust-datagen.txt" "$feedbench" datagen unet3d_mini --data-dir "$data" || exit $?
"${CC:-cc}" -shared -fPIC -O1 -o "$work/slow_clock.so" "$ROOT/tests/support/slow_clock.c" -ldl || exit 1
two=("${MPIRUN[@]}" -n 2 "$feedbench" run unet3d_mini --accelerators 2 -p workflow.checkpoint=False)
only=" $* "
wanted() { [ "$only" = "  " ] || case $only in *" $1 "*) true ;; *) false ;; esac; }

# shown NAME EXIT-CODE VERDICT COMMAND... : runs it, keeps report and result, says whether it was as docs/trust.md has it
shown() {
  local name=$1 code=$2 verdict=$3 status result; shift 3
  rm -rf "$work/results/$name"
  "$@" --results-dir "$work/results/$name" >"$work/$name.txt" 2>"$work/$name.log"; status=$?
  result=$(find "$work/results/$name" -name result.json)
  { echo "\$ $(echo "$* --results-dir build/trust/results/$name" | sed "s#$ROOT/##g")"; sed "s#$ROOT/##g" "$work/$name.txt"; echo "exit code $status"; } >"$out/$name.txt"
  python3 - "$result" "$out/$name.json" "$verdict" "$ROOT" <<'PY' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
for part in [d] + d["epochs"] + [h for e in d["epochs"] for h in e["hosts"]]: part.pop("histograms", None)
for key in ("slices", "config"): d.pop(key, None)
for epoch in d["epochs"]: epoch.pop("blocks"), epoch.pop("metrics")
if len(d["epochs"]) > 6: d["epochs"] = d["epochs"][:3] + d["epochs"][-3:]
open(sys.argv[2], "w").write(json.dumps(d, indent=1).replace(sys.argv[4] + "/", ""))
print(f"{sys.argv[3]:>18} asked, {d['verdict']:>18} found")
sys.exit(d["verdict"] != sys.argv[3])
PY
  [ "$status" -eq "$code" ] || { echo "$name: exit code $status, expected $code"; failed=1; }
}

wanted storage_bound && shown storage_bound 0 storage-bound "${two[@]}" --data-dir "$data" -p train.epochs=5
wanted storage_bound_simulated && shown storage_bound_simulated 0 storage-bound "$feedbench" run unet3d_mini --accelerators 64 --virtual-time \
  --data-dir "model:bandwidth=1G,latency=1ms" -p dataset.num_files_train=4480 -p train.epochs=2 -p workflow.checkpoint=False
wanted accelerator_bound && shown accelerator_bound 0 accelerator-bound "${two[@]}" --data-dir "$data" -p train.epochs=2 -p train.computation_time=0.5
cat "$data"/train/* >/dev/null
wanted cached && shown cached 4 cached "${two[@]}" --data-dir "$data" -p train.epochs=2 -p train.computation_time=0.5 -p reader.drop_cache=off
if wanted client_bound; then # on one CPU that six busy loops of a higher priority keep busy
  burners=()
  for _ in 1 2 3 4 5 6; do taskset -c 0 bash -c 'while :; do :; done' & burners+=($!); done
  shown client_bound 0 client-bound taskset -c 0 nice -n 10 "${two[@]}" --data-dir "$data" -p train.epochs=2 -p train.computation_time=0.02
  { kill "${burners[@]}"; wait "${burners[@]}"; } 2>/dev/null
fi
if wanted implausible; then # the clock fails while it runs
  rm -f "$work/now"; (sleep 2; : >"$work/now") &
  shown implausible 4 implausible env SLOW_CLOCK_WHEN="$work/now" SLOW_CLOCK_FOR_S=5 SLOW_CLOCK_FACTOR=2000 LD_PRELOAD="$work/slow_clock.so" \
    "$feedbench" run unet3d_mini --data-dir "$data" -p workflow.checkpoint=False -p train.computation_time=0 -p train.epochs=60 -p dataset.num_files_train=28 --ceiling-seconds 0
  wait
fi
wanted inconclusive && shown inconclusive 0 inconclusive "${two[@]}" --data-dir null: -p dataset.num_files_train=14 -p train.epochs=2 -p train.computation_time=0.5
if memory=$(mktemp -d /dev/shm/feedbench-trust.XXXXXX 2>/dev/null); then
  trap 'rm -rf "$memory"' EXIT
  cp -r "$data"/. "$memory"
  wanted memory && shown memory 0 accelerator-bound "${two[@]}" --data-dir "$memory" -p train.epochs=2 -p train.computation_time=0.5
  sed -i "s#$memory#/dev/shm/data#g" "$out"/memory.*
fi
exit $failed
