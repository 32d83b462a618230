#!/usr/bin/env bash
# Fails when the storage has become slower: some runs now, held against the baseline of this system. The first time there is no
# baseline yet; then these runs become it.
#
#   DATA_FOLDER=/mnt/nas/feedbench SYSTEM=lab-nas docs/examples/storage_gate.sh
#
# Environment, with defaults: FEEDBENCH feedbench · WORKLOAD unet3d_mini · ACCELERATORS 4 · RUNS 5 · POLICY default ·
#   BASELINES results/baselines · REPORTS gate-reports · OPTIONS (of datagen and run) · RUN_OPTIONS (of run)
# Exit code: 0 pass, or the first time; 1 regressed; 4 not comparable, not enough data, or a run that is not valid (cached, say).
set -euo pipefail
: "${DATA_FOLDER:?a folder on the storage under test}" "${SYSTEM:?a name for the storage under test}"
feedbench=${FEEDBENCH:-feedbench} workload=${WORKLOAD:-unet3d_mini} reports=${REPORTS:-gate-reports}
baselines=(--baselines-dir "${BASELINES:-results/baselines}")
read -r -a options <<<"${OPTIONS:-}"
read -r -a run_options <<<"${RUN_OPTIONS:-}"

mkdir -p "$reports"
rm -rf "$reports/runs"
# Makes what is missing of the dataset: nothing, from the second time on. A URI such as model: has no files.
case $DATA_FOLDER in
  *:*) ;;
  *) "$feedbench" datagen "$workload" --data-dir "$DATA_FOLDER" "${options[@]}" ;;
esac
for i in $(seq "${RUNS:-5}"); do
  "$feedbench" run "$workload" --data-dir "$DATA_FOLDER" --accelerators "${ACCELERATORS:-4}" --results-dir "$reports/runs/$i" --no-steps \
    "${options[@]}" "${run_options[@]}" >>"$reports/runs.txt"
done

if ! "$feedbench" baseline show "$SYSTEM" "${baselines[@]}" >/dev/null 2>&1; then
  echo "no baseline of $SYSTEM yet: these runs become it"
  exec "$feedbench" baseline add "$reports/runs" --system "$SYSTEM" "${baselines[@]}"
fi
exec "$feedbench" gate --baseline "$SYSTEM" --candidate "$reports/runs" --policy "${POLICY:-default}" "${baselines[@]}" \
  --junit "$reports/gate.xml" --markdown "$reports/gate.md" --json "$reports/gate.json"
