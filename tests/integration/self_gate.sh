#!/usr/bin/env bash
# The project gates itself: its own cost on null: against the committed baseline; and 1.5 times that cost does not pass.
. "$(dirname "$0")/lib.sh"
export SELF_GATE_YARDSTICK="$FEEDBENCH_BINARY_DIR/self_gate_yardstick" SELF_GATE_KEEP="$WORK/kept"
LIMIT=200 run bash "$FEEDBENCH_SOURCE_DIR/scripts/self_gate.sh"
expect_status 0 "feedbench has become more expensive, or this machine cannot say: scripts/self_gate.sh"
expect_said 'feedbench gate: pass' 1
note "$(grep 'CPU per GB' "$WORK/out.txt" | tail -n 1)"

"$PYTHON" - "$SELF_GATE_KEEP" <<'PY' || fail "the results were not kept"
import glob, json, sys
names = glob.glob(sys.argv[1] + "/**/result.json", recursive=True)
assert len(names) >= 3, names
for name in names:
    d = json.load(open(name))
    for m in d["metrics"]:
        if m["key"] == "cpu_over_yardstick": m["value"] *= 1.5
    json.dump(d, open(name, "w"))
PY
run "$FEEDBENCH" gate --baseline self --baselines-dir "$FEEDBENCH_SOURCE_DIR/results/baselines" --candidate "$SELF_GATE_KEEP" \
  --policy "$FEEDBENCH_SOURCE_DIR/scripts/self_gate.yaml"
expect_status 1 "half as much CPU again must be found"
expect_said 'CPU per GB over yardstick: .* worse by' 1
