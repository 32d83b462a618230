#!/usr/bin/env bash
# A QEMU guest (Debian's kernel, an initramfs of busybox; no network, no disk) that has a folder of this host at /mnt through
# virtio-fs, and this host's / read-only, so that the host's programs run in it.
#
#   virtiofs.sh up   DIR              SHARE=folder: what the guest has at /mnt. CACHE=auto|always|none, MEM_MIB=768, CPUS=1,
#                                     ACCELERATOR=tcg (emulation; the default, for it works everywhere) or kvm
#   virtiofs.sh exec DIR 'COMMAND'    runs a shell command in the guest; its output and exit status come back
#   virtiofs.sh down DIR
# The kernel is downloaded as a Debian package and unpacked, not installed: into KERNEL_CACHE (default build/virtiofs).
NAME=virtiofs
. "$(dirname "$(readlink -f "$0")")/lib.sh"
CACHE=${CACHE:-auto} MEM_MIB=${MEM_MIB:-768} CPUS=${CPUS:-1}
VIRTIOFSD=/usr/lib/qemu/virtiofsd
KERNEL_CACHE=${KERNEL_CACHE:-$SERVERS/../../build/virtiofs}
MODULES="drivers/virtio/virtio_ring drivers/virtio/virtio drivers/virtio/virtio_pci_legacy_dev
 drivers/virtio/virtio_pci_modern_dev drivers/virtio/virtio_pci fs/fuse/fuse fs/fuse/virtiofs"

need() {
  need_root
  need_command qemu-system-x86_64 qemu-system-x86; need_command "$VIRTIOFSD" qemu-system-common
  need_command busybox busybox-static; need_command cpio cpio
  ! ldd "$(command -v busybox)" >/dev/null 2>&1 || { say "needs the package busybox-static"; exit 77; }
  [ "${#DIR}" -lt 80 ] || die "the folder's name is too long for sockets"
  [ -e "$KERNEL_CACHE/vmlinuz" ] || unpack_kernel || { say "the kernel's package cannot be had"; exit 77; }
}
unpack_kernel() {
  local package folder
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: //p' | head -n 1)
  [ -n "$package" ] || return 1
  mkdir -p "$KERNEL_CACHE"; folder=$(mktemp -d "$KERNEL_CACHE/unpack.XXXXXX")
  say "unpacking $package (it is not installed)"
  (cd "$folder" && apt-get -o APT::Sandbox::User=root download "$package" >apt.log 2>&1 && dpkg -x "$package"*.deb x) || return 1
  make_initramfs "$folder" || return 1
  mv "$folder"/x/boot/vmlinuz-* "$KERNEL_CACHE/vmlinuz"
  rm -rf "$folder"
}
make_initramfs() { # FOLDER
  local root=$1/root module kernel number=0
  kernel=$(echo "$1"/x/lib/modules/*/kernel)
  mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/host" "$root/m"
  cp "$(command -v busybox)" "$root/bin/busybox"; ln -s busybox "$root/bin/sh"
  for module in $MODULES; do
    number=$((number + 1)); cp "$kernel/$module.ko" "$root/m/0$number-${module##*/}.ko" || return 1
  done
  cat >"$root/init" <<'INIT'
#!/bin/sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
ifconfig lo up
for k in /m/*.ko; do insmod $k || echo "GUEST-FAIL insmod $k"; done
mount -t virtiofs -o ro host /host || echo "GUEST-FAIL mount host"
mount -t proc proc /host/proc; mount -t sysfs sysfs /host/sys; mount -o bind /dev /host/dev
mkdir -p /host/dev/shm; mount -t tmpfs shm /host/dev/shm; mount -t tmpfs tmp /host/tmp
mount -t virtiofs share /host/mnt && echo GUEST-READY || echo "GUEST-FAIL mount share"
# One line of base64 in, the output and a closing line with the exit status out.
stty -F /dev/ttyS1 raw -echo
exec </dev/ttyS1 >/dev/ttyS1 2>&1
while read -r line; do
  case $line in HALT) sync; umount /host/mnt; poweroff -f ;; esac
  echo "$line" | base64 -d >/host/tmp/.command
  chroot /host /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp sh -c 'cd /mnt; . /tmp/.command' </dev/null
  echo "@@EXIT $?"
done
INIT
  chmod 755 "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$KERNEL_CACHE/initrd.gz"
}

daemon() { # NAME FOLDER CACHE OPTION...
  local name=$1 folder=$2 cache=$3; shift 3
  launch "fsd-$name" "$VIRTIOFSD" --socket-path="$DIR/$name.sock" -o source="$folder" -o cache="$cache" -f "$@"
  wait_for 10 "fsd-$name" "its socket was there" test -S "$DIR/$name.sock"
}
start() {
  local share accelerator=${ACCELERATOR:-tcg}
  share=$(readlink -f "${SHARE:?which folder shall the guest have?}")
  # No pivot_root into a FUSE mount or into /: chroot shuts the daemon in as well.
  daemon share "$share" "$CACHE" -o sandbox=chroot
  daemon host / always -o sandbox=chroot
  mkfifo -m 600 "$DIR/tty.in" "$DIR/tty.out"
  launch qemu qemu-system-x86_64 -machine q35 -accel "$accelerator" -cpu max -smp "$CPUS" -m "$MEM_MIB" \
    -object "memory-backend-memfd,id=mem,size=${MEM_MIB}M,share=on" -numa node,memdev=mem \
    -nodefaults -no-user-config -display none -nic none -no-reboot \
    -chardev "file,id=con,path=$DIR/console.log" -serial chardev:con -chardev "pipe,id=tty,path=$DIR/tty" -serial chardev:tty \
    -chardev "socket,id=fs,path=$DIR/share.sock" -device vhost-user-fs-pci,chardev=fs,tag=share,queue-size=1024 \
    -chardev "socket,id=fsh,path=$DIR/host.sock" -device vhost-user-fs-pci,chardev=fsh,tag=host \
    -kernel "$KERNEL_CACHE/vmlinuz" -initrd "$KERNEL_CACHE/initrd.gz" -append "console=ttyS0 quiet panic=-1 mitigations=off tsc=unstable"
  wait_for 180 qemu "the guest was up" grep -qE 'GUEST-(READY|FAIL)' "$DIR/console.log"
  ! grep GUEST-FAIL "$DIR/console.log" >&2 || return 1
  emit SHARE "$share"; emit ACCELERATOR "$accelerator"; emit CPUS "$CPUS"; emit MEM_MIB "$MEM_MIB"
  [ "$(guest 60 'echo ready')" = ready ]
}
guest() { # SECONDS COMMAND
  local line
  (
    flock -w "$1" 8 || die "the guest is busy"
    exec 7<>"$DIR/tty.out"
    while read -r -t 0.05 -u 7 line; do :; done # left over from a call that was interrupted
    printf '%s\n' "$(printf '%s\n' "$2" | base64 -w0)" >"$DIR/tty.in"
    while IFS= read -r -t "$1" -u 7 line; do
      case $line in "@@EXIT "*) exit "${line#@@EXIT }" ;; *"@@EXIT "*) printf '%s' "${line%@@EXIT *}"; exit "${line##*@@EXIT }" ;; esac
      printf '%s\n' "$line"
    done
    die "the guest gave no answer in $1 s"
  ) 8>"$DIR/tty.lock"
}
stop() {
  if alive qemu && [ -p "$DIR/tty.in" ]; then
    (printf 'HALT\n' >"$DIR/tty.in") & local writer=$! end=$((SECONDS + 10))
    while alive qemu && [ "$SECONDS" -lt "$end" ]; do sleep 0.1; done
    kill "$writer" 2>/dev/null || true
  fi
  stop_process qemu 5; stop_process fsd-share 5; stop_process fsd-host 5
  local one # virtiofsd keeps a lock file for each socket in a place of its own
  for one in share host; do rm -f "/run/virtiofsd/$(printf %s "$DIR/$one.sock" | tr / .).pid"; done
}

if [ "${1:-}" = exec ]; then
  [ $# -eq 3 ] || die "usage: virtiofs.sh exec DIR 'COMMAND'"
  DIR=$(realpath -m "$2")
  alive qemu || die "no guest at $DIR"
  guest "${EXEC_SECONDS:-300}" "$3"; exit
fi
main "$@"
