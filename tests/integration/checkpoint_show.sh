#!/usr/bin/env bash
# `feedbench show` of the checkpoint workloads: every file of every model against a computation of its own (S4), tables, JSON, bad input.
. "$(dirname "$0")/lib.sh"
lists=$FEEDBENCH_SOURCE_DIR/tests/data/checkpoints
bad() { # PATTERN ARGS... : one sentence, exit 2
  local pattern=$1; shift
  LIMIT=20 run "$FEEDBENCH" show "$@"; expect_status 2 "show $*"
  expect_said "^feedbench: error: " 1; expect_said "$pattern" 1
}

for model in 8b 70b 405b 1t; do
  LIMIT=20 run "$FEEDBENCH" show llama3_$model --files
  expect_status 0 "show llama3_$model --files"
  "$PYTHON" "$lists/file_list.py" $model >"$WORK/expected.csv" || fail "file_list.py"
  cmp "$WORK/out.txt" "$WORK/expected.csv" || fail "the files of $model differ from tests/data/checkpoints/file_list.py"
  [ ! -e "$lists/llama3_$model.csv" ] || cmp "$WORK/out.txt" "$lists/llama3_$model.csv" || fail "the files of $model differ from the kept list"
done
note "files: passed"

run "$FEEDBENCH" show llama3_405b --hosts 64 --MB-per-second 50000
expect_status 0
expect_said "in all +5292\.2487 GiB = model 756\.0149 \+ optimizer 4536\.2338" 1
expect_said "^  files +1544$" 1
expect_said "^  8-239 +5 .*a file a layer, its optimizer state" 1
expect_said "^  256-511 +1 .*its optimizer state" 1
expect_said "hosts x ranks +64 x 8" 1
expect_said "held by the fullest +.*which fits" 1
expect_said "needed at least +67 for the checkpoint alone; 512 take part" 1 # 5292.2 / 80
expect_said "^  ranks +512 +met" 1
expect_not_said "NOT met"
expect_said "one checkpoint +113\.7 s" 1 # 5682.5 GB / 50 GB/s
expect_said "all writes +1181\.5 s \(10 of them" 1
run "$FEEDBENCH" show llama3_8b --accelerators 1 -p model.scale=0.02
expect_status 0
expect_said "^  ranks +8 +NOT met: 1" 1
expect_said "model\.scale +0\.02: .*NOT comparable" 1
run "$FEEDBENCH" show llama3_8b --accelerators 1 --accelerator-memory-gb 40
expect_said "held by the fullest +104\.7029 GiB, which DOES NOT FIT" 1

run "$FEEDBENCH" show llama3_1t --json --MB-per-second 1000
expect_status 0
cp "$WORK/out.txt" "$WORK/1t.json"
expect_json "$WORK/1t.json" 'd["rank_count"] == 1024 and sum(r["rank_count"] for r in d["ranks"]) == 1024'
expect_json "$WORK/1t.json" 'd["bytes"] == sum(r["rank_count"] * (r["model_bytes_each"] + r["optimizer_bytes_each"]) for r in d["ranks"])'
expect_json "$WORK/1t.json" 'abs(d["time"]["one_checkpoint_s"] - d["bytes"] / 1e9) < 1e-6 and all(c["met"] for c in d["closed"])'
# Checkpoints inside training: an accelerator is a rank of theirs.
run "$FEEDBENCH" show unet3d_h100 --accelerators 4 --files
expect_status 0; expect_said "^0,model_states-0\.pt,499153191$" 1; [ "$(wc -l <"$WORK/out.txt")" -eq 2 ] || fail "more than one file"
run "$FEEDBENCH" show unet3d_h100 --accelerators 4 -p checkpoint.asynchronous=true
expect_said "bytes of one +499153191" 1; expect_said "after epoch 5, then every 2; training goes on" 1
note "tables: passed"

bad "63 ranks are not a multiple of model.parallelism tensor 8 x pipeline 1" llama3_70b --accelerators 63
bad "512 ranks do not lie evenly on 60 hosts" llama3_405b --hosts 60
bad "resnet50 writes no checkpoint|resnet50_h100 writes no checkpoint" resnet50_h100 --json -p workflow.checkpoint=False
bad "1000000000 ranks are more than the 1000000" llama3_8b --accelerators 1000000000
bad "hosts: '0' is not a number above 0" llama3_8b --hosts 0
bad "MB-per-second: '-3' is not a number above 0" llama3_8b --MB-per-second -3
bad "model.scale 1e-15 leaves no byte" llama3_8b -p model.scale=1e-15
bad "num_attention_heads is 5000, more than the 4096" llama3_8b -p model.transformer.num_attention_heads=5000
bad "pipeline is 33, but there are only 32 layers" llama3_8b -p model.parallelism.pipeline=33 -p model.parallelism.zero_stage=1
bad "asynchronous is on, but there is no training" llama3_8b -p checkpoint.asynchronous=true
bad "a rank would save 104\.7 GiB, but an accelerator of type h100 holds 80 GiB" llama3_8b --accelerators 1 \
  -p feedbench.accelerator=h100 -p workflow.train=true -p dataset.num_files_train=8
bad "mode subset.*needs model.parallelism.data|subset needs model.parallelism.data" llama3_8b -p checkpoint.mode=subset
note "bad input: passed"
