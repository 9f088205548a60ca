# SPDX-License-Identifier: BSD-3-Clause
"""What the virtual node boots, built once and kept outside the repository.

Images are kept in the folder ringside/ of $RINGSIDE_NODE_CACHE, or of the user's cache folder if that is not set. An
image's name depends on its inputs: after a change of the builder or of the package's dependencies, there is another
image.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

BUILDER = pathlib.Path(__file__).with_name("build_image.sh")
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "debootstrap": "debootstrap",
    "cpio": "cpio",
    "busybox": "busybox-static",
    "dpkg-deb": "dpkg",
    "mkfs.ext4": "e2fsprogs",
}


def what_is_missing():
    """The reason why no virtual node can run here; "" if one can run."""
    missing = sorted(package for tool, package in NEEDED.items() if shutil.which(tool, path=_path()) is None)
    if missing:
        return f"not installed: {' '.join(missing)}"
    if os.geteuid() != 0:
        return "debootstrap makes devices and owners: run as root"
    return ""


def dependencies(package):
    """The names of the Debian packages on which `package` (a .deb file) depends."""
    field = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, stdout=subprocess.PIPE,
                           encoding="utf-8").stdout
    providers = _providers()
    return sorted({providers.get(name, name) for name in _names_in(field)})


def _names_in(field):
    """The names in a field such as "libc6 (>= 2.34), libgomp1 (>= 4.9) | libomp5". Of alternatives, only the first is
    returned."""
    return [re.split(r"[ (|]", one.strip())[0] for one in field.split(",") if one.strip()]


def _providers():
    """Maps virtual packages to real ones, because debootstrap knows only these. The packages with which Ringside's
    package was built are installed here."""
    installed = subprocess.run(["dpkg-query", "--show", "--showformat", "${Package}\t${Provides}\n"], check=True,
                               stdout=subprocess.PIPE, encoding="utf-8").stdout
    pairs = [line.split("\t") for line in installed.splitlines()]
    real = {package for package, _ in pairs}
    return {name: package for package, provides in pairs for name in _names_in(provides) if name not in real}


def image_for(package, log):
    """Returns the folder of an image in which `package` can be installed without a network; builds the image if it is
    missing."""
    wanted = dependencies(package)
    made_from = "\n".join([BUILDER.read_text(encoding="utf-8"), *wanted, pathlib.Path("/etc/os-release").read_text()])
    base = os.environ.get("RINGSIDE_NODE_CACHE") or os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "ringside" / f"node-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    if not folder.exists():
        log(f"building an image in {folder}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([BUILDER, folder, *wanted], check=True, stdin=subprocess.DEVNULL,
                       env=dict(os.environ, PATH=_path()))
    return folder


def _path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
