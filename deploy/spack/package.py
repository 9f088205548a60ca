# SPDX-License-Identifier: BSD-3-Clause
# The recipe of Ringside for Spack. Put it into packages/ringside/package.py of a repository of your own (`spack repo create`). Until
# Ringside has a public address: `spack develop --path FOLDER ringside@main`, then `spack install ringside +python`.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Ringside(CMakePackage):
    """Ringside keeps, analyses and accounts for every step of a running solver: the solver publishes its arrays through shared
    memory, and an analyzer on other cores keeps them in a crash-safe ring, from which the run resumes bit for bit."""

    homepage = "https://ringside.example"
    git = "https://ringside.example/ringside.git"

    license("BSD-3-Clause", checked_by="ringside")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("python", default=False, description="Build the Python package")
    variant("mpi", default=False, description="Build libringside_mpi, for solvers of several ranks")
    variant("programs", default=True, description="Build the programs; otherwise, build only libringside")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("xxhash", type="build")
    depends_on("python@3.9:", type="build")  # makes the Fortran module
    depends_on("gzip", type="build", when="+programs")

    with when("+programs"):
        depends_on("pkgconfig", type="build")
        depends_on("protobuf")
        depends_on("libzmq")
        depends_on("cppzmq")
        depends_on("zlib-api")
        depends_on("xz")
        depends_on("libarchive")
        depends_on("spdlog")
        depends_on("fmt")
        depends_on("cli11", type="build")
        depends_on("nlohmann-json")
        depends_on("pmdk@:1.13")  # libpmemlog, which later ones lack, reads and writes the journals of that backend
        depends_on("prometheus-cpp")
        depends_on("hdf5@1.10.5: ~mpi")
        depends_on("flatbuffers", type="build")
        depends_on("muparser")
        depends_on("hwloc")
        # The charts of `ringside report`.
        resource(
            name="chart.js",
            url="https://registry.npmjs.org/chart.js/-/chart.js-3.9.1.tgz",
            sha256="111e0751796f087a51e94dfed910ccfb1278fd30e584a6e48514dba9ae7e72c6",
            destination="chart.js",
        )

    depends_on("mpi", when="+mpi")
    with when("+python"):
        extends("python")
        depends_on("python@3.10:", type=("build", "link", "run"))
        depends_on("py-numpy@1.22:", type=("build", "run"))

    # Loops run on OpenMP's threads, and sources are C++20.
    conflicts("%gcc@:11", when="+programs")
    conflicts("platform=darwin", msg="Ringside needs Linux for futexes, /proc and shared memory")
    conflicts("platform=windows", msg="Ringside needs Linux for futexes, /proc and shared memory")

    def cmake_args(self):
        args = [
            self.define_from_variant("RINGSIDE_BUILD_PROGRAMS", "programs"),
            self.define_from_variant("RINGSIDE_BUILD_PYTHON", "python"),
            self.define_from_variant("RINGSIDE_BUILD_MPI", "mpi"),
            self.define("RINGSIDE_BUILD_TESTS", False),
            self.define("RINGSIDE_BUILD_BENCH", False),
            self.define("RINGSIDE_BUILD_EXAMPLES", False),
            self.define("RINGSIDE_WARNINGS", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
        ]
        if self.spec.satisfies("+programs"):
            chart = join_path(self.stage.source_path, "chart.js", "package", "dist", "chart.min.js")
            args.append(self.define("RINGSIDE_CHART_JS", chart))
        if self.spec.satisfies("+python"):
            python = self.spec["python"]
            args.append(self.define("Python3_EXECUTABLE", python.command.path))
            args.append(self.define("RINGSIDE_PYTHON_INSTALL_DIR", python.package.platlib))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        if self.spec.satisfies("+programs"):
            ringside = Executable(self.prefix.bin.ringside)
            ringside("run", "--matrix", "grid:100", "--iterations", "20", "--pool", join_path(self.stage.path, "check.pool"))
