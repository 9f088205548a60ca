#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prepares a region of persistent memory for Ringside's pool. It makes an fsdax namespace, a file system with
# dax=always, and a mount unit without which the analyzer's service does not start. Without --yes, it only shows what it
# would do. Each step first checks what exists and then does only what is missing, so that the script can be run again
# at any time. It never overwrites anything that holds data. It reads sysfs, and makes changes through ndctl. Exit
# status: 0 done or already set up, 2 usage, 3 the system lacks something or the memory contains data.
set -euo pipefail

name=ringside-provision-pmem
label=ringside                            # of the file system; a later run finds the file system by it
root=${RINGSIDE_PROVISION_ROOT:-}         # for tests: a folder that stands for /
nd=$root/sys/bus/nd/devices
mark=/var/lib/misc/$name                  # exists while mkfs runs; names the namespace, which was empty before
unit_folder=/etc/systemd/system

region=
file_system=ext4
mount_point=/var/lib/ringside/pmem
owner=ringside:ringside
yes=no

usage() {
  cat <<TEXT
usage: $name [--region REGION] [--file-system ext4|xfs] [--mount-point DIR] [--owner USER:GROUP] [--yes]
Prepares a region of persistent memory for Ringside's pool: makes an fsdax namespace and a file system on it, mounts the
file system with dax=always at each boot, and gives it to the service's user. Refuses memory that holds data. Can be run
again at any time. Exit status: 0 done, or already in place; 2 usage; 3 the system lacks something, or the memory holds
data.
  --region REGION       region to use (default: the only one)
  --file-system TYPE    ext4 (default) or xfs
  --mount-point DIR     folder where it is mounted (default $mount_point)
  --owner USER:GROUP    owner of the mounted folder (default $owner)
  --yes                 run the commands (without this option, they are only shown)
TEXT
}

fail() {  # STATUS TEXT...: prints one line and exits
  local status=$1
  shift
  local text=$*
  echo "$name: ${text//[[:cntrl:]]/?}" >&2
  exit "$status"
}

changes=0

# act COMMAND... shows a command; with --yes it also runs it.
act() {
  local status=0
  changes=$((changes + 1))
  printf '  + %s\n' "${*@Q}" | sed -E "s/'([[:alnum:]@%_+=:,.\/-]+)'/\1/g"
  [[ $yes == yes ]] || return 0
  "$@" </dev/null || status=$?
  ((status == 0)) || fail 3 "'$*' ended with status $status; remove its cause, then run $name again: it continues there"
}

in_place() { echo "  = $*"; }

# write_file PATH TEXT writes the complete file, or changes nothing.
write_file() {
  changes=$((changes + 1))
  printf '  + write %s:\n' "$1"
  printf '      %s\n' "${2//$'\n'/$'\n      '}"
  [[ $yes == yes ]] || return 0
  { mkdir -p "$root${1%/*}" && printf '%s\n' "$2" >"$root$1.new" && mv "$root$1.new" "$root$1"; } ||
    fail 3 "$1 cannot be written"
}

# read_attribute FILE prints its first line, or nothing if there is none.
read_attribute() {
  local line=
  if [[ -r $1 ]]; then read -r line <"$1" || true; fi
  printf '%s' "$line"
}

need() {  # COMMAND PACKAGE
  command -v "$1" >/dev/null || fail 3 "$1 is not installed; as root: apt-get install $2"
}

mib() { printf '%s MiB' "$(($1 >> 20))"; }

# ---- what the machine has

regions() {
  local path
  for path in "$nd"/region*; do
    if [[ $(read_attribute "$path/nstype") == [45] ]]; then echo "${path##*/}"; fi
  done
}

choose_region() {
  local -a found
  local each text=
  mapfile -t found < <(regions)
  ((${#found[@]} > 0)) || fail 3 "found no region of persistent memory in /sys/bus/nd/devices, expected one;" \
    "'ndctl list --regions --idle' shows what the firmware offers (for a trial: DRAM, with memmap=SIZE!START)"
  for each in "${found[@]}"; do text+=" $each ($(mib "$(read_attribute "$nd/$each/size")"))"; done
  if [[ -z $region ]]; then
    ((${#found[@]} == 1)) || fail 2 "found ${#found[@]} regions, expected --region with one of:$text"
    region=${found[0]}
  fi
  [[ " ${found[*]} " == *" $region "* ]] || fail 2 "--region: found '$region', expected one of:$text"
  [[ -e $nd/$region/driver ]] || fail 3 "$region is disabled; 'ndctl enable-region $region' enables it"
  [[ $(read_attribute "$nd/$region/read_only") != 1 ]] || fail 3 "$region is read-only; expected one that can be written"
}

# Sets namespace to the region's only namespace, or to nothing.
choose_namespace() {
  local path hidden
  local -a found=()
  for path in "$nd/namespace${region#region}".*; do
    if [[ -e $path && $(read_attribute "$path/size") != 0 ]]; then found+=("${path##*/}"); fi
  done
  ((${#found[@]} <= 1)) || fail 3 "$region holds ${#found[@]} namespaces (${found[*]}), expected at most one, so" \
    "nothing was changed; 'ndctl destroy-namespace --force NAMESPACE' destroys a namespace and its data"
  namespace=${found[0]:-}
  [[ -z $namespace ]] || return 0
  hidden=$(read_attribute "$nd/$region/available_size")
  hidden=$(($(read_attribute "$nd/$region/size") - ${hidden:-0}))
  ((hidden == 0)) || fail 3 "$region has no usable namespace, but its labels assign $(mib "$hidden") of it to" \
    "namespaces; 'ndctl list --namespaces --idle --region=$region' and 'ndctl read-labels' say more"
}

# Sets device (/dev/pmemN) and identity (the text in the mark) of the namespace.
find_device() {
  local holder path
  holder=$(read_attribute "$nd/$namespace/holder")
  path=$(compgen -G "$nd/${holder:-$namespace}/block/*") ||
    fail 3 "$namespace is disabled; 'ndctl enable-namespace $namespace' enables it"
  device=/dev/${path##*/}
  [[ -e $root$device ]] || fail 3 "$device is missing, though $namespace is enabled; udev or devtmpfs should make it"
  identity=$(read_attribute "$nd/${holder:-$namespace}/uuid")
  identity="$namespace ${identity:-$(read_attribute "$nd/$namespace/size")}"
}

# mounts DEVICE prints "MOUNT-POINT OPTIONS" of each of its mounts. The kernel writes spaces in paths as \040.
mounts() {
  local number
  number=$(read_attribute "$root/sys/class/block/${1##*/}/dev")
  awk -v number="$number" '$3 == number { print $5, $6 "," $NF }' "$root/proc/self/mountinfo"
}

# refuse_used DEVICE ends the script if the device is in use by anything except our mount.
refuse_used() {
  local block=$root/sys/class/block/${1##*/} holders where options
  holders=$(ls "$block/holders")
  [[ -z $holders ]] || fail 3 "$1 is part of ${holders//$'\n'/, } (LVM, RAID or device mapper), expected an unused device"
  if grep -q "^$1[[:space:]]" "$root/proc/swaps"; then fail 3 "$1 is swap, expected an unused device"; fi
  while read -r where options; do
    [[ $where == "$mount_point" ]] || fail 3 "$1 is mounted at $where ($options), expected a device that is not mounted elsewhere"
  done < <(mounts "$1")
}

# signatures_of DEVICE prints a line for each signature, even if blkid gives no TYPE (partition tables, two formats at
# once).
signatures_of() { wipefs --noheadings --output TYPE "$1" || fail 3 "wipefs cannot read $1"; }

# refuse_held DEVICE ends the script if there are signatures, or data where most formats begin or end.
refuse_held() {
  local signatures sectors place status start=0 mebibyte=1048576
  local erase="'blkdiscard --force --zeroout $1' would erase all of it"
  signatures=$(signatures_of "$1") || exit
  [[ -z $signatures ]] || fail 3 "$1 ($namespace) holds a signature (${signatures//$'\n'/, }), expected an empty device; $erase"
  sectors=$(read_attribute "$root/sys/class/block/${1##*/}/size")
  for place in first last; do
    status=0
    cmp --silent --bytes=$mebibyte --ignore-initial="$start:0" "$root$1" /dev/zero || status=$?
    ((status < 2)) || fail 3 "$1 ($namespace) cannot be read in its $place MiB; 'ndctl list --media-errors' may say why"
    ((status == 0)) || fail 3 "$1 ($namespace) holds data in its $place MiB, expected zeros; $erase"
    start=$((sectors * 512 - mebibyte))
  done
}

# ---- the steps

make_namespace() {
  local mode holder
  if [[ -z $namespace ]]; then
    echo "$region: $(mib "$(read_attribute "$nd/$region/size")"), no namespace"
    act ndctl create-namespace --region="$region" --mode=fsdax
  else
    mode=$(read_attribute "$nd/$namespace/mode")
    holder=$(read_attribute "$nd/$namespace/devtype")
    echo "$region: $(mib "$(read_attribute "$nd/$region/size")"), $namespace"
    if [[ $mode == memory ]]; then
      in_place "$namespace is in fsdax mode"
    elif [[ $mode == raw && $holder == nd_namespace_io ]]; then
      # On a region without labels, the kernel itself makes the whole region a namespace in raw mode; no administrator
      # has chosen this.
      find_device
      refuse_used "$device"
      refuse_held "$device"
      echo "  $namespace is in raw mode, like every region without labels; $device is empty"
      act ndctl create-namespace --force --reconfig="$namespace" --mode=fsdax
    else
      case $mode in safe) mode=sector ;; dax) mode=devdax ;; esac
      fail 3 "$namespace is in $mode mode, expected fsdax or no namespace; 'ndctl create-namespace --force" \
        "--reconfig=$namespace --mode=fsdax' would change that, and destroy what it holds"
    fi
  fi
  if [[ $yes == yes ]]; then
    choose_namespace
    find_device
  elif ((changes > 0)); then
    device=/dev/pmem${region#region}  # not yet created: the name of a region's first namespace
  else
    find_device
  fi
}

make_file_system() {
  local type signatures
  local -a force=() command
  uuid=
  if ((changes == 0)) || [[ $yes == yes ]]; then
    refuse_used "$device"
    type=$(blkid -p -o value -s TYPE "$device" || true)
    signatures=$(signatures_of "$device") || exit
    if [[ $(blkid -p -o value -s LABEL "$device" || true) == "$label" && $type == @(ext4|xfs) ]]; then
      [[ $type == "$file_system" ]] || fail 3 "$device holds the $type file system of an earlier run, found --file-system" \
        "$file_system; --file-system $type would be accepted"
      if [[ $type == xfs && $(od -An -tu1 -j126 -N1 "$root$device") -ne 0 ]]; then  # the superblock's sb_inprogress
        force=(-F)
      else
        uuid=$(blkid -p -o value -s UUID "$device")
        in_place "$device holds Ringside's $type file system, UUID $uuid"
        [[ $yes == no ]] || rm -f "$root$mark"
        return
      fi
    elif [[ -z $type && $(read_attribute "$root$mark") == "$identity" && -z $signatures ]]; then
      force=(-F)
    else
      refuse_held "$device"
      echo "  $device is empty"
    fi
    ((${#force[@]} == 0)) || echo "  an earlier run found $device empty, but its mkfs was interrupted"
  fi
  # DAX needs blocks of the size of a page. Extents begin at multiples of 2 MiB, so that a slot can be mapped with huge
  # pages.
  if [[ $file_system == ext4 ]]; then
    command=(mkfs.ext4 -q "${force[@]}" -L "$label" -b 4096 -m 0 -E "stride=512,stripe_width=512" "$device")
  else  # older kernels allow shared extents or DAX, but not both
    command=(mkfs.xfs -q "${force[@]//F/f}" -L "$label" -b size=4096 -m reflink=0 -d "su=2m,sw=1,extszinherit=512" "$device")
  fi
  if [[ $yes == yes ]]; then
    { mkdir -p "$root${mark%/*}" && echo "$identity" >"$root$mark"; } || fail 3 "$mark cannot be written"
  fi
  act "${command[@]}"
  [[ $yes == yes ]] || return 0
  rm -f "$root$mark"
  uuid=$(blkid -p -o value -s UUID "$device")
}

mount_options=dax=always,nodev,nosuid,noexec

# Sets is_mounted to yes if the device is mounted at the right place. The mount must then have dax=always.
look_at_mount() {
  local where options
  is_mounted=no
  [[ -n $uuid ]] || return 0
  while read -r where options; do
    [[ $where == "$mount_point" ]] || continue
    [[ ,$options, == *,dax=always,* ]] || fail 3 "$device is mounted at $mount_point without dax=always ($options)," \
      "expected dax=always; unmount it and run $name again"
    is_mounted=yes
  done < <(mounts "$device")
}

prepare_mount_point() {
  local other
  [[ ! -L $root$mount_point ]] || fail 3 "$mount_point is a symbolic link, expected a folder or nothing"
  other=$(awk -v where="$mount_point" '$5 == where { print $(NF - 1) }' "$root/proc/self/mountinfo")
  [[ -z $other ]] || fail 3 "$mount_point: $other is mounted there, expected nothing or $device"
  if [[ ! -e $root$mount_point ]]; then
    # Until a file system is mounted on it, the folder belongs to root, so that no pool is made on the underlying disk
    # by mistake.
    act mkdir -p "$mount_point"
  elif [[ -n $(ls -A "$root$mount_point") ]]; then
    fail 3 "$mount_point holds files, which the mount would hide; expected an empty folder or none"
  fi
}

unit_text() {
  local what=/dev/disk/by-uuid/$1 check
  cat <<TEXT
# Made by $name: Ringside's persistent memory. The analyzer is not started when it cannot be mounted.
[Unit]
Description=Persistent memory of Ringside
Before=ringside-analyzer.service
TEXT
  if [[ $file_system == ext4 ]]; then  # for xfs, a check at boot has no effect
    check=$(systemd-escape --path --template=systemd-fsck@.service "$what")
    printf 'Requires=%s\nAfter=%s\n' "$check" "$check"
  fi
  cat <<TEXT

[Mount]
What=$what
Where=$mount_point
Type=$file_system
Options=$mount_options,nofail

[Install]
RequiredBy=ringside-analyzer.service
WantedBy=multi-user.target
TEXT
}

mount_with_systemd() {
  local unit text
  need udevadm udev
  unit=$(systemd-escape --path --suffix=mount "$mount_point")
  text=$(unit_text "${uuid:-UUID-OF-THE-FILE-SYSTEM}")
  if [[ -e $root$unit_folder/$unit && $(cat "$root$unit_folder/$unit") == "$text" ]]; then
    in_place "$unit_folder/$unit"
  else
    if [[ -e $root$unit_folder/$unit ]] && ! grep -q "^# Made by $name:" "$root$unit_folder/$unit"; then
      fail 3 "$unit_folder/$unit exists and was not made by $name; expected no such file"
    fi
    write_file "$unit_folder/$unit" "$text"
    act systemctl daemon-reload
  fi
  if [[ $is_mounted == yes ]] && systemctl is-enabled --quiet "$unit"; then
    in_place "$unit is enabled; $device is mounted at $mount_point with dax=always"
  else
    # The unit waits for the link by UUID. udev makes this link, but may not have detected the new file system yet.
    act udevadm trigger --action=change --settle "$device"
    act systemctl enable --now "$unit"
  fi
}

mount_without_systemd() {
  if [[ $is_mounted == yes ]]; then
    in_place "$device is mounted at $mount_point with dax=always"
  else
    act mount -t "$file_system" -o "$mount_options" "$device" "$mount_point"
  fi
  echo "  systemd is not running here; to mount it at each boot, add this line to /etc/fstab:"
  echo "      UUID=${uuid:-UUID-OF-THE-FILE-SYSTEM} $mount_point $file_system $mount_options,nofail 0 2"
}

mount_it() {
  look_at_mount
  [[ $is_mounted == yes ]] || prepare_mount_point
  if [[ -d $root/run/systemd/system ]]; then mount_with_systemd; else mount_without_systemd; fi
  [[ $yes == yes ]] || return 0
  look_at_mount
  [[ $is_mounted == yes ]] || fail 3 "$device is not mounted at $mount_point, though mounting it reported success"
}

give_to_owner() {
  if [[ $is_mounted == yes && $(stat -c '%U:%G %a' "$root$mount_point") == "$owner 700" ]]; then
    in_place "$mount_point belongs to $owner, and no other user has access"
  else
    act chown "$owner" "$mount_point"
    act chmod 0700 "$mount_point"
  fi
}

# `ringside doctor` checks the result, because the programs of Ringside rely on it.
check_dax() {
  local found
  if ! command -v ringside >/dev/null; then
    echo "  ringside is not on PATH: 'ringside doctor $mount_point' reports whether stores persist in place"
    return
  fi
  found=$(ringside doctor --json "$mount_point" 2>/dev/null) || true  # it may report other problems
  if [[ $found == *'"dax": true'* ]]; then
    echo "  ringside doctor: stores persist in place"
  else
    fail 3 "$mount_point is mounted with dax=always, but 'ringside doctor $mount_point' reports that stores do not" \
      "persist in place there; run it to see the reason"
  fi
}

while (($# > 0)); do
  case $1 in
    --region | --file-system | --mount-point | --owner)
      (($# > 1)) || fail 2 "$1: found nothing after it, expected a value; see --help"
      set -- "$1=$2" "${@:3}"
      continue
      ;;
    --region=*) region=${1#*=} ;;
    --file-system=*) file_system=${1#*=} ;;
    --mount-point=*) mount_point=${1#*=} ;;
    --owner=*) owner=${1#*=} ;;
    --yes) yes=yes ;;
    -h | --help) usage && exit 0 ;;
    *) fail 2 "unknown option '$1'; see --help" ;;
  esac
  shift
done
[[ $file_system == ext4 || $file_system == xfs ]] || fail 2 "--file-system: found '$file_system', expected ext4 or xfs"
[[ $mount_point =~ ^(/[A-Za-z0-9._-]+)+$ && ! $mount_point =~ /\.\.?(/|$) ]] ||
  fail 2 "--mount-point: found '$mount_point', expected an absolute path of letters, digits and ._-"
[[ $owner == ?*:?* ]] || fail 2 "--owner: found '$owner', expected USER:GROUP"

[[ $(id -u) == 0 ]] || fail 3 "this needs root, even to inspect the device; run it with sudo"
need ndctl ndctl
need wipefs util-linux
need "mkfs.$file_system" "$([[ $file_system == xfs ]] && echo xfsprogs || echo e2fsprogs)"
if ! getent passwd "${owner%%:*}" >/dev/null || ! getent group "${owner#*:}" >/dev/null; then
  fail 3 "--owner: user and group '$owner' do not both exist; installing the ringside package makes ringside:ringside"
fi

choose_region
# Two runs of this script at the same time could make two file systems on one device.
if [[ $yes == yes ]]; then
  exec 9<"$nd/$region"
  flock --nonblock 9 || fail 3 "another $name is at work on $region"
fi
choose_namespace
make_namespace
make_file_system
mount_it
give_to_owner
if [[ $yes == no ]] && ((changes > 0)); then
  echo "Nothing was changed. With --yes the commands marked + are run, in this order."
  exit 0
fi
check_dax
((changes > 0)) || echo "Everything is in place; nothing was changed."
cat <<TEXT
The analyzer keeps its pool there with these two lines in /etc/ringside/analyzer.toml, in place of its pool line:
pool = "$mount_point/ringside.pool"
require-dax = true
TEXT
