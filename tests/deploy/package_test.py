# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: their contents, lintian's report on them, and what the maintainer scripts do in a tree that dpkg
treats as a machine's root. Users' solvers are compiled against the packages in this tree. maintainer_scripts_test.py
runs the scripts with stand-ins for systemd. Arguments: the build folder, and the folder in which make_packages.py made
the packages."""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, MADE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = ROOT / "deploy" / "debian"


def call(*command, **options):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **options.pop("environment", {})}
    environment.pop("DESTDIR", None)
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          timeout=900, check=options.pop("check", True), env=environment, **options)


def setUpModule():
    """Unpacks the package of the programs."""
    Package.folder = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    Package.debs = {path.name.split("_")[0]: path for path in MADE.glob("*.deb")}
    Package.deb = Package.debs["ringside"]
    Package.tree = Package.folder / "tree"
    Package.control = Package.folder / "control"
    call("dpkg-deb", "-x", Package.deb, Package.tree)
    call("dpkg-deb", "-e", Package.deb, Package.control)
    Package.listing = [line for deb in Package.debs.values() for line in call("dpkg-deb", "-c", deb).stdout.splitlines()]
    Package.fields = dict(line.split(": ", 1) for line in (Package.control / "control").read_text(
        encoding="utf-8").splitlines() if re.match(r"[A-Z][\w-]*: ", line))


class Package(unittest.TestCase):
    """The unpacked package of the programs, for the tests; contains no tests."""

    def files(self):
        return [path for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink()]


class Contents(Package):
    def test_it_is_named_as_debian_names_it(self):
        version = re.search(r"project\(ringside VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        architecture = call("dpkg", "--print-architecture").stdout.strip()
        self.assertEqual(self.deb.name, f"ringside_{version}_{architecture}.deb")
        self.assertEqual((self.fields["Version"], self.fields["Architecture"]), (version, architecture))

    def test_programs_pages_completions_settings_and_documents_are_in_it(self):
        for path in ("usr/bin/ringside", "usr/bin/ringside-producer", "usr/bin/ringside-analyzer", "usr/bin/ringside-memory",
                     "usr/libexec/ringside/ringside-analyses", "usr/libexec/ringside/ringside-export",
                     "usr/libexec/ringside/ringside-plan", "usr/libexec/ringside/ringside-serve",
                     "usr/share/man/man1/ringside.1.gz", "usr/share/man/man1/ringside-run.1.gz",
                     "usr/share/bash-completion/completions/ringside", "usr/share/zsh/vendor-completions/_ringside",
                     "usr/share/fish/vendor_completions.d/ringside.fish", "etc/ringside/analyzer.toml",
                     "etc/ringside/serve.toml", "usr/share/doc/ringside/README.md",
                     "usr/share/doc/ringside/docs/inside/architecture.md", "usr/share/doc/ringside/copyright",
                     "usr/share/doc/ringside/examples/jobs/grid.toml", "usr/share/ringside/dashboards/alerts.yml"):
            self.assertTrue((self.tree / path).is_file(), path)
        self.assertTrue((self.tree / "etc" / "ringside" / "jobs").is_dir())

    def test_every_link_of_its_documents_leads_to_a_file_in_it(self):
        folder = self.tree / "usr" / "share" / "doc" / "ringside"
        pages = [page for page in folder.rglob("*.md") if page.name != "CHANGELOG.md"]
        self.assertGreater(len(pages), 20)
        for page in pages:
            for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
                if "://" not in link:
                    self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")

    def test_what_the_repository_has_for_a_node_is_in_it(self):
        for source, path in (("provision_pmem.sh", "usr/sbin/ringside-provision-pmem"),
                             ("start_node.sh", "usr/bin/ringside-start-node"),
                             ("systemd/CMakeLists.txt", "usr/lib/systemd/system/ringside-analyzer.service"),
                             ("systemd/CMakeLists.txt", "usr/lib/sysusers.d/ringside.conf")):
            self.assertEqual((ROOT / "deploy" / source).exists(), (self.tree / path).exists(), path)

    def test_tests_benchmarks_and_build_files_are_not(self):
        names = [path.name for path in self.files()]
        self.assertEqual([n for n in names if re.search(r"_test$|_test\.|bench_|explorer|\.a$|\.cmake$|\.hpp$|^made$", n)], [])
        self.assertFalse((self.tree / "usr" / "include").exists())
        for path in self.files():
            self.assertNotIn(str(BUILD).encode(), path.read_bytes(), path)

    def test_everything_is_roots_and_nobody_else_may_write_it(self):
        for line in self.listing:
            mode, owner = line.split()[:2]
            self.assertEqual(owner, "root/root", line)
            self.assertIn(mode, ("drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"), line)

    def test_every_file_in_etc_is_a_conffile(self):
        declared = (self.control / "conffiles").read_text(encoding="utf-8").split()
        found = ["/" + str(path.relative_to(self.tree)) for path in self.files() if "etc" in path.parts]
        self.assertEqual(sorted(declared), sorted(p for p in found if p.startswith("/etc/")))

    def test_its_libraries_and_what_a_node_wants_are_named(self):
        depends = {entry.split(" ")[0] for entry in self.fields["Depends"].split(", ")}
        self.assertLessEqual({"libc6", "libpmemobj1", "libpmem1", "libhwloc15", "libzmq5", "libgomp1", "libhdf5-103-1"}, depends)
        self.assertEqual(set(self.fields["Recommends"].split(", ")), {"ndctl", "systemd"})

    def test_only_the_exporting_program_needs_libhdf5(self):
        needing = [path.name for path in self.files() if path.read_bytes()[:4] == b"\x7fELF" and
                   "[libhdf5" in call("readelf", "-dW", path).stdout]
        self.assertEqual(needing, ["ringside-export"])

    def test_programs_are_stripped_and_look_for_libraries_where_the_system_does(self):
        for path in self.files():
            if path.read_bytes()[:4] != b"\x7fELF":
                continue
            with self.subTest(path.name):
                self.assertNotIn(".symtab", call("readelf", "-SW", path).stdout)
                self.assertNotRegex(call("readelf", "-dW", path).stdout, "RPATH|RUNPATH")

    def test_checksums_are_those_of_the_files(self):
        sums = dict(reversed(line.split("  ", 1)) for line in
                    (self.control / "md5sums").read_text(encoding="utf-8").splitlines())
        found = {str(path.relative_to(self.tree)): hashlib.md5(path.read_bytes()).hexdigest() for path in self.files()}
        self.assertEqual({name: md5 for name, md5 in found.items() if not name.startswith("etc/")},
                         {name: md5 for name, md5 in sums.items() if not name.startswith("etc/")})

    def test_changelog_and_copyright_are_of_this_version_and_license(self):
        changelog = gzip.decompress((self.tree / "usr/share/doc/ringside/changelog.gz").read_bytes()).decode()
        self.assertTrue(changelog.startswith(f"ringside ({self.fields['Version']}) "), changelog)
        text = " ".join((self.tree / "usr/share/doc/ringside/copyright").read_text(encoding="utf-8").split())
        license_text = (ROOT / "LICENSE").read_text(encoding="utf-8")
        last_paragraph = " ".join(license_text.strip().split("\n\n")[-1].split())
        self.assertIn(last_paragraph, text)
        self.assertNotIn("@", re.sub(r"<\S+@\S+>", "", text))


class Lintian(Package):
    def test_lintian_has_nothing_to_complain_of(self):
        user = ["--allow-root"] if os.geteuid() == 0 else []
        run = call("lintian", "--no-cfg", "--fail-on", "error,warning", *user, *self.debs.values(), check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)


class Machine(Package):
    """A separate tree in which packages are installed. The tree contains dpkg's database; fakeroot records the owners
    of the files. Contains no tests."""

    def setUp(self):
        self.machine = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for path in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "etc"):
            (self.machine / path).mkdir(parents=True)
        for path, text in (("var/lib/dpkg/status", ""), ("var/lib/dpkg/available", ""),
                           ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "root:x:0:\n")):
            (self.machine / path).write_text(text, encoding="utf-8")

    def dpkg(self, *arguments):
        run = call("fakeroot", "-s", self.machine / "owners", *(["-i", self.machine / "owners"] if (
            self.machine / "owners").exists() else []), "dpkg", f"--root={self.machine}", "--force-script-chrootless",
                   "--force-depends", "--log=/dev/null", *arguments, check=False,
                   environment={"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stderr

    def examples(self, script, *cases):
        """Runs the tests of the solvers in docs/publish/README.md (story.py) with the packages that are installed in
        the tree."""
        run = call(sys.executable, "-B", ROOT / "tests" / "examples" / script, "--root", self.machine, *cases, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def field(self, package, name):
        return call("dpkg-deb", "-f", self.debs[package], name).stdout.strip()

    def contents(self, package):
        """The files of the package, as ./usr/..."""
        return [line.split()[5] for line in call("dpkg-deb", "-c", self.debs[package]).stdout.splitlines() if line[0] != "d"]

    def assert_has(self, package, *parts):
        """Expects that each file matches one of the parts, and that each part matches at least one file."""
        files, allowed = self.contents(package), (*parts, rf"share/doc/{package}/(copyright|changelog\.gz)")
        self.assertEqual([name for name in files if not any(re.fullmatch(r"\./usr/" + part, name) for part in allowed)], [])
        for part in allowed:
            self.assertTrue(any(re.fullmatch(r"\./usr/" + part, name) for name in files), part)

    def symbols(self, package):
        """The lines of the package's symbols file."""
        call("dpkg-deb", "-e", self.debs[package], self.machine / "control")
        return (self.machine / "control" / "symbols").read_text(encoding="utf-8").splitlines()

    def exported(self, library):
        """The functions that the library exports, with their names in a symbols file."""
        exported = call("nm", "-D", "--defined-only", BUILD / "lib" / f"{library}.so.0").stdout
        return sorted(name.replace("@@", "@") for name in re.findall(r" T (\S+)", exported))


class Library(Machine):
    """libringside0, libringside-messages0 and libringside-dev, installed beside the programs."""

    def test_the_library_depends_on_the_run_time_libraries_of_c_and_cpp_only(self):
        depends = {entry.split(" ")[0] for entry in self.field("libringside0", "Depends").split(", ")}
        self.assertLessEqual({"libc6", "libstdc++6"}, depends)
        self.assertLessEqual(depends, {"libc6", "libstdc++6", "libgcc-s1"})
        self.assertEqual(self.field("libringside-dev", "Depends"), f"libringside0 (= {self.fields['Version']})")

    def test_only_the_library_for_messages_depends_on_zeromq(self):
        depends = self.field("libringside-messages0", "Depends").split(", ")
        self.assertIn(f"libringside0 (= {self.fields['Version']})", depends)
        self.assertLessEqual({"libzmq5", "libprotobuf32", "libc6"}, {entry.split(" ")[0] for entry in depends})
        self.assertEqual(self.field("libringside0", "Suggests"), "libringside-messages0")

    def test_each_package_has_its_part_of_the_files(self):
        self.assert_has("libringside0", r"lib/\S+/libringside(_memory)?\.so\.0", r"lib/\S+/libringside(_memory)?\.so\.0\.\d+\.\d+")
        self.assert_has("libringside-messages0", r"lib/\S+/libringside-messages\.so\.0", r"lib/\S+/libringside-messages\.so\.0\.\d+\.\d+")
        self.assert_has("libringside-dev", r"include/ringside\.h", r"include/ringside\.hpp", r"include/ringside/\w+\.hpp",
                        r"include/ringside_(eigen|ginkgo)\.hpp", r"include/ringside_(memory|reduction)\.h",
                        r"lib/\S+/libringside(_memory)?\.so", r"lib/\S+/pkgconfig/ringside(-memory)?\.pc",
                        r"lib/\S+/cmake/Ringside/\S+\.cmake", r"share/ringside/fortran/ringside\.f90",
                        r"share/doc/libringside-dev/examples/\S+")

    def test_the_symbols_file_lists_what_the_library_exports(self):
        listed = self.symbols("libringside0")
        self.assertEqual(listed[0], "libringside.so.0 libringside0 #MINVER#")
        second = listed.index("libringside_memory.so.0 libringside0 #MINVER#")
        for library, version, lines in (("libringside", "RINGSIDE_0", listed[1:second]),
                                        ("libringside_memory", "RINGSIDE_MEMORY_0", listed[second + 1:])):
            self.assertEqual(sorted(line.split()[0] for line in lines), [f"{version}@{version}", *self.exported(library)],
                             "expected each function in deploy/debian/libringside0/symbols, with the version that first had it")
        self.assertEqual((self.machine / "control" / "triggers").read_text(encoding="utf-8").splitlines()[-1],
                         "activate-noawait ldconfig")

    def test_users_solvers_are_compiled_against_the_packages_and_run(self):
        self.dpkg("-i", *self.debs.values())
        # What does not depend on the place of the files is tested with an installation (library_c and the tests beside
        # it).
        story = "test_a_run_is_kept_followed_killed_and_resumed_with_the_same_bits"
        fortran = [f"SolverInFortran.{story}", "SolverInFortran.test_its_cmake_target_compiles_the_module"]
        self.examples("library_test.py", "CMakePackage", f"SolverInC.{story}", f"SolverInCpp.{story}",
                      *(fortran if shutil.which("gfortran") else []))


class MpiPackages(Machine):
    """libringside-mpi0, libringside-mpi-dev and ringside-mpi, installed beside the library and the programs."""

    def setUp(self):
        super().setUp()
        if "libringside-mpi0" not in self.debs:
            self.skipTest("the build has no libringside_mpi (RINGSIDE_BUILD_MPI=ON)")

    def test_only_what_is_for_ranks_depends_on_mpi(self):
        self.assertIn("libopenmpi3", {entry.split(" ")[0] for entry in self.field("libringside-mpi0", "Depends").split(", ")})
        version = self.fields["Version"]
        self.assertEqual(self.field("libringside-mpi-dev", "Depends"),
                         f"libringside-mpi0 (= {version}), libringside-dev (= {version}), libopenmpi-dev")
        depends = set(self.field("ringside-mpi", "Depends").split(", "))
        self.assertLessEqual({f"ringside (= {version})", f"libringside-mpi0 (= {version})", "openmpi-bin"}, depends)
        self.assertIn("libopenmpi3", {entry.split(" ")[0] for entry in depends})
        for package in set(self.debs) - {"libringside-mpi0", "libringside-mpi-dev", "ringside-mpi"}:
            self.assertNotIn("mpi", self.field(package, "Depends"), package)

    def test_each_package_has_its_part_of_the_files(self):
        self.assert_has("libringside-mpi0", r"lib/\S+/libringside_mpi\.so\.0(\.\d+\.\d+)?")
        self.assert_has("libringside-mpi-dev", r"include/ringside_mpi\.h", r"lib/\S+/libringside_mpi\.so",
                        r"lib/\S+/pkgconfig/ringside-mpi\.pc", r"lib/\S+/cmake/Ringside/Ringside-mpi\.cmake",
                        r"lib/\S+/cmake/Ringside/RingsideMpiTargets(-\w+)?\.cmake",
                        r"share/doc/libringside-mpi-dev/examples/publish_mpi\.c")
        self.assert_has("ringside-mpi", r"bin/ringside-producer-mpi", r"share/man/man1/ringside-producer-mpi\.1\.gz",
                        r"share/bash-completion/completions/ringside-producer-mpi",
                        r"share/zsh/vendor-completions/_ringside-producer-mpi",
                        r"share/fish/vendor_completions\.d/ringside-producer-mpi\.fish")

    def test_the_symbols_file_lists_what_the_header_declares_and_the_library_exports(self):
        listed, functions = self.symbols("libringside-mpi0"), self.exported("libringside_mpi")
        self.assertEqual(listed[0], "libringside_mpi.so.0 libringside-mpi0 #MINVER#")
        self.assertEqual([line.split()[0] for line in listed[1:]], ["RINGSIDE_MPI_0@RINGSIDE_MPI_0", *functions])
        declared = set(re.findall(r"\b(ringside_mpi_\w+)\(", (ROOT / "mpi" / "ringside_mpi.h").read_text(encoding="utf-8")))
        self.assertEqual(declared, {name.split("@")[0] for name in functions})

    def test_the_example_is_compiled_against_the_packages(self):
        self.dpkg("-i", *self.debs.values())
        usr = self.machine / "usr"
        [pc] = usr.glob("lib/*/pkgconfig/ringside-mpi.pc")
        flags = call("pkg-config", "--cflags", "--libs", "ringside-mpi", environment={
            "PKG_CONFIG_PATH": pc.parent, "PKG_CONFIG_SYSROOT_DIR": self.machine,
            "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}).stdout.split()
        source = usr / "share/doc/libringside-mpi-dev/examples/publish_mpi.c"
        call("mpicc", "-o", self.machine / "publish_mpi", source, *flags)


class WithPython(Machine):
    """A tree for python3-ringside, the library and the programs. Contains no tests."""

    def setUp(self):
        super().setUp()
        if "python3-ringside" not in self.debs:
            self.skipTest("the build has no python3-ringside (RINGSIDE_BUILD_PYTHON=ON, for Debian's Python)")

    def install(self):
        wanted = ("ringside", "libringside0", "python3-ringside", "libringside-dev", "libringside-mpi0", "libringside-mpi-dev", "ringside-mpi")
        self.dpkg("-i", *(self.debs[name] for name in wanted if name in self.debs))


class PythonPackage(WithPython):
    """python3-ringside, installed beside the library and the programs."""

    def test_it_depends_on_any_python_from_3_10_on_and_on_the_library_of_its_version(self):
        [module] = [name for name in self.contents("python3-ringside") if name.endswith(".so")]
        self.assertEqual(module, "./usr/lib/python3/dist-packages/ringside/_core.abi3.so")
        depends = self.field("python3-ringside", "Depends").split(", ")
        self.assertEqual({entry for entry in depends if entry.startswith("python3")},
                         {"python3 (>= 3.10~)", "python3:any", "python3-numpy (>= 1:1.22)"})
        self.assertIn(f"libringside0 (= {self.fields['Version']})", depends)
        self.assertEqual({entry.split(" ")[0] for entry in depends if not entry.startswith("python3")},
                         {"libringside0", "libc6", "libgcc-s1", "libstdc++6"})
        self.assertEqual(self.field("python3-ringside", "Suggests"), "python3-scipy, python3-petsc4py, python3-pandas")

    def test_it_has_every_source_of_the_module_and_the_examples(self):
        found = {re.sub(r"^\./usr/lib/python3/dist-packages/ringside/", "", name) for name in self.contents("python3-ringside")}
        sources = {path.name for path in (ROOT / "python" / "ringside").iterdir() if path.is_file()}
        self.assertLessEqual(sources, found)
        documents = "./usr/share/doc/python3-ringside/"
        self.assertLessEqual({documents + name for name in ("copyright", "changelog.gz", "examples/publish.py",
                                                            "examples/publish_petsc.py", "examples/follow.py")}, found)

    def test_users_solvers_in_python_run_with_the_packages(self):
        self.install()
        self.examples("python_test.py")

    def test_removing_leaves_no_file(self):
        self.dpkg("-i", self.debs["libringside0"], self.debs["python3-ringside"])
        self.dpkg("-r", "python3-ringside")
        self.assertFalse((self.machine / "usr/lib/python3").exists())


class Pages(WithPython):
    """The commands and programs of README and the other pages."""

    def test_they_run_with_the_packages(self):
        self.install()
        self.examples("pages_test.py")


class Life(Machine):
    """Installs, upgrades, removes and purges the programs."""

    def newer(self):
        """Makes a package with a later version and another README.md."""
        tree = self.machine / "newer"
        call("dpkg-deb", "-R", self.deb, tree)
        control = tree / "DEBIAN" / "control"
        control.write_text(control.read_text(encoding="utf-8").replace(
            f"Version: {self.fields['Version']}", "Version: 9.0"), encoding="utf-8")
        with (tree / "usr" / "share" / "doc" / "ringside" / "README.md").open("a", encoding="utf-8") as readme:
            readme.write("newer\n")
        call("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, self.machine / "newer.deb")
        shutil.rmtree(tree)
        return self.machine / "newer.deb"

    def account(self):
        for line in (self.machine / "etc" / "passwd").read_text(encoding="utf-8").splitlines():
            if line.startswith("ringside:"):
                return line.split(":")
        return None

    def test_installing_makes_the_user_and_a_folder_that_is_theirs_alone(self):
        self.dpkg("-i", self.deb)
        account = self.account()
        self.assertIsNotNone(account)
        self.assertEqual(account[5:], ["/var/lib/ringside", "/usr/sbin/nologin"])
        stat = call("fakeroot", "-i", self.machine / "owners", "stat", "-c", "%u:%g %a",
                    self.machine / "var/lib/ringside").stdout.strip()
        self.assertEqual(stat, f"{account[2]}:{account[3]} 700")

    def test_an_upgrade_keeps_pool_settings_and_user(self):
        self.dpkg("-i", self.deb)
        account = self.account()
        pool = self.machine / "var/lib/ringside/ringside.pool"
        pool.write_bytes(b"iterates")
        settings = self.machine / "etc/ringside/analyzer.toml"
        settings.write_text('slots = 16\n', encoding="utf-8")
        self.dpkg("-i", self.newer())
        self.assertTrue((self.machine / "usr/share/doc/ringside/README.md").read_text(encoding="utf-8").endswith("newer\n"))
        self.assertEqual(pool.read_bytes(), b"iterates")
        self.assertEqual(settings.read_text(encoding="utf-8"), "slots = 16\n")
        self.assertEqual(self.account(), account)

    def test_removing_keeps_settings_and_pool(self):
        self.dpkg("-i", self.deb)
        pool = self.machine / "var/lib/ringside/ringside.pool"
        pool.touch()
        self.dpkg("-r", "ringside")
        self.assertFalse((self.machine / "usr/bin").exists())
        self.assertTrue((self.machine / "etc/ringside/analyzer.toml").is_file())
        self.assertTrue(pool.exists())

    def test_purging_removes_settings_and_names_what_is_kept(self):
        self.dpkg("-i", self.deb)
        (self.machine / "etc/ringside/jobs/web.toml").touch()
        wants = self.machine / "etc/systemd/system/multi-user.target.wants"
        wants.mkdir(parents=True)
        (wants / "ringside.target").symlink_to("/usr/lib/systemd/system/ringside.target")
        (wants / "other.service").symlink_to("/usr/lib/systemd/system/other.service")
        pool = self.machine / "var/lib/ringside/ringside.pool"
        pool.write_bytes(b"iterates")
        said = self.dpkg("-P", "ringside")
        self.assertFalse((self.machine / "etc/ringside").exists())
        self.assertEqual([path.name for path in wants.iterdir()], ["other.service"])
        self.assertEqual(pool.read_bytes(), b"iterates")
        self.assertIn("/var/lib/ringside", said)
        self.assertIn("ringside wipe", said)

    def test_purging_without_pools_leaves_no_folder(self):
        self.dpkg("-i", self.deb)
        said = self.dpkg("-P", "ringside")
        self.assertNotIn("wipe", said)
        self.assertFalse((self.machine / "var/lib/ringside").exists())
        self.assertFalse((self.machine / "usr").exists())


if __name__ == "__main__":
    unittest.main()
