#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the files from which the virtual node boots: Debian's own kernel, a root file system with systemd made by
# debootstrap, and an initramfs that only finds this file system. These files contain nothing of Ringside: the test
# installs the package, as a user would. A build takes one or two minutes and 700 MB; node_image.py keeps the result in
# a cache. Exit codes: 0 the files are built, 2 wrong usage, 3 something is missing on this system.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: build_image.sh FOLDER [PACKAGE...]
  FOLDER   is made, with kernel, initrd and root.img in it; must not exist
  PACKAGE  Debian packages the root file system has beside systemd and ndctl: what the package under test depends on
TEXT
}

# The image has the same Debian release as this system, so that programs that were built here run in the image.
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

# The packages that the tests need on a node, in addition to the dependencies of Ringside's package. The guest agent
# runs the test's commands; systemctl and systemd-run use dbus to reach systemd.
packages_node=(systemd systemd-sysv udev dbus kmod e2fsprogs xfsprogs ndctl qemu-guest-agent procps)

# The modules are in an order in which they can be loaded one by one without modprobe: each module follows those that it
# needs.
modules_to_boot=(virtio_ring virtio virtio_pci virtio_blk crc32c_generic ext4)
modules_of_node=("${modules_to_boot[@]}" nfit nd_pmem nd_btt dax_pmem device_dax virtio_console xfs loop autofs4)

root_image_bytes=3G # sparse

fail() {
  echo "build_image.sh: $1" >&2
  exit "${2:-3}"
}

# The mirror of Debian's main archive from which this system installs.
mirror() {
  # shellcheck disable=SC2016  # these are variables of apt
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite && $3 == "Debian" && $4 == "main" && !found { print $1; found = 1 }'
}

# files_of MODULE... prints the modules' files, each once and after those on which it depends. The dependencies come
# from the list of the image's kernel, because modprobe would leave out modules that are built into the running kernel.
files_of() {
  local module pattern
  for module in "$@"; do
    pattern=/${module//_/[-_]}\\.ko:
    awk -v pattern="$pattern" '$0 ~ pattern { for (i = NF; i > 1; --i) print $i; sub(":", "", $1); print $1; exit }' \
      "$kernel/lib/modules/$version/modules.dep"
  done | awk -v base="$kernel/lib/modules/$version/" '!seen[$1]++ { print base $1 }'
}

make_initrd() {
  local folder=$work/initrd file name
  mkdir -p "$folder"/{bin,dev,proc,sys,root,modules}
  cp /bin/busybox "$folder/bin/busybox"
  local -a order=()
  while read -r file; do
    name=$(basename "$file")
    cp "$file" "$folder/modules/$name"
    order+=("$name")
  done < <(files_of "${modules_to_boot[@]}")
  cat >"$folder/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mount -t proc proc /proc
for module in ${order[*]}; do /bin/busybox insmod /modules/\$module || echo "initramfs: \$module was not loaded"; done
until [ -b /dev/vda ]; do /bin/busybox usleep 10000; done
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox umount /proc
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /sbin/init
INIT
  chmod 755 "$folder/init"
  (cd "$folder" && find . | cpio --quiet --create --format newc | gzip -1) >"$work/out/initrd"
}

# Copies only the modules that the tests need, because the kernel's package has 3,500 modules.
copy_modules() {
  local file target
  while read -r file; do
    target=$root/lib/modules/$version/${file#"$kernel/lib/modules/$version/"}
    mkdir -p "$(dirname "$target")"
    cp "$file" "$target"
  done < <(files_of "${modules_of_node[@]}")
  cp "$kernel/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$version/"
  depmod --basedir "$root" "$version"
}

configure_root() {
  echo ringside-node >"$root/etc/hostname"
  echo "/dev/vda / ext4 defaults 0 1" >"$root/etc/fstab"
  : >"$root/etc/machine-id" # each machine makes an id at its first boot
  # Timers and services of a server must not disturb a test.
  local unit
  for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-tmpfiles-clean.timer getty@tty1.service serial-getty@ttyS0.service systemd-timesyncd.service systemd-binfmt.service \
    proc-sys-fs-binfmt_misc.automount ndctl-monitor.service; do
    ln -sfn /dev/null "$root/etc/systemd/system/$unit"
  done
  # systemd's journal must survive a power cut, as on a node that keeps its journal. A sync every five minutes would be
  # too rare.
  mkdir -p "$root/var/log/journal" "$root/etc/systemd/journald.conf.d"
  printf '[Journal]\nStorage=persistent\nSyncIntervalSec=1s\n' >"$root/etc/systemd/journald.conf.d/node.conf"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,locale}/*
}

[[ ${1:-} == -h || ${1:-} == --help ]] && usage && exit 0
(($# >= 1)) || { usage >&2 && exit 2; }
folder=$1
shift
[[ ! -e $folder ]] || fail "'$folder': found something there, expected a folder that is to be made" 2
((EUID == 0)) || fail "debootstrap makes devices and owners: run it as root"
for tool in debootstrap cpio busybox mkfs.ext4 modprobe depmod apt-get; do
  command -v "$tool" >/dev/null || fail "'$tool' was not found; install debootstrap cpio busybox-static e2fsprogs kmod"
done
source=$(mirror)
[[ -n $source ]] || fail "apt knows no mirror of Debian '$suite', expected its main archive among its sources"

work=$folder.$$ # two builds may run at once; the first one that finishes is kept
rm -rf "$work"
mkdir -p "$work/out"
trap 'rm -rf --one-file-system "$work"' EXIT  # a killed debootstrap leaves /proc and /sys mounted in it
root=$work/root kernel=$work/kernel

all=("${packages_node[@]}" "$@")
debootstrap --variant=minbase --include="$(IFS=,; echo "${all[*]}")" "$suite" "$root" "$source" >"$work/debootstrap.log" 2>&1 || {
  tail -n 5 "$work/debootstrap.log" >&2
  fail "debootstrap failed"
}
# The kernel is only unpacked, not installed, because a general initramfs and a boot loader are not needed.
image=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2 }')
[[ -n $image ]] || fail "apt knows no linux-image-amd64; run apt-get update"
(cd "$work" && apt-get -q download "$image" >download.log 2>&1) || fail "apt-get download $image failed"
dpkg-deb --extract "$work/$image"_*.deb "$kernel"
version=${image#linux-image-}
depmod --basedir "$kernel" "$version"

copy_modules
configure_root
make_initrd
cp "$kernel/boot/vmlinuz-$version" "$work/out/kernel"
truncate --size "$root_image_bytes" "$work/out/root.img"
mkfs.ext4 -q -F -L ringside-node -E lazy_itable_init=0,root_owner=0:0 -d "$root" "$work/out/root.img"
mv --no-target-directory "$work/out" "$folder" || [[ -e $folder/root.img ]] || fail "$folder: cannot be made"
