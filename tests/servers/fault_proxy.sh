#!/usr/bin/env bash
# The fault proxy (fault_proxy.mjs) in front of a server: fault_proxy.sh up|down DIR. Environment: UPSTREAM=http://127.0.0.1:PORT.
# ENDPOINT is the proxy, CONTROL where rules are put and counters are read.
NAME=fault_proxy
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() { need_command node nodejs; need_command curl curl; need_command ss iproute2; }
start() {
  local port control
  launch proxy node "$SERVERS/fault_proxy.mjs" "${UPSTREAM:?UPSTREAM must be given}" "$DIR/ports"
  wait_for 20 proxy "it listened" test -s "$DIR/ports"
  read -r port control <"$DIR/ports"
  emit ENDPOINT "http://127.0.0.1:$port"
  emit CONTROL "http://127.0.0.1:$control"
}
stop() { stop_process proxy 5; }
main "$@"
