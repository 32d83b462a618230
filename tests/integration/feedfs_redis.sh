#!/usr/bin/env bash
# feedfs with its metadata in Redis, which is killed in the middle of load and comes back: a clear error, nothing half there, and it goes on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feedfs_lib.sh"

SERVER=$FEEDBENCH_SOURCE_DIR/tests/servers/redis.sh
PERSIST=always bash "$SERVER" up "$WORK/redis" >"$WORK/redis.env" 2>"$WORK/redis.err"
case $? in 0) ;; 77) skip "$(cat "$WORK/redis.err")" ;; *) fail "redis: $(cat "$WORK/redis.err")" ;; esac
undo() { bash "$SERVER" down "$WORK/redis"; }
server_value() { sed -n "s/^$1=//p" "$WORK/redis/endpoint.env"; }
PORT=$(server_value PORT)
FEEDFS_TEST_PASSWORD=$(server_value PASSWORD)
export FEEDFS_TEST_PASSWORD

SOURCE=$WORK/source
mkdir -p "$SOURCE/d"
"$PYTHON" - "$SOURCE" <<'PY'
import random, sys
random.seed(9)
for i in range(12000):
    with open(f"{sys.argv[1]}/d/{i:05d}", "wb") as f: f.write(random.randbytes(random.choice([0, 100, 10240])))
PY
run "$FEEDFS" mkfs "$VOLUME" --metadata redis --metadata-place "redis://127.0.0.1:$PORT/0" --metadata-option password_env=FEEDFS_TEST_PASSWORD
expect_status 0 "mkfs with redis"
! grep -rq "$FEEDFS_TEST_PASSWORD" "$VOLUME" || fail "the password lies in the volume"

redis_pid() { cut -d' ' -f1 "$WORK/redis/redis.pid"; }
start_redis_again() { # the same port, password and data
  redis-server "$WORK/redis/redis.conf" >>"$WORK/redis/redis.log" 2>&1 &
  local pid=$!
  disown "$pid"
  echo "$pid $(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)" >"$WORK/redis/redis.pid"
  answers() { [ "$(REDISCLI_AUTH=$FEEDFS_TEST_PASSWORD redis-cli -p "$PORT" ping 2>/dev/null)" = PONG ]; }
  wait_until 20 answers || fail "redis does not come back: $(tail -n 3 "$WORK/redis/redis.log")"
}
files_in_volume() { "$FEEDFS" stat "$VOLUME" --json 2>/dev/null | "$PYTHON" -c 'import json,sys; print(json.load(sys.stdin)["files"])' 2>/dev/null || echo 0; }
holds_files() { [ "$(files_in_volume)" -ge "$1" ] || job_gone; }

interrupted=0
for at in 200 5000; do
  launch "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet
  wait_until 60 holds_files "$at" || fail "the import does not get to $at files"
  ! job_gone || continue
  kill -KILL "$(redis_pid)"
  settle 60
  expect_status 3 "an import whose redis was killed"
  expect_said "127\.0\.0\.1:$PORT"
  interrupted=$((interrupted + 1))
  run "$FEEDFS" ls "$VOLUME"; expect_status 3 "without redis"; expect_said "127\.0\.0\.1:$PORT"
  start_redis_again
  rm -rf "$WORK/copy"
  run "$FEEDFS" export "$VOLUME" "$WORK/copy" --quiet; expect_status 0 "export after redis came back"
  diff -rq "$WORK/copy" "$SOURCE" 2>&1 | grep -v "^Only in $SOURCE" >"$WORK/broken.txt"
  [ ! -s "$WORK/broken.txt" ] || fail "half there after redis was killed: $(head -n 3 "$WORK/broken.txt")"
done
[ "$interrupted" -gt 0 ] || fail "redis was never killed during an import: this test shows nothing"
run "$FEEDFS" import "$VOLUME" "$SOURCE" --quiet; expect_status 0 "the import that goes on"
rm -rf "$WORK/copy"
run "$FEEDFS" export "$VOLUME" "$WORK/copy" --quiet; expect_status 0 "export"
same_trees "$SOURCE" "$WORK/copy"
repair_volume
