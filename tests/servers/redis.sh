#!/usr/bin/env bash
# redis on a loopback port and a unix socket, with a password: redis.sh up|down DIR. Environment: PERSIST: off (default), everysec or
# always (append-only file, synced so often); PORT, PASSWORD, DATA: those of a server that is to come back.
NAME=redis
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() { need_command redis-server redis-server; need_command redis-cli redis-tools; need_command ss iproute2; }
start() {
  local port=${PORT:-$(free_port)} password=${PASSWORD:-$(random_hex 16)} socket=$DIR/redis.sock
  [ ${#socket} -lt 108 ] || die "the folder's name is too long for a unix socket"
  mkdir -p "${DATA:=$DIR/data}"
  (umask 077
   printf '%s\n' "bind 127.0.0.1" "port $port" "unixsocket $socket" "unixsocketperm 700" "requirepass $password" "dir $DATA" \
     "daemonize no" "maxmemory-policy noeviction" 'save ""' >"$DIR/redis.conf"
   case ${PERSIST:-off} in
     off) echo 'appendonly no' ;;
     everysec | always) printf '%s\n' 'appendonly yes' "appendfsync $PERSIST" ;;
     *) die "PERSIST is off, everysec or always" ;;
   esac >>"$DIR/redis.conf")
  launch redis redis-server "$DIR/redis.conf"
  emit ENDPOINT "redis://127.0.0.1:$port"
  emit PORT "$port"
  emit SOCKET "$socket"
  emit PASSWORD "$password"
  wait_for 20 redis "it answered" answers
}
answers() { [ "$(REDISCLI_AUTH=$(value PASSWORD) redis-cli -s "$(value SOCKET)" ping)" = PONG ]; }
stop() { stop_process redis 20; }
main "$@"
