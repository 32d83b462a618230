#!/usr/bin/env bash
# Several "hosts" on one machine for Open MPI: each has a host name, network, IPC and mount namespace and /dev/shm of its own;
# veth pairs meet on a bridge in a namespace of its own, so that nothing shows on the machine's network.
#
#   mpi_hosts.sh up     DIR            starts h0 (where mpirun runs) and h1..hN, N from HOSTS (default 3); DIR is made
#   mpi_hosts.sh mpirun DIR ARGS...    mpirun on h0, for instance: mpirun DIR --host h1:2,h2:2 -n 4 ./program
#   mpi_hosts.sh exec   DIR HOST COMMAND...   a command on one host: what it sees, mounts, has in its private folders
#   mpi_hosts.sh down   DIR            ends everything that runs on the hosts and removes DIR
#
# Needs root and the right to make namespaces: `up` says so in one line and exits 1 where they are missing.
set -u -o pipefail
HOSTS=${HOSTS:-3} SUBNET=192.0.2 # the documentation range
PATH=$PATH:/usr/sbin:/sbin
die() { echo "mpi_hosts: $*" >&2; exit 1; }
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
verb=$1 DIR=$(realpath -m "$2"); shift 2

# A process is known by its number and start time: a number that was used again is never signalled.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
holder() { # NAME -> pid of the process that keeps that host's namespaces
  local pid start
  read -r pid start <"$DIR/$1.pid" 2>/dev/null || return 1
  [ -n "$start" ] && [ "$(started "$pid")" = "$start" ] && echo "$pid"
}
hold() { # NAME UNSHARE-OPTION...
  setsid unshare "${@:2}" sleep infinity </dev/null >/dev/null 2>&1 &
  local pid=$! i
  for i in $(seq 100); do
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sleep ]; then echo "$pid $(started "$pid")" >"$DIR/$1.pid"; return 0; fi
    sleep 0.05
  done
  die "no namespaces for $1"
}
on() { # HOST COMMAND...
  local pid; pid=$(holder "$1") || die "no host $1"; shift
  nsenter -t "$pid" -n -u -i -m --wd="$PWD" -- "$@"
}
in_hub() { nsenter -t "$(holder hub)" -n "$@"; }

up() {
  local i pid
  [ "$(id -u)" -eq 0 ] || die "needs root"
  command -v ip >/dev/null && command -v nsenter >/dev/null || die "needs the packages iproute2 and util-linux"
  unshare -n -u -i -m true 2>/dev/null || die "this machine gives no network, UTS, IPC or mount namespaces"
  mkdir -p "$DIR/tmp" || exit 1
  { echo "127.0.0.1 localhost"; for i in $(seq 0 "$HOSTS"); do echo "$SUBNET.$((10 + i)) h$i"; done; } >"$DIR/hosts"
  hold hub -n
  in_hub ip link set lo up && in_hub ip link add br0 type bridge forward_delay 0 && in_hub ip link set br0 up || die "no bridge here"
  for i in $(seq 0 "$HOSTS"); do
    hold "h$i" -n -u -i -m --propagation private
    pid=$(holder "h$i")
    in_hub ip link add "v$i" type veth peer name eth0 netns "$pid" && in_hub ip link set "v$i" master br0 up &&
      on "h$i" hostname "h$i" && on "h$i" ip link set lo up && on "h$i" ip addr add "$SUBNET.$((10 + i))/24" dev eth0 &&
      on "h$i" ip link set eth0 up && on "h$i" mount --bind "$DIR/hosts" /etc/hosts &&
      on "h$i" mount -t tmpfs -o size=50%,mode=1777 shm /dev/shm || die "h$i cannot be set up"
  done
  # What mpirun calls in place of ssh: launch HOST 'COMMAND'
  cat >"$DIR/launch" <<LAUNCH
#!/bin/sh
while [ \$# -gt 0 ]; do case \$1 in -*) shift ;; *) break ;; esac; done
host=\$1; shift
read pid start <"$DIR/\$host.pid" || exit 255
exec nsenter -t "\$pid" -n -u -i -m --wd="\$PWD" -- /bin/sh -c "\$*"
LAUNCH
  chmod 755 "$DIR/launch"
  for i in $(seq 1 "$HOSTS"); do # a refused connection means that the other side is there
    local tries=0
    until case $(on h0 env LC_ALL=C bash -c "exec 3<>/dev/tcp/h$i/9" 2>&1) in *refused*) true ;; *) false ;; esac; do
      tries=$((tries + 1)); [ "$tries" -lt 100 ] || die "h$i cannot be reached from h0"
      sleep 0.1
    done
  done
}
down() {
  local file pid net process
  for file in "$DIR"/*.pid; do
    [ -e "$file" ] || continue
    pid=$(holder "$(basename "$file" .pid)") || continue
    net=$(readlink "/proc/$pid/ns/net")
    if [ "$net" != "$(readlink /proc/self/ns/net)" ]; then # ranks of a job that hangs
      for process in /proc/[0-9]*; do
        [ "$(readlink "$process/ns/net" 2>/dev/null)" = "$net" ] && kill -KILL "${process#/proc/}" 2>/dev/null
      done
    fi
    kill -KILL "$pid" 2>/dev/null
  done
  rm -rf --one-file-system "$DIR"
}

case $verb in
  up) (up) || { down; exit 1; } ;;
  down) down ;;
  mpirun)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$DIR/launch \
      OMPI_MCA_plm_rsh_no_tree_spawn=1 OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_btl=tcp,self,vader OMPI_MCA_btl_tcp_if_include=eth0 \
      OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1 \
      OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_tmpdir_base=$DIR/tmp
    on h0 mpirun "$@" ;;
  exec) on "$@" ;;
  *) die "unknown verb $verb" ;;
esac
