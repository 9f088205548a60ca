# SPDX-License-Identifier: BSD-3-Clause
"""Where the programs, headers and libraries of this installation are: below ringside/_prefix in a wheel, below /usr in a Debian
package. Builds of programs in C, C++ or Fortran use these functions like numpy.get_include() or pybind11.get_cmake_dir()."""

from __future__ import annotations

import os

from .errors import NoFileError

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def get_prefix() -> str:
    """The folder with bin, include, lib and share.

    >>> import os, ringside
    >>> os.path.isdir(ringside.get_prefix())
    True
    """
    own = os.path.join(_PACKAGE, "_prefix")
    if os.path.isdir(own):
        return own
    return os.path.normpath(os.path.join(_PACKAGE, *[os.pardir] * 4))  # PREFIX/lib/python3/dist-packages/ringside


def _found(*candidates: tuple[str, ...]) -> str:
    for candidate in candidates:
        path = os.path.join(get_prefix(), *candidate)
        if os.path.exists(path):
            return os.path.dirname(path)
    raise NoFileError(f"{os.path.join(get_prefix(), *candidates[0])}: not found; expected it in the wheel ringside-insitu-core, or from "
                      "the package libringside-dev (apt install libringside-dev)")


def _in_lib(*names: str) -> list[tuple[str, ...]]:
    import sysconfig
    multiarch = sysconfig.get_config_var("MULTIARCH")
    return [("lib", *names)] + ([("lib", multiarch, *names)] if multiarch else [])


def get_include() -> str:
    """The folder of ringside.h and ringside.hpp, for the compiler's -I."""
    return _found(("include", "ringside.h"))


def get_lib() -> str:
    """The folder of libringside, for the linker's -L and -rpath."""
    return _found(*_in_lib("libringside.so"))


def get_pkgconfig_dir() -> str:
    """The folder of ringside.pc, for PKG_CONFIG_PATH."""
    return _found(*_in_lib("pkgconfig", "ringside.pc"))


def get_cmake_dir() -> str:
    """The folder of RingsideConfig.cmake, for CMake's Ringside_DIR."""
    return _found(*_in_lib("cmake", "Ringside", "RingsideConfig.cmake"))


def get_fortran_source() -> str:
    """The path of ringside.f90. A program in Fortran compiles this file together with its own, because a .mod file is
    valid only for one compiler."""
    return os.path.join(_found(("share", "ringside", "fortran", "ringside.f90")), "ringside.f90")
