#!/usr/bin/env bash
# S3 that misbehaves, through a proxy of our own: what must be survived, with the retries counted, and what must end in one sentence (cases
# O1-O5); wrong keys, bucket, region, certificate, clock; an endpoint that is not there or goes away. Exit 3, and nothing half-written looks whole.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/backend_rows.sh"
serve s3rver s3 BUCKETS="bench s3pytorchconnector"
s3_keys s3
serve fault_proxy proxy "UPSTREAM=$S3_DIRECT"
P=$(of_server proxy ENDPOINT) CONTROL=$(of_server proxy CONTROL)
s3_place "$P"
QUICK=(-p storage.storage_options.back_off_first=5ms -p storage.storage_options.back_off_most=50ms)
SET=("${SMALL[@]}" "${OPTIONS[@]}" "${QUICK[@]}")
DATA=(--data-dir "$URI/data")
rules() { curl -sS -f -X PUT --data "$1" "$CONTROL" >/dev/null || fail "the proxy does not take $1"; }
counted() { json_value <(curl -sS "$CONTROL") "$1"; } # expression over d
train() { # NAME OPTION... ; $result
  rm -rf "$WORK/results-$1"
  LIMIT=60 run "$FEEDBENCH" run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" -p reader.verify=content --allow-cached \
    --results-dir "$WORK/results-$1" "${@:2}"
  result=$(find "$WORK/results-$1" -name result.json 2>/dev/null)
}
endpoint='d["storages"][0]["endpoints"][0]'
refused() { # STATUS PATTERN : one sentence, and no key in it
  expect_status "$1" "$2"
  expect_said '^feedbench: error: ' 1
  expect_said "^feedbench: error: .*($2)" 1
  ! grep -r -q -F -e "$AWS_SECRET_ACCESS_KEY" "$WORK/out.txt" "$WORK/err.txt" || fail "the secret key was printed"
  [ -z "${result:-}" ] || expect_json "$result" 'd["valid"] is False and d["status"] == "failed"'
  result=
}

run "$FEEDBENCH" datagen unet3d_mini "${DATA[@]}" "${SET[@]}"; expect_status 0 "datagen"

# O1: one place, however it is written; DLIO's spelling too.
place=$(json_value <("$FEEDBENCH" list backends "s3://$S3_BUCKET/place/data" "${LOOK[@]}" --json) 'd["place"]')
for uri in "s3://$S3_BUCKET/place/data/" "s3://$S3_BUCKET/place/data//"; do
  [ "$(json_value <("$FEEDBENCH" list backends "$uri" "${LOOK[@]}" --json) 'd["place"]')" = "$place" ] || fail "O1: $uri is not $place"
done
for root in "$S3_BUCKET/place" "s3://$S3_BUCKET/place" "s3://$S3_BUCKET/place/"; do
  run "$FEEDBENCH" run unet3d_mini --accelerators 2 "${SET[@]}" -p storage.storage_type=s3 -p "storage.storage_root=$root" -p dataset.data_folder=data \
    -p train.epochs=1 --allow-cached --results-dir "$WORK/results-o1"
  expect_status 0 "O1: root $root"
  expect_not_said 's3://s3:'
  rm -rf "$WORK/results-o1"
done
note "O1: passed"

# DLIO's own S3 workload, as it is: bucket root, storage_type, keys in the file (which are not used), another endpoint.
official=$FEEDBENCH_SOURCE_DIR/../shared/corpus/workloads/dlio/unet3d_h100_s3.yaml
if [ -f "$official" ]; then
  FEW=(-p storage.storage_options.endpoint_url="$P" -p dataset.num_files_train=14 -p dataset.record_length_bytes=50000 -p train.epochs=1 -p train.computation_time=0.01)
  run "$FEEDBENCH" datagen "$official" "${FEW[@]}"; expect_status 0 "the official S3 workload: datagen"
  run "$FEEDBENCH" run "$official" "${FEW[@]}" --allow-cached --results-dir "$WORK/results-official"
  expect_status 0 "the official S3 workload"
  expect_json "$(result_dir "$WORK/results-official")/result.json" 'd["storages"][0]["place"] == "s3://s3pytorchconnector" and d["backend"] == "s3" and d["epochs"][0]["samples_proved"]'
  ! grep -r -q -e secret-key -e "$AWS_SECRET_ACCESS_KEY" "$WORK/results-official" || fail "a secret stands in a result"
  note "the official S3 workload: passed"
fi

# Survived: every byte is compared, and what was sent again is counted as what the proxy did.
survived() { # NAME CAUSES RULES OPTION...
  rules "$3"
  train "$1" "${@:4}"
  expect_status 0 "$1"
  faults=$(counted 'd["faults"]')
  [ "$faults" -gt 0 ] || fail "$1: the proxy did nothing"
  expect_json "$result" "d['valid'] and all(e['samples_proved'] for e in d['epochs']) and $endpoint['failed_request_count'] == 0"
  expect_json "$result" "$endpoint['retry_count'] == sum(r['count'] for r in $endpoint['retries'])"
  expect_json "$result" "$endpoint['retry_count'] == $faults"
  expect_json "$result" "{r['cause'] for r in $endpoint['retries']} <= set('$2'.split())"
  expect_json "$result" 'any(f["rule"] == "storage_retries" and f["verdict"] == "warning" for f in d["findings"])'
  note "$1: passed ($faults faults)"
}
survived reset "connection_lost" '[{"on":"get","every":5,"do":"reset"}]'
survived cut "connection_lost short_body" '[{"on":"get","every":4,"do":"cut"}]'
survived short "short_body" '[{"on":"get","every":7,"do":"short"}]'
survived storm "throttled" '[{"on":"any","every":2,"times":24,"do":"status"}]'
survived broken "server_error" '[{"on":"get","every":6,"do":"status","status":500,"code":"InternalError"}]'
survived hang "timed_out" '[{"on":"get","after":10,"times":2,"do":"hang","ms":30000}]' -p storage.storage_options.idle_timeout=1s -p train.epochs=1
rules '[{"on":"get","every":3,"do":"slow","pieces":4,"ms":30}]'
train slow -p train.epochs=1
expect_status 0 "slow bodies"
expect_json "$result" "$endpoint['retry_count'] == 0 and max(h['max_ns'] for h in $endpoint['histograms'] if h['key'] == 'time_to_last_byte') >= 90e6"
rules '[{"on":"get","key":"img_17_of_32","do":"flip"}]'
train flip
refused 3 'img_17_of_32\.npz.*offset [0-9]+' # nothing but the content itself can tell

# Past the limit: one sentence, soon.
rules '[{"on":"get","key":"img_17_of_32","do":"cut"}]'; train cut_always; refused 3 "img_17_of_32"
expect_json <(curl -sS "$CONTROL") 'd["faults"] >= 5' # all attempts were made
rules '[{"on":"any","do":"status"}]'; train storm_always; refused 3 "SlowDown|503"
note "past the limit: passed"

rules '[]'
# O2: names that mean something in a URL or in XML.
ODD="$URI/sp ace/+%25#/ü&<>=//x"
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$ODD" "${SET[@]}" -p dataset.num_files_train=4 -p "dataset.file_prefix=a b+%#ü&"
expect_status 0 "O2: datagen"
run "$FEEDBENCH" run unet3d_mini --data-dir "$ODD" "${SET[@]}" -p dataset.num_files_train=4 -p "dataset.file_prefix=a b+%#ü&" -p reader.verify=content \
  -p train.epochs=1 --allow-cached --results-dir "$WORK/results-o2"
expect_status 0 "O2: run"
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$ODD" "${SET[@]}" -p dataset.num_files_train=4 -p "dataset.file_prefix=a b+%#ü&"
expect_said '0 files written, 4 found finished' 1
note "O2: passed"

# O3: listings come one at a time, pages of them, and a refused one is asked again.
"$PYTHON" - "$WORK/s3/data/$S3_BUCKET/place/many/train" <<'PY' || fail "no objects behind the server's back"
import hashlib, json, os, sys
os.makedirs(sys.argv[1])
for i in range(2500):
    stem = f"{sys.argv[1]}/img_{i:04}_of_2500.raw"
    open(stem + "._S3rver_object", "wb").write(b"\0" * 1000)
    open(stem + "._S3rver_object.md5", "w").write(hashlib.md5(b"\0" * 1000).hexdigest())
    json.dump({"content-type": "binary/octet-stream"}, open(stem + "._S3rver_metadata.json", "w"))
PY
rules '[{"on":"list","at_once":1,"do":"status"},{"on":"list","every":2,"do":"status"}]'
run "${MPIRUN[@]}" -n 2 "$FEEDBENCH" adopt "$URI/many" "${LOOK[@]}" --storage-option back_off_first=5ms --samples-per-file 1 --check 4
expect_status 0 "O3: adopt"
expect_said '2500 files in train' 1
expect_json <(curl -sS "$CONTROL") 'd["most_lists_at_once"] == 1 and d["faults"] >= 2 and d["list"] >= 5'
note "O3: passed"

# O4, O5: refused PUTs are sent again and counted; past the limit the missing keys are listed, and no half of one is there.
make() { run "$FEEDBENCH" datagen unet3d_mini --data-dir "$URI/$1" "${SET[@]}" "${@:2}"; }
rules '[{"on":"put","every":10,"do":"status"}]'
make o4; expect_status 0 "O4"
expect_said "^  .* requests to $P: $(counted 'd["faults"]') sent again \($(counted 'd["faults"]') throttled\)" 1
rules '[{"on":"put","key":"img_(05|23)_of_32","do":"status"}]'
make o4b
expect_status 3 "O4, for ever"
expect_said '^feedbench: error: ' 1
expect_said 'are missing.*train/img_(05|23)_of_32\.npz'
names o4b >"$WORK/names.txt"
! grep -q -E 'img_(05|23)_of' "$WORK/names.txt" || fail "O4: an object that was refused is there"
run "$FEEDBENCH" run unet3d_mini --data-dir "$URI/o4b" "${SET[@]}" --results-dir "$WORK/results-o4b"
expect_status 2 "a dataset that is not finished"; expect_no_file "$WORK/results-o4b"
rules '[]'
make o4b; expect_status 0 "datagen goes on"
expect_said "$((32 - $(grep -c '_of_32' "$WORK/names.txt"))) files written, $(grep -c '_of_32' "$WORK/names.txt") found finished" 1
# Of several parts: one that is refused for ever ends the upload, and nothing is left of it.
PARTS=(-p dataset.num_files_train=2 -p dataset.record_length_bytes=14000000 -p storage.storage_options.part_size=5MiB)
rules '[{"on":"put","key":"partNumber=2","do":"reset"}]'
make parts "${PARTS[@]}"; expect_status 3 "a part that is refused"
[ "$(counted 'd.get("delete", 0)')" -ge 1 ] || fail "the uploads were not aborted"
[ -z "$(names parts | grep npz)" ] || fail "half an object is there: $(names parts)"
rules '[{"on":"put","key":"partNumber=2","times":2,"do":"reset"}]'
make parts "${PARTS[@]}"; expect_status 0 "parts"
# Read in several GETs: one whose ETag is that of another object was not read from the one that the others were.
rules '[{"on":"get","key":"parts/train","every":4,"do":"etag"}]'
DATA=(--data-dir "$URI/parts")
train etag "${PARTS[@]}" -p reader.batch_size=1
DATA=(--data-dir "$URI/data")
refused 3 'img_[01]_of_2\.npz.*replaced while it was being read'
note "O4, O5: passed"

# Wrong from the start: one sentence each.
rules '[]'
with() { result=; run env "$@" "$FEEDBENCH" run unet3d_mini --accelerators 2 "${SET[@]}" --results-dir "$WORK/results-wrong" "${WRONG[@]}"; expect_no_file "$WORK/results-wrong"; }
WRONG=("${DATA[@]}")
with AWS_SECRET_ACCESS_KEY=nonsense; refused 3 "secret key of .*signature"
with AWS_ACCESS_KEY_ID=NOBODY; refused 3 "does not know the access key"
with -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY; refused 2 "AWS_ACCESS_KEY_ID"
WRONG=(--data-dir "s3://nowhere/data"); with A=1; refused 3 "no bucket 'nowhere'"
WRONG=(--data-dir "$URI/elsewhere"); with A=1; refused 3 "elsewhere.*no dataset"
WRONG=("${DATA[@]}")
rules '[{"do":"region","region":"eu-west-1"}]'; with A=1; refused 3 "region 'us-east-1'.*'eu-west-1'"
rules '[{"do":"clock","seconds":7200}]'; with A=1; refused 3 "clock.*(7199|7200|7201) s apart.*behind"
rules '[]'
serve nginx tls "PROXY=$S3_DIRECT"
WRONG=("${DATA[@]}" -p "storage.storage_options.endpoint_url=$(of_server tls ENDPOINT_EXPIRED)" -p "storage.storage_options.ca_file=$(of_server tls CA_CERT_EXPIRED)")
with A=1; refused 3 "certificate.*expired"
WRONG=("${DATA[@]}" -p "storage.storage_options.endpoint_url=$(of_server tls ENDPOINT_TLS)")
with A=1; refused 3 "certificate"
WRONG=("${DATA[@]}" -p "storage.storage_options.endpoint_url=http://127.0.0.1:1")
with A=1; refused 3 "127\.0\.0\.1:1.*(refused|connect)"
note "wrong from the start: passed"

# F3: a server that takes requests and answers none, with patience without end: the watchdog says what is outstanding. F4: Ctrl-C.
rules '[{"on":"get","after":20,"do":"hang","ms":120000}]'
LIMIT=60 run "$FEEDBENCH" run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" -p storage.storage_options.idle_timeout=600s --stall-timeout 2 \
  --results-dir "$WORK/results-f3"
expect_status 3 "F3"
expect_said '^feedbench: error: no storage operation has completed for' 1
expect_said '^  (open|read) train/img_[0-9]+_of_32\.npz.*, for '
rules '[]'
launch "$FEEDBENCH" run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" -p train.epochs=1000 --allow-cached --results-dir "$WORK/results-f4"
wait_until 30 epoch_ended 2 "$WORK/results-f4" || fail "the run did not start"
kill -INT "$job"
settle 20
expect_status 130 "F4"
expect_json "$(result_dir "$WORK/results-f4")/result.json" 'd["status"] == "interrupted" and d["storages"][0]["endpoints"][0]["request_count"] > 64'
note "F3, F4: passed"

# An endpoint that goes away in the middle: all ranks stop, one sentence, a partial result that says so.
launch "${MPIRUN[@]}" -n 2 "$FEEDBENCH" run unet3d_mini --accelerators 2 "${DATA[@]}" "${SET[@]}" -p train.epochs=1000 --allow-cached \
  --results-dir "$WORK/results-dies"
wait_until 30 epoch_ended 2 "$WORK/results-dies" || fail "the run did not start"
"$SERVER_SCRIPTS/fault_proxy.sh" down "$WORK/proxy"
settle 30
result=$(result_dir "$WORK/results-dies")/result.json
expect_json "$result" "len(d['errors']) == 1 and $endpoint['failed_request_count'] >= 1 and sum(r['count'] for r in $endpoint['retries'] if r['cause'] in ('connect', 'connection_lost')) >= 1"
refused 3 "$P.*(refused|connect|lost|closed|reset)|(refused|connect|lost|closed|reset).*$P"
# While it is written: what is there is whole, the rest is not there.
serve fault_proxy proxy "UPSTREAM=$S3_DIRECT"
P=$(of_server proxy ENDPOINT) CONTROL=$(of_server proxy CONTROL)
rules '[{"on":"put","do":"slow","pieces":1,"ms":20}]'
DIES=("${SMALL[@]}" -p "storage.storage_options.endpoint_url=$P" "${QUICK[@]}" -p dataset.num_files_train=200)
launch "$FEEDBENCH" datagen unet3d_mini --data-dir "$URI/dies" "${DIES[@]}"
some_there() { [ "$(names dies | grep -c npz)" -ge 5 ]; }
wait_until 30 some_there || fail "datagen made no objects"
"$SERVER_SCRIPTS/fault_proxy.sh" down "$WORK/proxy"
settle 30
result=; refused 3 "dies/"
run "$FEEDBENCH" datagen unet3d_mini --data-dir "$URI/dies" "${DIES[@]}" -p "storage.storage_options.endpoint_url=$S3_DIRECT"
expect_status 0 "datagen goes on at the server itself"
run "$FEEDBENCH" run unet3d_mini --data-dir "$URI/dies" "${DIES[@]}" -p "storage.storage_options.endpoint_url=$S3_DIRECT" -p reader.verify=content \
  -p train.epochs=1 --allow-cached --results-dir "$WORK/results-after"
expect_status 0 "every byte is right"
! grep -r -l -F -e "$AWS_SECRET_ACCESS_KEY" "$WORK"/results-* || fail "the secret key stands in a result"
note "an endpoint that goes away: passed"
