#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests the last commit on another release of Debian or Ubuntu, in a chroot that debootstrap makes once and
# that is kept for later runs. It runs quickstart.sh, test.sh --quick and package.sh as an ordinary user without sudo,
# and then installs and runs the packages that were made. With --wheels, tests the wheels for a user without root, in a
# chroot with only Python, a C compiler and pkg-config. Run it before a release. If one stage fails, the next stages
# still run; the last line says whether all passed. Exit status: 0 passed, 1 failed, 2 usage, 3 the system lacks
# something.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/packages.sh
source "$here/packages.sh"
# shellcheck source=deploy/stages.sh
source "$here/stages.sh"

usage() {
  cat <<'TEXT'
usage: test_on.sh SUITE [--wheels FOLDER] [--mirror URL] [--folder FOLDER]     (as root)
  SUITE             bookworm, trixie, noble, or another release that debootstrap can make
  --wheels FOLDER   test the files that deploy/wheels.sh made there, in the chroot SUITE-wheels, instead of all other tests
  --mirror URL      mirror from which the chroot gets its packages (default: the mirror in this system's sources)
  --folder FOLDER   folder of the chroot SUITE, made once and kept (default: ringside/chroots in the user's cache folder)
Tests on real matrices use the folder that RINGSIDE_TEST_DATA names, if there is one.
TEXT
}

refuse() {
  echo "test_on.sh: $1" >&2
  exit "${2:-3}"
}

arguments=("$@")
suite=
mirror=
wheels=
folder=${XDG_CACHE_HOME:-$HOME/.cache}/ringside/chroots
while (($# > 0)); do
  case $1 in
    --mirror | --folder | --wheels)
      if (($# < 2)) || [[ -z $2 ]]; then refuse "$1: expected a value" 2; fi
      case $1 in
        --mirror) mirror=$2 ;;
        --wheels) wheels=$(realpath -m -- "$2") ;;
        *) folder=$(realpath -m -- "$2") ;;
      esac
      shift ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "test_on.sh: unknown option '$1'" >&2 && usage >&2 && exit 2 ;;
    *)
      if [[ -n $suite || ! $1 =~ ^[a-z]+$ ]]; then refuse "found '$1', expected one SUITE, such as trixie" 2; fi
      suite=$1 ;;
  esac
  shift
done
if [[ -z $suite ]]; then usage >&2 && exit 2; fi
if ((EUID != 0)); then
  refuse "debootstrap and chroot need root: run sudo $0 ${arguments[*]} (the tests themselves run as an ordinary user)"
fi
if [[ -n $wheels ]] && ! compgen -G "$wheels/ringside_insitu-*.whl" >/dev/null; then
  refuse "--wheels: found no ringside_insitu-*.whl in $wheels, expected the wheels that deploy/wheels.sh makes"
fi
system=$suite${wheels:+-wheels}  # the name of the chroot
for tool in debootstrap unshare git; do
  command -v "$tool" >/dev/null || refuse "'$tool' was not found; as root: apt-get install debootstrap util-linux git"
done

# The script runs in its own namespaces. So its mounts, and processes that its tests left running, always end with it.
# Only SIGKILL ends `unshare` before its child, which is then killed, too.
if [[ ${RINGSIDE_TEST_ON_APART:-} != yes ]]; then
  mkdir -p "$folder"
  exec {lock}>"$folder/$system.lock"
  flock --nonblock "$lock" || refuse "another run uses $folder/$system"
  RINGSIDE_TEST_ON_APART=yes unshare --mount --propagation private --pid --fork --kill-child -- "$0" "${arguments[@]}" &
  trap 'kill -KILL $!; exit 1' INT TERM HUP
  status=0
  wait $! || status=$?
  exit "$status"
fi

# debootstrap makes every Ubuntu release with its script for gutsy. It may be too old to know the release's name.
is_ubuntu() { [[ $mirror == *ubuntu* || $(readlink "/usr/share/debootstrap/scripts/$suite") == gutsy ]]; }

# The first mirror of the suite's distribution among this system's own sources.
default_mirror() {
  local origin=Debian
  if is_ubuntu; then origin=Ubuntu; fi
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
    awk -v origin="$origin" '$2 == origin && $3 == "main" && !found { print $1; found = 1 }'
}

failed=()
minutes=()
chroot=$folder/$system
user=ringside
home=/home/$user
source_folder=$home/ringside

# check NAME TITLE COMMAND... runs one stage. It records the stage's minutes, and its NAME if the stage fails.
check() {
  local name=$1 began=$SECONDS
  stage "$suite: $2"
  shift 2
  "$@" || failed+=("$name")
  minutes+=("$(awk -v name="$name" -v s=$((SECONDS - began)) 'BEGIN { printf "%s %.1f", name, s / 60 }')")
}

as_root() { chroot "$chroot" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() {
  chroot --userspec="$user:$user" "$chroot" /usr/bin/env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME="$home" USER="$user" \
    LOGNAME="$user" RINGSIDE_TEST_DATA="$home/data" "$@"
}

make_chroot() {
  local made=$chroot.new components=main
  local -a script=()
  if [[ -d $chroot ]]; then echo "found $chroot" && return 0; fi
  if [[ -z $mirror ]]; then mirror=$(default_mirror); fi
  if [[ -z $mirror ]]; then refuse "apt has no mirror of that distribution among its sources; expected --mirror URL"; fi
  if is_ubuntu; then components=main,universe script=(gutsy); fi
  rm -rf --one-file-system "$made"
  quietly "$folder/$system.log" debootstrap --variant=minbase --components="$components" "$suite" "$made" "$mirror" "${script[@]}" || exit 3
  # Copies the settings with which this system's apt reaches a mirror, such as a proxy.
  apt-config dump | grep -E '^Acquire::(http|https|Check-)' >"$made/etc/apt/apt.conf.d/99ringside" || true
  chroot "$made" useradd --create-home --shell /bin/bash "$user"
  mv "$made" "$chroot"
}

enter_chroot() {
  mount --bind "$chroot" "$chroot"  # makes it a mount point, so that /proc/self/mountinfo names the file system of /
  mount -t proc proc "$chroot/proc"
  mount --rbind /sys "$chroot/sys"
  mount --rbind /dev "$chroot/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$chroot/dev/shm"
  mount -t tmpfs -o mode=755 tmpfs "$chroot/run"
  cp /etc/resolv.conf "$chroot/etc/resolv.conf"
  echo "127.0.0.1 localhost $(hostname)" >"$chroot/etc/hosts"
  mkdir -p "$chroot$home/data"
  if [[ -n ${RINGSIDE_TEST_DATA:-} && -d $RINGSIDE_TEST_DATA ]]; then
    mount --bind -o ro "$(realpath "$RINGSIDE_TEST_DATA")" "$chroot$home/data"
  fi
}

copy_sources() {
  rm -rf --one-file-system "${chroot:?}$source_folder"
  git -c safe.directory='*' clone -q --no-hardlinks "$root" "$chroot$source_folder"
  chown -R --reference "$chroot$home" "$chroot$source_folder"
  git -c safe.directory='*' -C "$root" log -1 --format='%h %s'
}

# Installs the packages as root, from the lists of the commit under test, so that the scripts themselves find that no
# package is missing.
install_what_is_needed() {
  # shellcheck disable=SC2016  # expanded in the chroot
  as_root bash -c 'source "$1/deploy/packages.sh" && install_packages git ca-certificates ccache procps "${packages_build[@]}" \
    "${packages_test[@]}" "${packages_python[@]}" "${packages_python_test[@]}" "${packages_mpi[@]}" "${packages_package[@]}"' \
    bash "$source_folder"
}

install_and_run() {
  as_root bash -c "apt-get install -y --no-install-recommends $source_folder/build/package/*.deb" \
    >"$folder/$suite-install.log" 2>&1 </dev/null || { tail -n 30 "$folder/$suite-install.log" && return 1; }
  as_user bash -c 'cd && ringside run --matrix grid:300 --iterations 50 --pool installed.pool --overwrite && ringside verify installed.pool &&
    python3 -c "import ringside; print(\"python3-ringside:\", ringside.__version__)"' || return 1
  # The next run's tests must not find an installed library.
  as_root bash -c 'dpkg --get-selections "*ringside*" | cut -f1 | xargs apt-get purge -y && ! dpkg --get-selections | grep ringside' \
    >>"$folder/$suite-install.log" 2>&1
}

# Does what a user does: makes an environment, installs with pip, makes a run, runs installed_wheel.py, and runs the
# README's notebooks. NumPy and Jupyter were downloaded before, as wheels for that Python; pip searches only these
# folders. (pip evaluates the conditions of these downloads for this system's Python: Python 3.10 also needs
# exceptiongroup.)
test_wheels() {
  local files=$home/wheels version
  quietly "$folder/$system-packages.log" as_root bash -c \
    'apt-get update && apt-get install -y --no-install-recommends python3-venv gcc libc6-dev pkg-config' || return 1
  version=$(as_root python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  rm -rf --one-file-system "${chroot:?}$files" "${chroot:?}$home/environment"
  mkdir -p "$chroot$files"/{others,tests/python}
  cp "$wheels"/*.whl "$root/tests/python/installed_wheel.py" "$root/examples/publish.c" "$root/README.md" "$chroot$files"
  cp "$root"/tests/python/{notebook_test,pipelines}.py "$chroot$files/tests/python"
  if [[ $(printf '%s\n' 3.10 "$version" | sort -V | head -n 1) != 3.10 ]]; then
    chown -R --reference "$chroot$home" "$chroot$files"
    test_files_alone "$version"
    return
  fi
  quietly "$folder/$system-others.log" python3 -m pip download --dest "$chroot$files/others" --only-binary=:all: \
    --python-version "$version" --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 \
    numpy xarray nbconvert ipykernel exceptiongroup || return 1
  chown -R --reference "$chroot$home" "$chroot$files"
  # shellcheck disable=SC2016  # expanded in the chroot
  as_user bash -ec '
    cd
    began=$(date +%s%N)
    python3 -m venv environment
    . environment/bin/activate
    pip install --quiet --no-index --find-links wheels --find-links wheels/others ringside-insitu
    ringside run --matrix grid:300 --iterations 50 --pool first.pool --overwrite >first.txt
    echo "to the first account: $((($(date +%s%N) - began) / 1000000)) ms; $(python --version), $(ldd --version | head -n 1)"
    python -B wheels/installed_wheel.py wheels
    pip install --quiet --no-index --find-links wheels/others xarray nbconvert ipykernel
    python -B wheels/tests/python/notebook_test.py environment/bin'
}

# Debian 11 has glibc 2.31 and Python 3.9. The package does not support this Python, so this function tests the programs
# and the library from the unpacked wheels.
test_files_alone() {
  echo "Python $1 is older than 3.10: the programs and the library only"
  # shellcheck disable=SC2016  # expanded in the chroot
  as_user bash -ec '
    cd ~/wheels
    for wheel in ringside_insitu*.whl; do python3 -m zipfile -e "$wheel" unpacked; done
    prefix=$PWD/unpacked/ringside/_prefix
    chmod -R u+x "$prefix/bin" "$prefix/libexec"
    export PATH=$prefix/bin:$PATH
    ringside run --matrix grid:300 --iterations 50 --pool first.pool --overwrite
    cc -o publish publish.c $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs ringside) -Wl,-rpath,"$prefix/lib"
    ringside run --pool c.pool --overwrite -- ./publish 30
    ringside run --pool m.pool --overwrite --coordination messages -- ./publish 30
    ringside verify c.pool
    ringside export c.pool -o c.h5
    test -s c.h5
    echo "with $(ldd --version | head -n 1)"'
}

stage "$system: chroot"
make_chroot
enter_chroot
if [[ -n $wheels ]]; then
  check wheels "the wheels, as an ordinary user without any package of ours" test_wheels
  if ((${#failed[@]} > 0)); then echo "FAILED on $suite: ${failed[*]} (logs in $folder)" && exit 1; fi
  echo "PASSED on $suite: the wheels"
  exit 0
fi
stage "$suite: sources"
copy_sources
stage "$suite: packages"
install_what_is_needed || exit $?
check quickstart "quickstart.sh" as_user "$source_folder/deploy/quickstart.sh"
check test "test.sh --quick" as_user "$source_folder/deploy/test.sh" --quick
check package "package.sh" as_user "$source_folder/deploy/package.sh"
check install "the packages installed" install_and_run

stage "$suite: verdict"
printf 'minutes: %s\n' "$(printf '%s, ' "${minutes[@]}" | sed 's/, $//')"
if ((${#failed[@]} > 0)); then
  echo "FAILED on $suite: ${failed[*]} (logs in $chroot$source_folder/build/logs)"
  exit 1
fi
echo "PASSED on $suite: all stages"
