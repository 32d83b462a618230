#!/usr/bin/env bash
# A small S3 server (npm @20minutes/s3rver, in tests/servers/s3rver): s3rver.sh up|down DIR. Environment: BUCKETS="a b".
# It lets unsigned requests through (a wrong signature is refused), knows no regions, and looks at no clock.
NAME=s3rver
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() {
  need_command node nodejs; need_command curl curl; need_command ss iproute2
  [ -e "$SERVERS/s3rver/node_modules/@20minutes/s3rver" ] || { say "needs its npm packages: scripts/test.sh installs them"; exit 77; }
}
start() {
  local port key secret
  port=$(free_port); key=$(random_key 20); secret=$(random_hex 20)
  mkdir "$DIR/data"
  # Its tokens of a listing's pages are ciphered with DES, which OpenSSL 3 has among its old algorithms only.
  PORT=$port KEY=$key SECRET=$secret DATA=$DIR/data BUCKETS=${BUCKETS:-bench} \
    launch s3rver node --openssl-legacy-provider "$SERVERS/s3rver/serve.js"
  emit ENDPOINT "http://127.0.0.1:$port"
  emit REGION us-east-1
  emit BUCKET "$(echo "${BUCKETS:-bench}" | cut -d' ' -f1)"
  emit ACCESS_KEY "$key"
  emit SECRET_KEY "$secret"
  wait_for 30 s3rver "it answered" answers
}
answers() { curl -s -o /dev/null --max-time 5 "$(value ENDPOINT)/"; }
stop() { stop_process s3rver; }
main "$@"
