#!/usr/bin/env bash
# nfs-ganesha on loopback, NFSv3 and v4: nfs_ganesha.sh up|down DIR. It exports DIR/export, whose filesystem must give file handles
# (ext4, xfs, btrfs; not overlay, not tmpfs). NFS knows no password here: clients at 127.0.0.1 only.
NAME=nfs_ganesha
. "$(dirname "$(readlink -f "$0")")/lib.sh"
PLUGINS=/usr/lib/$(uname -m)-linux-gnu/ganesha

need() {
  need_root
  need_command ganesha.nfsd nfs-ganesha; need_command "$PLUGINS/libfsalvfs.so" nfs-ganesha-vfs
  need_command rpcbind rpcbind; need_command nfs-ls libnfs-utils; need_command ss iproute2
  unshare -m true 2>/dev/null || { say "this machine gives no mount namespaces"; exit 77; }
}
start() {
  local port mount_port
  port=$(free_port); mount_port=$(free_port)
  mkdir "$DIR/export" "$DIR/recovery"; chmod 1777 "$DIR/export"
  cat >"$DIR/ganesha.conf" <<CONF
NFS_CORE_PARAM {
  Bind_addr = 127.0.0.1; NFS_Port = $port; MNT_Port = $mount_port;
  Protocols = 3, 4; Enable_NLM = false; Enable_RQUOTA = false; Plugins_Dir = $PLUGINS; NSM_Use_Caller_Name = true;
}
NFSv4 { RecoveryRoot = $DIR/recovery; Graceless = true; Minor_Versions = 0, 1, 2; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT_DEFAULTS { SecType = sys; Attr_Expiration_Time = 0; } # what a test changes behind its back is seen at once
EXPORT {
  Export_Id = 1; Path = $DIR/export; Pseudo = /export; Protocols = 3, 4; Transports = TCP;
  Access_Type = NONE; Squash = No_Root_Squash; PrivilegedPort = false;
  CLIENT { Clients = 127.0.0.1; Access_Type = RW; Squash = No_Root_Squash; }
  FSAL { Name = VFS; }
}
LOG { Default_Log_Level = EVENT; }
CONF
  # It ends at once where it finds no rpcbind. It gets one of its own on a private /run and a unix socket only, so that the
  # machine's rpcbind is neither needed nor touched, and port 111 stays free.
  printf 'local tpi_cots_ord - loopback - - -\n' >"$DIR/netconfig"
  cat >"$DIR/start" <<START
mount -t tmpfs run /run || exit 1
unshare -m --propagation private sh -c 'mount --bind $DIR/netconfig /etc/netconfig && exec rpcbind -f -i' >>$DIR/rpcbind.log 2>&1 &
echo \$! >$DIR/rpcbind.number
for i in \$(seq 200); do [ -S /run/rpcbind.sock ] && break; sleep 0.05; done
exec "\$@"
START
  launch ganesha unshare -m --propagation private sh "$DIR/start" \
    ganesha.nfsd -F -C -f "$DIR/ganesha.conf" -L "$DIR/nfsd.log" -p "$DIR/ganesha.number"
  emit ENDPOINT "127.0.0.1:$port"
  emit NFS_PORT "$port"
  emit MOUNT_PORT "$mount_port"
  emit EXPORTED "$DIR/export"
  emit EXPORT_V4 /export
  wait_for 10 ganesha "rpcbind ran" test -s "$DIR/rpcbind.number"
  record rpcbind "$(cat "$DIR/rpcbind.number")"
  wait_for 60 ganesha "it answered" answers
}
answers() { timeout 5 nfs-ls "nfs://127.0.0.1/export?version=4&nfsport=$(value NFS_PORT)"; }
stop() { stop_process ganesha 15; stop_process rpcbind 5; }
main "$@"
