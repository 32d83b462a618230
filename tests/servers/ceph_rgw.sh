#!/usr/bin/env bash
# Ceph on one node: a monitor, an OSD on a sparse file, radosgw; pools of size 1, cephx, everything at 127.0.0.1.
# ceph_rgw.sh up|down DIR. Environment: BUCKETS="a b"; BLOCK_GIB (default 10): the OSD's size.
# Needs path-style addressing. A deleted object frees its room only at garbage collection (20 s here).
NAME=ceph_rgw
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() {
  need_root
  need_command ceph-mon ceph-mon; need_command ceph-osd ceph-osd; need_command radosgw radosgw; need_command ceph ceph-common
  need_command curl curl; need_command ss iproute2
}
ceph_says() { ceph -c "$DIR/ceph.conf" --connect-timeout 20 "$@"; }
make_keys() {
  local k=$DIR/keyring
  ceph-authtool --create-keyring "$k" --gen-key -n mon. --cap mon 'allow *'
  ceph-authtool "$k" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
  ceph-authtool "$k" --gen-key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'
  ceph-authtool "$k" --gen-key -n client.rgw.a --cap mon 'allow rw' --cap osd 'allow rwx'
}
start() {
  local fsid uuid mon_port port base key secret bucket
  [ $((${#DIR} + 24)) -lt 108 ] || die "the folder's name is too long for its unix sockets"
  fsid=$(cat /proc/sys/kernel/random/uuid); uuid=$(cat /proc/sys/kernel/random/uuid)
  mon_port=$(free_port); port=$(free_port); base=$((10000 + RANDOM % 9000))
  key=$(random_key 20); secret=$(random_hex 20)
  mkdir "$DIR/mon" "$DIR/osd" "$DIR/rgw" "$DIR/crash"
  cat >"$DIR/ceph.conf" <<CONF
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$mon_port/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr1 = false
ms bind port min = $base
ms bind port max = $((base + 200))
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = $DIR/keyring
run dir = $DIR
admin socket = $DIR/\$name.asok
log file = $DIR/\$name.log
log to stderr = false
crash dir = $DIR/crash
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon data avail warn = 1
mon data avail crit = 1
[mon]
mon data = $DIR/mon
mon cluster log file = $DIR/cluster.log
[osd]
osd data = $DIR/osd
osd objectstore = bluestore
bluestore block size = $((${BLOCK_GIB:-10} << 30))
bluestore block create = true
osd memory target = 1073741824
osd op num shards = 4
[client.rgw.a]
rgw data = $DIR/rgw
rgw frontends = beast endpoint=127.0.0.1:$port
rgw thread pool size = 64
rgw enable usage log = false
rgw gc obj min wait = 20
rgw gc processor period = 20
rgw gc processor max time = 20
CONF
  (umask 077; make_keys) >"$DIR/setup.log" 2>&1
  monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$mon_port/0]" "$DIR/monmap" >>"$DIR/setup.log" 2>&1
  ceph-mon -c "$DIR/ceph.conf" -i a --mkfs --monmap "$DIR/monmap" --keyring "$DIR/keyring" >>"$DIR/setup.log" 2>&1
  launch mon ceph-mon -c "$DIR/ceph.conf" -i a -f
  wait_for 60 mon "the monitor answered" ceph_says mon stat
  [ "$(ceph_says osd new "$uuid")" = 0 ]
  ceph-osd -c "$DIR/ceph.conf" -i 0 --mkfs --osd-uuid "$uuid" >>"$DIR/setup.log" 2>&1
  launch osd ceph-osd -c "$DIR/ceph.conf" -i 0 -f
  wait_for 60 osd "it was up" osd_is_up
  launch rgw radosgw -c "$DIR/ceph.conf" -n client.rgw.a -f
  emit ENDPOINT "http://127.0.0.1:$port"
  emit REGION us-east-1
  emit BUCKET "$(echo "${BUCKETS:-bench}" | cut -d' ' -f1)"
  emit ACCESS_KEY "$key"
  emit SECRET_KEY "$secret"
  wait_for 180 rgw "it answered" answers
  radosgw-admin -c "$DIR/ceph.conf" -n client.rgw.a user create --uid=bench --display-name=bench \
    --access-key="$key" --secret-key="$secret" >>"$DIR/setup.log" 2>&1
  # Keys go through a file, not through a command line.
  (umask 077; printf 'user = "%s:%s"\naws-sigv4 = "aws:amz:us-east-1:s3"\nheader = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\n' "$key" "$secret" >"$DIR/curl.conf")
  for bucket in ${BUCKETS:-bench}; do
    wait_for 60 rgw "bucket $bucket was made" curl -sf -K "$DIR/curl.conf" -X PUT "$(value ENDPOINT)/$bucket"
  done
}
osd_is_up() { ceph_says osd stat | grep -q '1 up'; }
answers() { [ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 5 "$(value ENDPOINT)/")" = 200 ]; }
stop() { stop_process rgw 20; stop_process osd 30; stop_process mon 20; }
main "$@"
