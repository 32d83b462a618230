#!/usr/bin/env bash
# Has feedbench itself become more expensive? Short runs on storage that costs nothing, held by `feedbench gate` against the committed baseline.
#
#   scripts/self_gate.sh [--baseline] [RUN-OPTION...]
#     --baseline    makes a new baseline in results/baselines/self instead (on a quiet machine; commit it)
#     RUN-OPTION    goes to `feedbench run`, e.g. -p reader.transfer_size=32768, which costs twice the CPU and is found
#   Environment: FEEDBENCH, SELF_GATE_YARDSTICK (binaries; default: those of build/release), SELF_GATE_TRIES (default 3)
#   Exit code: that of the gate. Machines are shared: what is not a pass is tried again, and counts when it stays so.
#
# Figures are divided by a yardstick measured between the runs, because machines differ; about 8 seconds.
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
feedbench=${FEEDBENCH:-$ROOT/build/release/feedbench} yardstick=${SELF_GATE_YARDSTICK:-$ROOT/build/release/self_gate_yardstick}
[ -x "$feedbench" ] && [ -x "$yardstick" ] || { need_packages build && build release feedbench self_gate_yardstick || exit 1; }
runs=4 baseline=no
if [ "${1:-}" = --baseline ]; then baseline=yes runs=7; shift; fi
export FEEDBENCH_CEILING_SECONDS=0 # what is measured here is the client already
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# measured FOLDER OPTION... : runs in FOLDER/1, FOLDER/2, ..., each with two rows more: its figures over those of the yardstick, which is
# the median of what was measured before, between and after the runs
measured() {
  local folder=$1 i; shift
  mkdir -p "$folder" && "$yardstick" 8000 50 10 >"$folder/yardstick.0" || return 1
  for i in $(seq "$runs"); do
    "$feedbench" run cosmoflow_mini --data-dir null: -a 8 --no-steps -p train.epochs=1 -p dataset.num_files_train=16000 -p reader.batch_size=16 \
      -p reader.transfer_size=65536 -p train.computation_time=0.008 -p workflow.checkpoint=False --results-dir "$folder/$i" "$@" \
      >"$work/run.txt" 2>&1 || { tail -n 5 "$work/run.txt" >&2; return 1; }
    "$yardstick" 8000 50 10 >"$folder/yardstick.$i" || return 1
  done
  python3 - "$folder" <<'PY'
import glob, json, statistics, sys
marks = [json.load(open(name)) for name in glob.glob(sys.argv[1] + "/yardstick.*")]
cpu = statistics.median(mark["cpu_s"] for mark in marks)
utilization = statistics.median(mark["utilization"] for mark in marks)
for name in glob.glob(sys.argv[1] + "/**/result.json", recursive=True):
    result = json.load(open(name))
    rows = {m["key"]: m["value"] for m in result["metrics"]}
    for key, value in (("cpu_over_yardstick", rows["cpu_s_per_GB_process"] / cpu), ("au_over_yardstick", rows["au_mean_percentage"] / 100 / utilization)):
        result["metrics"].append({"key": key, "unit": "", "value": value, "reason": "", "formula": "over_yardstick"})
    json.dump(result, open(name, "w"))
PY
}

for try in $(seq "${SELF_GATE_TRIES:-3}"); do
  measured "$work/$try" "$@" || die "a run failed"
  if [ "$baseline" = yes ]; then
    (cd "$work/$try" && "$feedbench" baseline add $(seq "$runs") --system self --by "scripts/self_gate.sh --baseline" --baselines-dir "$ROOT/results/baselines" \
      --note "feedbench's own cost on null:, beside a yardstick; docs/gate.md")
    exit
  fi
  "$feedbench" gate --baseline self --baselines-dir "$ROOT/results/baselines" --candidate "$work/$try" --policy "$ROOT/scripts/self_gate.yaml"
  code=$?
  [ "$code" -ne 0 ] || exit 0
  say "self gate: exit code $code in try $try"
done
exit "$code"
