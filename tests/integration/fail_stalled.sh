#!/usr/bin/env bash
# Case F3: reads that never complete: after the stall time-out one message says what, where and which rank, then all stop; exit 3.
. "$(dirname "$0")/lib.sh"
make_small "$WORK/data"
# From its 20th read on, nothing comes back.
LIMIT=60 run_ranks 2 run "$(small_workload)" --data-dir "fault:stall=20+;inner=$WORK/data" --accelerators 2 \
  --results-dir "$WORK/results" --stall-timeout 3 "${SMALL[@]}"
expect_status 3 "stalled reads"
expect_said "rank [0-9]+.*img_[0-9]+_of_32\.npz"
expect_said "([Ss]tall|completed|outstanding)"
