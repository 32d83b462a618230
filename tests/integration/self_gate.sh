#!/usr/bin/env bash
# The project gates itself: its own cost on null: against the committed baseline; and 1.5 times that cost does not pass.
. "$(dirname "$0")/lib.sh"
export SELF_GATE_YARDSTICK="$FEEDBENCH_BINARY_DIR/self_gate_yardstick"
LIMIT=200 run bash "$FEEDBENCH_SOURCE_DIR/scripts/self_gate.sh"
expect_status 0 "feedbench has become more expensive, or this machine cannot say: scripts/self_gate.sh"
expect_said 'feedbench gate: pass' 1
note "$(grep 'CPU per GB' "$WORK/out.txt" | tail -n 1)"

# The committed baseline, half as dear again: found, whatever this machine does at the moment.
baseline=$(find "$FEEDBENCH_SOURCE_DIR/results/baselines/self" -name '*.json' | sort | tail -n 1)
"$PYTHON" - "$baseline" "$WORK/dearer.json" <<'PY' || fail "not the rows that the self gate adds"
import json, sys
d = json.load(open(sys.argv[1]))
rows = [f for run in d["runs"] for f in run["figures"] if f["key"] == "cpu_over_yardstick"]
assert len(rows) == len(d["runs"]) >= 5, len(rows)
for row in rows: row["value"] *= 1.5
json.dump(d, open(sys.argv[2], "w"))
PY
run "$FEEDBENCH" gate --baseline "$baseline" --candidate "$WORK/dearer.json" --policy "$FEEDBENCH_SOURCE_DIR/scripts/self_gate.yaml"
expect_status 1 "half as much CPU again must be found"
expect_said 'CPU per GB over yardstick: .* worse by 50.0 %' 1
