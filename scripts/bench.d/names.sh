# Start-up on a namespace of 10 million computed names: S3 by HTTP, one file that answers to every name; what is looked at is bounded.
names_run() { # COUNT : a whole run of 8 steps over so many names; sets $wall and $rss (bytes)
  local result
  sed "s/\"num_files_train\": [0-9]*/\"num_files_train\": $1/; s/\"num_subfolders_train\": [0-9]*/\"num_subfolders_train\": 1000/" \
    "$folder/manifest.json" >"$folder/www/bucket/names/feedbench-manifest.json"
  local start; start=$(date +%s.%N)
  result=$(run_result env AWS_ENDPOINT_URL="$endpoint" "$BIN/feedbench" run unet3d_mini -a 2 --data-dir s3://bucket/names "${same[@]}" \
    -p dataset.num_files_train="$1" -p dataset.num_subfolders_train=1000 -p storage.storage_options.anonymous=true -p train.total_training_steps=8 -p train.epochs=1) || return 1
  wall=$(calc "$(date +%s.%N)-$start")
  rss=$(json "$result" 'max(h["peak_rss_bytes"] for h in d["hosts"])')
  [ "$(json "$result" 'd["status"]')" = complete ] || return 1
}
part_names() {
  local folder=$BENCH_RAM/names endpoint wall rss small
  local same=(-p dataset.record_length_bytes=20000 -p dataset.record_length_bytes_stdev=0 -p reader.batch_size=1 -p reader.verify=header
    -p train.computation_time=0.001 -p workflow.checkpoint=False)
  mkdir -p "$folder/www/bucket/names" || return 1
  dataset "$folder/data" unet3d_mini "${same[@]}" -p dataset.num_files_train=8 || return 1
  cp "$folder/data/feedbench-manifest.json" "$folder/manifest.json"
  cp "$(find "$folder/data/train" -name '*.npz' | head -n 1)" "$folder/www/one.npz"
  env WWW="$folder/www" RULES='location /bucket/names/train/ { rewrite .* /one.npz break; }' \
    "$ROOT/tests/servers/nginx.sh" up "$folder/nginx" >/dev/null || return 1
  endpoint=$(sed -n 's/^ENDPOINT=//p' "$folder/nginx/endpoint.env")
  names_run 10000; small=$rss
  local try best=1e300
  for try in 1 2 3; do names_run 10000000 && best=$(calc "min($best,$wall)"); done
  "$ROOT/tests/servers/nginx.sh" down "$folder/nginx"
  bound "s3, 10 million computed names: from start to the end of 8 steps" "$best" s le 5
  bound "the same, peak memory over that of 10 thousand names" "$(calc "max(0,$rss-$small)/2**20")" MiB le 64
  bound "the same, peak memory in all, landing buffers and the library included" "$(calc "$rss/2**20")" MiB le 320
  rm -rf "$folder"
}
