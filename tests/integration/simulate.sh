#!/usr/bin/env bash
# feedbench simulate: reports, curves, results, the same numbers for a seed, a fit, and one sentence for each wrong input.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

cat >w.yaml <<'YAML'
model: {name: simulated}
framework: pytorch
workflow: {train: True}
dataset: {data_folder: "null:", format: npz, num_files_train: 800, num_samples_per_file: 1, record_length_bytes: 1000000}
reader: {data_loader: pytorch, batch_size: 4, read_threads: 4, file_shuffle: seed}
train: {epochs: 1, computation_time: 0.05}
YAML
MODEL='model:bandwidth=300MB,latency=2ms,latency_p99=5ms,link=200MB,hosts=4,cached=0.1'

"$FEEDBENCH" simulate w.yaml --storage "$MODEL" -a 8 >report.txt
grep -q '^SIMULATED, nothing was measured' report.txt || fail "the report is not labelled: $(head -n 2 report.txt)"
grep -q '  AU  ' report.txt || fail "no AU in the report"
[ ! -e feedbench-results ] || fail "a simulation wrote results that nobody asked for"

# The same numbers again; others with another seed.
curve() { "$FEEDBENCH" simulate w.yaml --storage "$MODEL" -a 1,2,4-8:2 --steps 20 "$@" | grep -v '^SIMULATED'; }
curve >one.txt; curve >two.txt; curve --seed 2 >other.txt
cmp one.txt two.txt || fail "two simulations of one seed differ"
! cmp -s one.txt other.txt || fail "another seed gave the same numbers"
[ "$(awk '$1 ~ /^[0-9]+$/ { print $1 }' one.txt | paste -sd' ')" = "1 2 4 6 8" ] || fail "not the curve that was asked for: $(cat one.txt)"

# A result with the curve, which the schema's reader takes back as a fit.
"$FEEDBENCH" simulate w.yaml --storage 'model:bandwidth=300MB,latency=2ms' -a 4,16 --results-dir R >/dev/null
result=$(find R -name result.json)
python3 - "$result" <<'PY' || fail "not the result that was asked for"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["virtual_time"] is True and d["status"] == "complete", d["status"]
assert [p["accelerator_count"] for p in d["scaling"]] == [4, 16]
assert d["scaling"][0]["au_percentage"] > d["scaling"][1]["au_percentage"]
PY
"$FEEDBENCH" simulate w.yaml --fit "$result" --fit-only >fit.txt || fail "no fit: $(cat fit.txt)"
uri=$(awk '$1 ~ /^model:/ { print $1 }' fit.txt)
[[ $uri == model:*bandwidth=* ]] || fail "no bandwidth was fitted: $(cat fit.txt)"
"$FEEDBENCH" simulate w.yaml --storage "$uri" -a 16 >/dev/null || fail "the printed model is none: $uri"
"$FEEDBENCH" simulate unet3d_h100 --storage model:latency=1ms -a 1000 --steps 2 --coarse >/dev/null || fail "checkpoints need real storage"

# One sentence and exit code 2 for each wrong input.
refused() {
  local wanted=$1 code=0; shift
  "$FEEDBENCH" simulate "$@" >out.txt 2>err.txt || code=$?
  [ "$code" = 2 ] || fail "exit code $code, expected 2: simulate $*: $(cat err.txt)"
  [ "$(wc -l <err.txt)" = 1 ] || fail "not one sentence: $(cat err.txt)"
  grep -qF -- "$wanted" err.txt || fail "simulate $*: expected '$wanted' in: $(cat err.txt)"
}
refused "needs --storage 'model:" w.yaml
refused "'/tmp' is real" w.yaml --storage /tmp
refused "is real" w.yaml --storage 'fault:error=EIO@3;inner=/tmp'
refused "is real" w.yaml --storage model: -p workflow.checkpoint=true -p checkpoint.checkpoint_folder=/tmp/c
refused "has no option 'bandwith'" w.yaml --storage model:bandwith=1GB
refused "latency_p99" w.yaml --storage model:latency_p99=1ms
refused "0 accelerators" w.yaml --storage model: -a 0
refused "'two' is no count" w.yaml --storage model: -a 1,two
refused "empty range" w.yaml --storage model: -a 8-4
refused "too few samples" w.yaml --storage model: -a 100000
refused "takes the storage from a result" w.yaml --storage model: --fit "$result"
refused "nothing.json" w.yaml --fit nothing.json
refused "--fit-only" w.yaml --storage model: --fit-only
echo '{"schema_version": 2}' >half.json
refused "half.json" w.yaml --fit half.json
echo 'no json' >none.json
refused "none.json" w.yaml --fit none.json
sed 's/"status": "complete"/"status": "interrupted"/' "$result" >cut.json
refused "the run is interrupted" w.yaml --fit cut.json
refused "side by side" w.yaml --storage model: --coarse -p reader.data_loader=native
