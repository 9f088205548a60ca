#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the libraries that the wheels contain from Debian's source packages, as static libraries with only the features
# that Ringside uses. (Debian's own builds of libarchive, ZeroMQ and HDF5 depend on ICU, krb5, curl, gnutls and ldap.)
# apt checks its downloads against Debian's signed lists; apt's own lists and the system remain unchanged. Called by
# ../wheels.sh.
set -euo pipefail

if (($# != 1)); then
  echo "usage: libraries.sh FOLDER      makes FOLDER/{prefix,glibc,licenses}; a library that is already there is not built again" >&2
  exit 2
fi
folder=$(realpath -m -- "$1")
mirror=${RINGSIDE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
security=${RINGSIDE_DEBIAN_SECURITY_MIRROR:-$mirror-security}
prefix=$folder/prefix
glibc=$folder/glibc
jobs=$(nproc)
mkdir -p "$folder"/{sources,licenses,logs} "$folder"/apt/lists/partial "$folder"/apt/cache/archives/partial "$prefix"/lib/pkgconfig

# Most sources come from Debian 12. From Debian 13 comes only PMDK (the last release with libpmemlog); from Debian 11,
# the glibc with which programs are linked.
keyring='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
cat >"$folder/apt/sources.list" <<TEXT
deb-src [$keyring] $mirror bookworm main
deb-src [$keyring] $security bookworm-security main
deb-src [$keyring] $mirror trixie main
deb [$keyring arch=amd64] $mirror bullseye main
TEXT
apt_options=(-o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$folder/apt/lists"
  -o "Dir::Cache=$folder/apt/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=)
apt() { (cd "$folder/sources" && apt-get -q "${apt_options[@]}" "$@"); }

# newest PACKAGE SUITE prints the newest version of a source package in a release, including security updates.
newest() {
  apt-cache "${apt_options[@]}" madison "$1" | awk -v suite=" $2" '/ Sources$/ && index($0, suite) { print $3 }' | sort -V | tail -n 1
}

# logged NAME COMMAND... runs a command with its output in logs/NAME.log, and prints that file if it fails.
logged() {
  local log=$folder/logs/$1.log
  shift
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    echo "libraries.sh: failed: $* (log: $log)" >&2
    return 1
  fi
}

# Programs run with the glibc with which they are linked, and with newer ones. wheels/glibc_2_28.c adds newer functions.
make_glibc() {
  if [[ -e $glibc/made ]]; then return 0; fi
  rm -rf "$glibc" && mkdir -p "$glibc"
  local version
  version=$(apt-cache "${apt_options[@]}" madison libc6-dev | awk '$3 ~ /^2\.31-/ { print $3; exit }')
  logged glibc apt download "libc6=$version" "libc6-dev=$version"
  dpkg-deb -x "$folder/sources/libc6_${version}_amd64.deb" "$glibc"
  dpkg-deb -x "$folder/sources/libc6-dev_${version}_amd64.deb" "$glibc"
  local link
  while read -r link; do ln -sfn "$glibc$(readlink "$link")" "$link"; done < <(find "$glibc" -type l -lname '/*')
  rm -rf "$glibc/usr/include"  # the compiler's own headers are used
  touch "$glibc/made"
}

# unpack PACKAGE VERSION prints the folder with the patched sources. (apt-get source also requires the signatures of the
# upstream authors, which a mirror may lack; its downloads have already passed apt's own check.)
unpack() {
  local package=$1 version=${2#*:} source=$folder/sources/$1 patch tar
  local upstream=${version%-*}
  local -a tars found=()
  rm -f "$folder/logs/$package.log"
  apt --download-only source "$package=$2" >"$folder/logs/$package.log" 2>&1 </dev/null || true
  tars=("$folder/sources/${package}_$upstream.orig.tar."{gz,xz,bz2} "$folder/sources/${package}_$version.debian.tar."{gz,xz,bz2})
  for tar in "${tars[@]}"; do if [[ -e $tar ]]; then found+=("$tar"); fi; done
  if ((${#found[@]} != 2)); then
    tail -n 5 "$folder/logs/$package.log" >&2
    echo "libraries.sh: $mirror: found no source package $package $version; expected a mirror that has it: RINGSIDE_DEBIAN_MIRROR=URL" >&2
    return 1
  fi
  rm -rf "$source" && mkdir -p "$source"
  tar -C "$source" --strip-components=1 -xf "${found[0]}"
  tar -C "$source" -xf "${found[1]}"
  while read -r patch; do
    patch -d "$source" -p1 -s <"$source/debian/patches/$patch" >>"$folder/logs/$package.log"
  done < <(grep -v '^[[:space:]]*\(#\|$\)' "$source/debian/patches/series" 2>/dev/null)
  cp "$source/debian/copyright" "$folder/licenses/$package"
}

export CFLAGS="-O2 -fPIC -ffunction-sections -fdata-sections" CXXFLAGS="-O2 -fPIC -ffunction-sections -fdata-sections"
export LDFLAGS="-B$glibc/usr/lib/x86_64-linux-gnu -L$glibc/usr/lib/x86_64-linux-gnu -Wl,--sysroot=$glibc -static-libstdc++ -static-libgcc"

# by_cmake PACKAGE OPTION... builds and installs below the prefix. It optimises for size, unless a caller sets
# `optimised`, because these libraries take little of a run's time.
by_cmake() {
  local source=$folder/sources/$1 package=$1
  shift
  mkdir -p "$source/build-ringside"
  cd "$source/build-ringside"  # where HDF5's configuration runs its programs
  logged "$package" cmake -S "$source" -B "$source/build-ringside" -G Ninja -DCMAKE_BUILD_TYPE="${optimised:-MinSizeRel}" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_CXX_STANDARD_LIBRARIES="$glibc/glibc_2_28.o -lpthread -ldl -lrt" "$@"
  logged "$package" cmake --build "$source/build-ringside" --parallel "$jobs"
  logged "$package" cmake --install "$source/build-ringside"
}

# library PACKAGE [SUITE]: the function build_PACKAGE builds the unpacked sources.
library() {
  local began=$SECONDS version
  version=$(newest "$1" "${2:-bookworm}")
  if [[ $(cat "$prefix/.$1" 2>/dev/null) == "$version" ]]; then return 0; fi
  unpack "$1" "$version"
  (cd "$folder/sources/$1" && "build_${1//-/_}")
  echo "$version" >"$prefix/.$1"
  rm -rf "${folder:?}/sources/$1"
  echo "$1 $version: $((SECONDS - began)) s"
}

build_zlib() { logged zlib env CHOST= ./configure --static --prefix="$prefix" && logged zlib make -j "$jobs" install; }
build_xz_utils() {
  logged xz-utils ./configure --prefix="$prefix" --disable-shared --disable-{xz,xzdec,lzmadec,lzmainfo,lzma-links,scripts,doc,nls}
  logged xz-utils make -j "$jobs" install
}
build_bzip2() {
  logged bzip2 make -j "$jobs" libbz2.a CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64"
  cp libbz2.a "$prefix/lib" && cp bzlib.h "$prefix/include"
}
build_libzstd() {
  logged libzstd make -C lib -j "$jobs" libzstd.a ZSTD_LEGACY_SUPPORT=0 ZSTD_LIB_DICTBUILDER=0 ZSTD_LIB_COMPRESSION=0 ZSTD_LIB_DEPRECATED=0
  cp lib/libzstd.a "$prefix/lib" && cp lib/zstd.h lib/zstd_errors.h "$prefix/include"
}
build_lz4() {
  logged lz4 make -C lib -j "$jobs" liblz4.a
  cp lib/liblz4.a "$prefix/lib" && cp lib/lz4*.h "$prefix/include"
}
# libarchive reads matrices from archives (producer/text/archive) and writes zip files (cli/export). The compiler's
# headers declare arc4random_buf, which glibc_2_28.c has.
build_libarchive() {
  rm -f "$prefix/lib/libarchive_itself.a"
  by_cmake libarchive -DENABLE_{TEST,TAR,CPIO,CAT,OPENSSL,NETTLE,MBEDTLS,LIBXML2,EXPAT,LIBB2,ICONV,ACL,XATTR,LZO,CNG}=OFF \
    -DENABLE_PCREPOSIX=OFF -DENABLE_{ZLIB,LZMA,BZip2,ZSTD,LZ4}=ON -DENABLE_WERROR=OFF -DHAVE_ARC4RANDOM_BUF=1
}
build_zeromq3() {
  local optimised=Release
  by_cmake zeromq3 -DBUILD_SHARED=OFF -DBUILD_STATIC=ON -DBUILD_TESTS=OFF -DENABLE_{CURVE,DRAFTS,WS}=OFF \
    -DWITH_{LIBSODIUM,LIBBSD,OPENPGM,NORM,VMCI,TLS,DOCS,PERF_TOOL}=OFF -DENABLE_CPACK=OFF
}
build_hdf5() {
  by_cmake hdf5 -DBUILD_TESTING=OFF -DHDF5_BUILD_{CPP_LIB,FORTRAN,HL_LIB,TOOLS,EXAMPLES,JAVA}=OFF \
    -DHDF5_ENABLE_{Z_LIB_SUPPORT,SZIP_SUPPORT,PARALLEL,EMBEDDED_LIBINFO,DEPRECATED_SYMBOLS}=OFF -DONLY_SHARED_LIBS=OFF
}
build_hwloc() {
  logged hwloc ./configure --prefix="$prefix" --disable-shared --enable-static \
    --disable-{libudev,libxml2,pci,cairo,opencl,cuda,nvml,rsmi,levelzero,gl,plugin-dlopen,readme,doxygen}
  logged hwloc make -j "$jobs" -C include install
  logged hwloc make -j "$jobs" -C hwloc install
}
build_protobuf() {
  by_cmake protobuf -Dprotobuf_BUILD_{TESTS,PROTOC_BINARIES}=OFF -Dprotobuf_WITH_ZLIB=OFF
}
# PMDK is built without libndctl, which needs kmod, udev and json-c. So the wheel's programs do not check for bad
# blocks.
build_pmdk() {
  local flags="$CFLAGS -Wno-error"
  logged pmdk make -C src -j "$jobs" NDCTL_ENABLE=n EXTRA_CFLAGS="$flags" BUILD_RPMEM=n DOC=n BUILD_EXAMPLES=n BUILD_BENCHMARKS=n \
    SRCVERSION="$(sed -n 's/.*(\(.*\)-.*/\1/p;q' debian/changelog)" libpmem libpmemobj libpmemlog
  cp src/nondebug/libpmem{,obj,log}.a "$prefix/lib"
  cp -r src/include/libpmem.h src/include/libpmem{obj,log}.h src/include/libpmemobj "$prefix/include"
}
build_fmtlib() { by_cmake fmtlib -DFMT_{DOC,TEST}=OFF; }
build_spdlog() { by_cmake spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_{EXAMPLE,TESTS}=OFF; }
build_prometheus_cpp() { by_cmake prometheus-cpp -DENABLE_{PUSH,PULL,TESTING}=OFF; }
build_muparser() { optimised=Release by_cmake muparser -DENABLE_{SAMPLES,OPENMP}=OFF; }

if [[ ! -s $folder/apt/updated ]]; then logged apt apt update && date >"$folder/apt/updated"; fi
make_glibc
cc -std=gnu11 -O2 -fPIC -ffunction-sections -Wno-builtin-declaration-mismatch -c "$(dirname "${BASH_SOURCE[0]}")/glibc_2_28.c" \
  -o "$glibc/glibc_2_28.o"
library zlib
library xz-utils
library bzip2
library libzstd
library lz4
library libarchive
library zeromq3
library hwloc
library fmtlib
library spdlog
library muparser
library prometheus-cpp
library pmdk trixie
library protobuf
library hdf5

rm -f "$prefix"/lib/*.so*  # some packages build static and shared libraries

# Tells the linker and pkg-config which further libraries a program needs with each of these libraries.
pc() {
  cat >"$prefix/lib/pkgconfig/$1.pc" <<TEXT
Name: $1
Description: built for the wheels
Version: $(sed 's/^[0-9]*:\|[-+].*//g' "$prefix/.$2")
Cflags: -I$prefix/include
Libs: -L$prefix/lib $3
TEXT
}
pc libpmem pmdk "-lpmem"
pc libpmemobj pmdk "-lpmemobj -lpmem"
pc libpmemlog pmdk "-lpmemlog -lpmem"
pc hdf5 hdf5 "-lhdf5"
pc hwloc hwloc "-lhwloc"
if [[ ! -e $prefix/lib/libarchive_itself.a ]]; then mv "$prefix/lib/libarchive.a" "$prefix/lib/libarchive_itself.a"; fi
echo "GROUP(libarchive_itself.a libz.a liblzma.a libbz2.a libzstd.a liblz4.a)" >"$prefix/lib/libarchive.a"

# GCC's own libraries are linked statically, too.
cp /usr/share/doc/gcc-12-base/copyright "$folder/licenses/gcc-12"
