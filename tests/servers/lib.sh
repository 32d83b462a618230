# shellcheck shell=bash
# What the server scripts of this folder share; sourced, never run. A script sets NAME, defines need, start, answers and stop,
# and ends with: main "$@"
#
#   NAME.sh up   DIR   starts it; DIR is made, everything it writes lies there; prints KEY=VALUE lines, kept in DIR/endpoint.env
#   NAME.sh down DIR   stops it and removes DIR
#
# Ports, keys and passwords are new at every start. Everything listens at 127.0.0.1 only. Packages are installed by
# scripts/test.sh (scripts/packages.txt), never here: exit code 77 where one is missing, with its name.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
umask 022
SERVERS=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

say() { printf '%s: %s\n' "$NAME" "$*" >&2; }
die() { say "$*"; exit 1; }
need_command() { # COMMAND PACKAGE
  case $1 in /*) [ -e "$1" ] ;; *) command -v "$1" >/dev/null ;; esac || { say "needs the package $2"; exit 77; }
}
need_root() { [ "$(id -u)" -eq 0 ] || { say "needs root"; exit 77; }; }

random_hex() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
random_key() { local s; s=$(tr -dc 'A-Z0-9' < <(head -c 8192 /dev/urandom)); printf '%s' "${s:0:$1}"; }
port_is_used() { [ -n "$(ss -Htln "sport = :$1" 2>/dev/null)" ]; }
free_port() { # below the range from which the kernel gives ports to clients
  local port i
  for i in $(seq 200); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    port_is_used "$port" || { echo "$port"; return; }
  done
  die "no free port"
}
certificate() { # FILE-STEM DAYS : FILE-STEM.pem and .key for 127.0.0.1, signed by itself; expired where DAYS is negative
  local ends=(-days "$2")
  if [ "$2" -lt 0 ]; then # made with a key of its own and dates in the past
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout "$1.key" -out "$1.csr" 2>/dev/null
    mkdir -p "$1.ca"; : >"$1.ca/index.txt"; echo 01 >"$1.ca/serial"
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >"$1.ext"
    printf '[ca]\ndefault_ca=a\n[a]\ndatabase=%s/index.txt\nserial=%s/serial\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' \
      "$1.ca" "$1.ca" "$1.ca" >"$1.cnf"
    openssl ca -batch -notext -selfsign -config "$1.cnf" -keyfile "$1.key" -in "$1.csr" -extfile "$1.ext" \
      -startdate 20200101000000Z -enddate 20200201000000Z -out "$1.pem" 2>/dev/null
    return
  fi
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "${ends[@]}" -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# A process is known by number and start time, so that a number that was used again is never signalled.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
record() { echo "$2 $(started "$2")" >"$DIR/$1.pid"; } # NAME PID
pid_of() { # NAME -> the pid where that very process still runs
  local pid start
  read -r pid start <"$DIR/$1.pid" 2>/dev/null || return 1
  [ -n "$start" ] && [ "$(started "$pid")" = "$start" ] || return 1
  [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f1)" != Z ] && echo "$pid"
}
alive() { pid_of "$1" >/dev/null; }
launch() { # NAME COMMAND... : in the background, detached; its words go to DIR/NAME.log
  local name=$1; shift
  setsid nohup "$@" </dev/null >>"$DIR/$name.log" 2>&1 &
  record "$name" $!
}
wait_for() { # SECONDS PROCESS WHAT COMMAND... : false where the process ends meanwhile
  local end=$((SECONDS + $1)) process=$2 what=$3; shift 3
  until "$@" >/dev/null 2>&1; do
    alive "$process" || { say "$process ended before $what"; return 1; }
    [ "$SECONDS" -lt "$end" ] || { say "timed out waiting for $what"; return 1; }
    sleep 0.05
  done
}
stop_process() { # NAME [SECONDS before it is killed]
  local pid end=$((SECONDS + ${2:-10}))
  pid=$(pid_of "$1") || return 0
  kill -TERM "$pid" 2>/dev/null || true
  while alive "$1"; do
    if [ "$SECONDS" -ge "$end" ]; then kill -KILL "$pid" 2>/dev/null || true; sleep 0.2; break; fi
    sleep 0.05
  done
}
mounted() { grep -q " $1 " /proc/mounts; } # also a FUSE mount whose process has died
emit() { printf '%s=%s\n' "$1" "$2" >>"$DIR/endpoint.env"; } # KEY VALUE
value() { sed -n "s/^$1=//p" "$DIR/endpoint.env"; }

main() {
  case ${1:-} in up | down) ;; *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
  [ -n "${2:-}" ] || die "which folder?"
  DIR=$(realpath -m "$2")
  case $DIR in *[!A-Za-z0-9/._+-]*) die "the folder's name may hold only letters, digits and / . _ + -" ;; esac
  if [ "$1" = down ]; then
    [ -e "$DIR/.feedbench-server" ] || { [ ! -e "$DIR" ] || die "$DIR was not made by this script"; exit 0; }
    stop || die "could not stop everything; its folder is left: $DIR"
    ! grep -q " $DIR/" /proc/mounts || die "something is still mounted below $DIR"
    rm -rf --one-file-system "$DIR"
    exit 0
  fi
  need
  [ ! -e "$DIR" ] || [ -e "$DIR/.feedbench-server" ] || die "$DIR is there already"
  [ ! -e "$DIR" ] || { stop; rm -rf --one-file-system "$DIR"; }
  mkdir -p "$DIR"
  : >"$DIR/.feedbench-server"
  (umask 077; : >"$DIR/endpoint.env")
  local code=0
  set +e; (set -e; start); code=$?; set -e # in a subshell, so that any failure comes here
  if [ "$code" -ne 0 ]; then
    tail -n 5 "$DIR"/*.log >&2 2>/dev/null || true
    stop || true
    die "did not come up"
  fi
  cat "$DIR/endpoint.env"
}
