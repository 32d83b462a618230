#!/usr/bin/env bash
# GlusterFS on loopback without its management daemon (whose state and sockets live in fixed folders of the system): two brick
# processes and one FUSE mount at DIR/mnt, from volume files written here. gluster.sh up|down DIR
NAME=gluster
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() {
  need_root
  need_command glusterfsd glusterfs-server; need_command glusterfs glusterfs-client; need_command ss iproute2
  [ -w /dev/fuse ] || { say "needs /dev/fuse"; exit 77; }
}
brick() { # NUMBER PORT
  cat >"$DIR/brick$1.vol" <<VOL
volume posix
  type storage/posix
  option directory $DIR/brick$1
end-volume
volume locks
  type features/locks
  subvolumes posix
end-volume
volume brick
  type performance/io-threads
  subvolumes locks
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port $2
  option auth.login.brick.allow $user
  option auth.login.$user.password $password
  option auth.addr.brick.allow 127.0.0.1
  subvolumes brick
end-volume
VOL
  cat >>"$DIR/client.vol" <<VOL
volume c$1
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port $2
  option remote-subvolume brick
  option username $user
  option password $password
end-volume
VOL
}
start() {
  local i port user password
  user=$(random_hex 8); password=$(random_hex 16)
  mkdir "$DIR/mnt"
  umask 077
  : >"$DIR/client.vol"
  for i in 1 2; do
    port=$(free_port)
    mkdir "$DIR/brick$i"
    brick "$i" "$port"
    launch "brick$i" glusterfsd -N -f "$DIR/brick$i.vol" -l "$DIR/brick$i.gluster.log" -p "$DIR/brick$i.number"
    wait_for 20 "brick$i" "it listened" port_is_used "$port"
  done
  printf 'volume top\n  type cluster/distribute\n  subvolumes c1 c2\nend-volume\n' >>"$DIR/client.vol"
  umask 022
  launch mount glusterfs -N -f "$DIR/client.vol" -l "$DIR/mount.gluster.log" -p "$DIR/mount.number" "$DIR/mnt"
  emit MOUNT "$DIR/mnt"
  wait_for 20 mount "it was mounted" mounted "$DIR/mnt"
  wait_for 30 mount "a write came through" probe
}
probe() { timeout 5 sh -c 'echo ok >"$1/.probe" && [ "$(cat "$1/.probe")" = ok ] && rm "$1/.probe"' sh "$DIR/mnt"; }
stop() {
  local i
  if mounted "$DIR/mnt"; then umount "$DIR/mnt" 2>/dev/null || umount -l "$DIR/mnt" || true; fi
  stop_process mount 5
  for i in 1 2; do stop_process "brick$i"; done
  ! mounted "$DIR/mnt"
}
main "$@"
