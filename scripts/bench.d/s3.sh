# GETs from a static HTTP server on loopback (nginx: its files lie in memory, it looks at no signature): large objects beside curl with as
# many connections, small ones beside wrk. Server, yardstick and feedbench share the machine's cores in turn.
part_s3() {
  local www=$BENCH_RAM/s3 server=$BENCH_RAM/s3-server status
  mkdir -p "$www/bucket"
  dataset "$www/bucket/big" unet3d_h100 "${S3_BIG[@]}" || return 1
  dataset "$www/bucket/small" resnet50_h100 "${S3_SMALL[@]}" || return 1
  WWW=$www "$ROOT/tests/servers/nginx.sh" up "$server" >/dev/null || return 1
  s3_rows "$(sed -n 's/^ENDPOINT=//p' "$server/endpoint.env")"
  status=$?
  "$ROOT/tests/servers/nginx.sh" down "$server" >/dev/null
  rm -rf "$www"
  return "$status"
}
S3_CONNECTIONS=4
# One epoch of many files, as curl gets them in one go: at the end of each epoch all but the last connection are idle.
S3_BIG=(-p dataset.num_files_train=36 -p dataset.record_length_bytes=140000000 -p dataset.record_length_bytes_stdev=0 -p workflow.checkpoint=false
  -p reader.batch_size=1 -p reader.read_threads=$S3_CONNECTIONS)
S3_SMALL=(-p dataset.num_samples_per_file=1 -p dataset.num_files_train=4000 -p framework=pytorch -p reader.data_loader=pytorch
  -p reader.batch_size=20 -p reader.read_threads=8 -p dataset.format=raw)
s3_rows() {
  local endpoint=$1 try result curl ours_rate=0 curl_rate=0 ours_cpu=1e300 curl_cpu=1e300 ours_requests=0 wrk_requests=0
  local -x AWS_ENDPOINT_URL=$endpoint AWS_ACCESS_KEY_ID=bench AWS_SECRET_ACCESS_KEY=bench AWS_REGION=us-east-1
  settle
  for try in 1 2 3; do
    curl=$(curl_read "$endpoint") || return 1
    curl_rate=$(calc "max($curl_rate,$(json - 'd["MB_per_second"]' <<<"$curl"))")
    curl_cpu=$(calc "min($curl_cpu,$(json - 'd["cpu_s_per_GB"]' <<<"$curl"))")
    result=$(run_result "$BIN/feedbench" run unet3d_h100 "${S3_BIG[@]}" -p train.epochs=1 -p train.computation_time=0 --no-steps \
      --data-dir s3://bucket/big) || return 1
    ours_rate=$(calc "max($ours_rate,$(metric "$result" delivered_MB_per_second))")
    ours_cpu=$(calc "min($ours_cpu,$(metric "$result" cpu_s_per_GB_process))")
    wrk_requests=$(calc "max($wrk_requests,$(wrk_requests "$endpoint"))")
    result=$(run_result "$BIN/feedbench" run resnet50_h100 "${S3_SMALL[@]}" -p train.epochs=5 -p train.computation_time=0 --no-steps \
      --data-dir s3://bucket/small) || return 1
    ours_requests=$(calc "max($ours_requests,$(metric "$result" samples_per_second_whole_epochs))")
  done
  ratio "s3, GETs of 140 MB, $S3_CONNECTIONS connections, rate beside curl --parallel" "$ours_rate" "$curl_rate" MB/s ge 0.95
  ratio "s3, GETs of 140 MB, $S3_CONNECTIONS connections, CPU beside curl --parallel" "$ours_cpu" "$curl_cpu" "CPU s/GB" le 1.2
  ratio "s3, objects of 114 KB, 8 connections, beside wrk" "$ours_requests" "$wrk_requests" "requests/s" ge 0.80
}
# curl_read ENDPOINT : all large objects, into /dev/null; prints JSON
curl_read() {
  python3 - "$1" "$S3_CONNECTIONS" <<'END'
import json, resource, subprocess, sys, time
endpoint, connections = sys.argv[1], sys.argv[2]
urls = [f"{endpoint}/bucket/big/train/img_{i:02}_of_36.npz" for i in range(36)]
command = ["curl", "-sS", "--no-progress-meter", "--fail", "--parallel", "--parallel-max", connections, "-w", "%{size_download}\n"]
for url in urls:
    command += ["-o", "/dev/null", url]
begin = time.monotonic()
done = subprocess.run(command, check=True, capture_output=True, text=True)
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
gigabytes = sum(int(line) for line in done.stdout.split()) / 1e9
print(json.dumps({"MB_per_second": 1000 * gigabytes / wall, "cpu_s_per_GB": (used.ru_utime + used.ru_stime) / gigabytes}))
END
}
# wrk_requests ENDPOINT : requests/s over all small objects
wrk_requests() {
  local script; script=$(mktemp "$BENCH_RAM/wrk.XXXXXX")
  printf '%s\n' 'local n = 0' \
    'request = function() n = (n + 1) % 4000; return wrk.format("GET", string.format("/bucket/small/train/img_%04d_of_4000.raw", n)) end' >"$script"
  wrk -t1 -c8 -d3s -s "$script" "$1" | awk '/Non-2xx/ { exit 1 } /^Requests\/sec/ { print $2 }'
  rm -f "$script"
}
