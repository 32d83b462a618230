# Sourced by the scripts (bash). They say little: what takes long, and what went wrong.
set -u -o pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Ranks that wait give way: small machines have fewer cores than ranks.
MPIRUN=(mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# quietly LOG COMMAND... : output goes to the log; shown only when the command fails.
quietly() {
  local log=$1; shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 && return 0
  local code=$?
  tail -n 40 "$log" >&2
  say "failed (exit code $code): $*    whole output: $log"
  return "$code"
}

# packages_of SECTION... : the lines of packages.txt below these "# [section]" marks
packages_of() {
  awk -v wanted=" $* " '/^# \[/ { s = $2; gsub(/[][]/, "", s); on = index(wanted, " " s " "); next } /^#/ || NF == 0 { next } on' \
    "$ROOT/scripts/packages.txt"
}
is_installed() { # NAME[:COMMAND]
  case $1 in *:*) command -v "${1#*:}" >/dev/null && return 0 ;; esac
  [ "$(dpkg-query -W -f '${db:Status-Status}' "${1%%:*}" 2>/dev/null)" = installed ]
}
# need_packages SECTION... : installs what is missing; silent when nothing is.
need_packages() {
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: please have the equivalents of these installed: $(packages_of "$@" | cut -d: -f1 | paste -sd' ')"
    return 0
  fi
  for package in $(packages_of "$@"); do is_installed "$package" || missing+=("${package%%:*}"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || die "packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}"
  say "installing ${missing[*]}"
  # Servers are for the tests to start: none may start by itself on its default port.
  local guard=/usr/sbin/policy-rc.d made_guard=
  if [ ! -e "$guard" ]; then printf '#!/bin/sh\nexit 101\n' >"$guard" && chmod 755 "$guard" && made_guard=$guard; fi
  local code=0
  install_packages "${missing[@]}" || code=$?
  [ -z "$made_guard" ] || rm -f "$made_guard"
  return "$code"
}
install_packages() { # NAME...
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@")
  # The package lists may be there and good enough; fetch them only when not.
  "${install[@]}" >/dev/null 2>&1 && return 0
  quietly "$ROOT/build/log/apt-update.txt" apt-get update -qq || return 1
  quietly "$ROOT/build/log/apt-install.txt" "${install[@]}"
}

# need_npm FOLDER : installs the packages of its lock file into its node_modules; silent when they are there.
need_npm() {
  local folder=$ROOT/$1
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return 0
  say "installing the npm packages of $1"
  quietly "$ROOT/build/log/npm-$(basename "$folder").txt" \
    npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund --no-update-notifier
}

# build PRESET [TARGET...] : configures build/PRESET when new, then builds the targets (default: all).
build() {
  local preset=$1; shift
  cd "$ROOT" || return 1
  if [ ! -e "build/$preset/build.ninja" ]; then
    quietly "build/log/configure-$preset.txt" cmake --preset "$preset" || return 1
  fi
  # Says so only where it takes long: a second run of a script should not talk about a build that has nothing to do.
  (sleep 8 </dev/null >/dev/null 2>&1 && say "building $preset ${*:+($*)}") &
  local announcer=$! code=0
  quietly "build/log/build-$preset.txt" ninja -C "build/$preset" "$@" || code=$?
  kill "$announcer" 2>/dev/null
  wait "$announcer" 2>/dev/null
  return "$code"
}
