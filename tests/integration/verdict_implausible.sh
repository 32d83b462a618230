#!/usr/bin/env bash
# `implausible`, by a clock that fails in the middle of a run (tests/support/slow_clock.c, preloaded): bytes seem to arrive faster than the memory
# that was measured before can take them. Without it the same run contradicts nothing.
. "$(dirname "$0")/lib.sh"
cc=$(command -v cc || command -v gcc) || skip "no C compiler"
"$cc" -shared -fPIC -O1 -o "$WORK/slow_clock.so" "$FEEDBENCH_SOURCE_DIR/tests/support/slow_clock.c" -ldl || fail "slow_clock.c does not compile"
make_small "$WORK/data"
export FEEDBENCH_CEILING_SECONDS=0 # what is to fail here is the clock of the run
# Direct, and nothing that waits by the clock: no thinking, no dropping.
load=(run "$(small_workload)" --data-dir "$WORK/data" "${SMALL[@]}" -p train.computation_time=0 -p reader.drop_cache=off -p reader.odirect=True)
run "$FEEDBENCH" "${load[@]}" --results-dir "$WORK/sound"
[ "$STATUS" -ne 3 ] || skip "O_DIRECT is refused here"
expect_status 0 "a clock that works"
expect_json "$(result_dir "$WORK/sound")/result.json" 'd["valid"] and d["verdict"] != "implausible"'
note "a clock that works: passed"

export SLOW_CLOCK_WHEN=$WORK/now SLOW_CLOCK_FOR_S=1.5 SLOW_CLOCK_FACTOR=2000
launch env LD_PRELOAD="$WORK/slow_clock.so" "$FEEDBENCH" "${load[@]}" -p train.epochs=120 --results-dir "$WORK/slow"
wait_until 60 epoch_ended 2 "$WORK/slow" || fail "the run did not start"
: >"$WORK/now"
settle 100
case $(cat "$WORK/err.txt") in *LeakSanitizer* | *"ASan runtime"*) skip "sanitizers do not like to be preloaded over" ;; esac
expect_status 4 "a clock that fails"
expect_said "^VERDICT implausible" 1
expect_said "^feedbench: not valid: implausible: " 1
result=$(result_dir "$WORK/slow")/result.json
expect_json "$result" 'd["verdict"] == "implausible" and not d["valid"] and d["findings"][-1]["evidence"]'
# Both numbers, in words and in fields.
facts='{m["key"]: m["value"] for f in d["findings"] if f["rule"] == "implausible" for m in f["facts"]}'
expect_json "$result" "(lambda f: f['delivered_MB_per_second'] > 1.02 * f['memory_MB_per_second'] > 0)($facts)"
expect_json "$result" 'any("were delivered into a memory that was measured to give" in f["evidence"] for f in d["findings"])'
note "a clock that fails: passed"
