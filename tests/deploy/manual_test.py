# SPDX-License-Identifier: BSD-3-Clause
"""`cmake --install` must write a tree that works below any prefix. The manual pages, completions and settings in the
tree must have every option of --help. Argument: the build folder."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("RINGSIDE_")}
ENVIRONMENT.update(LC_ALL="C.UTF-8", MAN_KEEP_FORMATTING="", MANWIDTH="100")
ENVIRONMENT.pop("DESTDIR", None)

# Values that a settings file may have in place of the placeholders in capitals.
SAMPLES = {"FD": "1", "LIST": "0", "HOST:PORT": "127.0.0.1:7700", "FOLDER": "keys", "FILE": "file", "PATH": "path",
           "POOL": "file.pool", "DIR": "folder", "N": "7", "SIZE": "64M", "off|on": "on", "BYTES": "64M",
           "CONDITION:ACTION": "x.linf > 1e6: stop"}


def call(*command, expected=0, **options):
    run = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                         check=False, timeout=60, env={**ENVIRONMENT, **options.pop("environment", {})}, **options)
    if run.returncode != expected:
        raise AssertionError(f"{command}: status {run.returncode}, expected {expected}\n{run.stdout}{run.stderr}")
    return run


def options_in_help(*command):
    """The names of all options that are at the beginning of a line of --help."""
    names = set()
    for line in call(*command, "--help").stdout.splitlines():
        if line.startswith("  -"):
            names.update(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", re.split(r"\s{2,}", line.strip())[0].split(" ")[0]))
    return names


def setUpModule():
    """Installs once for all tests, below a separate prefix."""
    Installed.prefix = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory())) / "local"
    call("cmake", "--install", BUILD, "--prefix", Installed.prefix)
    Installed.share = Installed.prefix / "share"
    programs = Installed.prefix / "bin"
    Installed.ringside = programs / "ringside"
    subcommands = call(Installed.ringside, "--help-as=subcommands").stdout.split()
    assert len(subcommands) > 10, subcommands
    # {name of the command's manual page: the command line}.
    Installed.commands = {"ringside-" + s: [Installed.ringside, s] for s in subcommands}
    memory = programs / "ringside-memory"
    Installed.commands.update({"ringside-memory-" + s: [memory, s] for s in call(memory, "--help-as=subcommands").stdout.split()})
    Installed.commands.update({p: [programs / p] for p in ("ringside-producer", "ringside-analyzer")})


class Installed(unittest.TestCase):
    """The paths of the installed files; contains no tests."""

    def page(self, name, section=1):
        return self.share / "man" / f"man{section}" / f"{name}.{section}.gz"

    def completion(self, shell, program):
        return self.share / {"bash": f"bash-completion/completions/{program}",
                             "zsh": f"zsh/site-functions/_{program}",
                             "fish": f"fish/vendor_completions.d/{program}.fish"}[shell]


class Tree(Installed):
    def test_a_run_works_from_any_prefix(self):
        with tempfile.TemporaryDirectory() as work:
            call(self.ringside, "run", "--matrix", "grid:50", "--iterations", "5", "--quiet", cwd=work)
            self.assertIn("intact", call(self.ringside, "verify", "ringside.pool", cwd=work).stdout)

    def test_a_program_runs_with_more_memory_than_dram_from_any_prefix(self):
        run = subprocess.run([self.prefix / "bin" / "ringside-memory", "run", "--dram=4M", "--far=/dev/shm", "--", "/bin/true"],
                             capture_output=True, text=True, check=False)
        if run.returncode == 3 and "userfaultfd" in run.stderr:
            self.skipTest(run.stderr.strip())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 process with an arena", run.stderr)

    def test_no_installed_file_names_a_folder_of_the_build(self):
        if "CMAKE_BUILD_TYPE:STRING=Release" not in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"):
            self.skipTest("only a release build has no debug information, which names the sources")
        files = [path for path in self.prefix.rglob("*") if path.is_file() and not path.is_symlink()]
        self.assertEqual([str(path) for path in files for folder in (BUILD, ROOT) if bytes(folder) in path.read_bytes()], [])

    def test_an_installation_that_is_moved_has_all_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            moved = pathlib.Path(folder) / "elsewhere"
            shutil.copytree(self.prefix, moved, symlinks=True)
            link = pathlib.Path(folder) / "ringside"
            link.symlink_to(moved / "bin" / "ringside")
            for ringside in (moved / "bin" / "ringside", link):
                for name in call(ringside, "--help-as=subcommands").stdout.split():
                    self.assertIn(f"Usage: ringside {name}", call(ringside, name, "--help").stdout)
            call(link, "run", "--matrix", "grid:9", "--iterations", "3", "--quiet", cwd=folder)
            call(link, "export", "ringside.pool", "--output", "x.npy", "--iteration", "last", cwd=folder)
            shutil.rmtree(moved / "libexec")
            self.assertIn(f"{moved}/libexec/ringside/ringside-export", call(link, "export", "ringside.pool", expected=3).stderr)

    def test_settings_that_were_edited_are_kept(self):
        with tempfile.TemporaryDirectory() as prefix:
            settings = pathlib.Path(prefix) / "etc" / "ringside" / "analyzer.toml"
            call("cmake", "--install", BUILD, "--prefix", prefix)
            settings.write_text("slots = 5\n", encoding="utf-8")
            call("cmake", "--install", BUILD, "--prefix", prefix)
            self.assertEqual(settings.read_text(encoding="utf-8"), "slots = 5\n")

    def test_below_usr_the_settings_are_in_etc(self):
        with tempfile.TemporaryDirectory() as stage:
            call("cmake", "--install", BUILD, "--prefix", "/usr", environment={"DESTDIR": stage})
            self.assertTrue((pathlib.Path(stage) / "etc" / "ringside" / "analyzer.toml").is_file())
            self.assertFalse((pathlib.Path(stage) / "usr" / "etc").exists())

    def test_nothing_of_tests_and_benchmarks_is_installed(self):
        programs = {path.name for path in (self.prefix / "bin").iterdir()}
        self.assertLessEqual({"ringside", "ringside-producer", "ringside-analyzer", "ringside-memory"}, programs)
        # ringside-producer-mpi and ringside_mpi.h exist only if the build has libringside_mpi.
        self.assertLessEqual(programs, {"ringside", "ringside-producer", "ringside-producer-mpi", "ringside-analyzer", "ringside-memory",
                                        "ringside-start-node"})
        self.assertEqual({path.name for path in (self.prefix / "libexec" / "ringside").iterdir()},
                         {"ringside-analyses", "ringside-export", "ringside-plan", "ringside-serve"})
        self.assertEqual({path.name for path in (self.prefix / "include").iterdir()} - {"ringside_mpi.h"},
                         {"ringside", "ringside.h", "ringside.hpp", "ringside_eigen.hpp", "ringside_ginkgo.hpp", "ringside_memory.h", "ringside_reduction.h"})
        self.assertEqual({path.name for path in self.prefix.rglob("cmake/*")}, {"Ringside"})
        self.assertEqual(list(self.prefix.rglob("*.a")), [])

    def test_every_program_on_the_path_is_one_that_users_call_and_has_a_manual_page(self):
        for folder, section in (("bin", 1), ("sbin", 8)):
            for path in (self.prefix / folder).iterdir():
                self.assertTrue(self.page(path.name, section).is_file(), path)
        # systemd calls generators only in a special folder.
        self.assertTrue((self.prefix / "lib/systemd/system-generators/ringside-generator").is_file())

    def test_help_does_not_show_how_the_other_forms_are_asked_for(self):
        for command in ([self.ringside], *self.commands.values()):
            self.assertNotIn("help-as", call(*command, "--help").stdout)

    def test_a_form_that_is_not_known_is_refused_with_those_that_are(self):
        for command in ([self.ringside], *self.commands.values()):
            line = call(*command, "--help-as=poem", expected=2).stderr
            self.assertRegex(line, r"--help-as: found 'poem', expected man, bash, zsh, fish.*\n$")
        self.assertIn("found 'toml'", call(self.ringside, "info", "--help-as=toml", expected=2).stderr)


class Pages(Installed):
    def test_every_program_and_subcommand_has_a_page_that_names_it(self):
        for name in ("ringside", *self.commands):
            with self.subTest(name):
                found = call("lexgrog", self.page(name)).stdout
                self.assertRegex(found, rf'"{name} - [^"]{{10,}}"')

    def test_pages_are_set_without_a_warning(self):
        pages = sorted(self.share.glob("man/*/*.gz"))
        self.assertGreater(len(pages), 15)
        for page in pages:
            with self.subTest(page.name):
                run = call("man", "--warnings", "-l", page)
                self.assertEqual(run.stderr, "")
                self.assertNotIn("spdx", run.stdout.lower())  # a script's license line is not its description
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
                    self.assertRegex(run.stdout, rf"(?m)^{section}$")

    def test_every_option_of_help_is_in_its_page_and_no_other(self):
        for name, command in self.commands.items():
            with self.subTest(name):
                text = call("man", "-l", self.page(name)).stdout
                options = text.partition("\nOPTIONS\n")[2].partition("\nEXIT STATUS\n")[0]
                tags = re.findall(r"(?m)^ {7}(-.*?)(?: {2}|$)", options)
                told = {word for tag in tags for word in re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", tag)}
                self.assertEqual(told, options_in_help(*command))

    def test_the_page_of_ringside_lists_every_subcommand_and_exit_code(self):
        text = call("man", "-l", self.page("ringside")).stdout
        memory = call("man", "-l", self.page("ringside-memory")).stdout
        for name in self.commands:
            self.assertIn(f"{name}(1)", memory if name.startswith("ringside-memory-") else text)
        codes = re.findall(r"(?m)^ {7}(\d+) ", text.partition("\nEXIT STATUS\n")[2])
        self.assertEqual(codes, ["0", "2", "3", "4", "5", "130"])
        self.assertRegex(call(self.ringside, "--help").stdout, r"130 interrupted")

    def test_the_page_of_a_script_says_what_each_way_of_calling_it_is_for_and_how_it_ends(self):
        text = call("man", "-l", self.page("ringside-start-node")).stdout
        synopsis = text.partition("\nSYNOPSIS\n")[2].partition("\nDESCRIPTION\n")[0]
        self.assertIn("ringside-start-node status [--runtime DIR]\n", synopsis)
        self.assertNotIn("what runs", synopsis)
        self.assertRegex(text, r"(?m)^ {7}status shows what runs, and whether it answers$")
        for page in (text, call("man", "-l", self.page("ringside-provision-pmem", 8)).stdout):
            self.assertRegex(page, r"(?m)^EXIT STATUS\n {7}0 +done")  # groff 1.23 justifies the lines

    def test_the_pages_of_services_name_their_settings(self):
        for name, settings in (("ringside-analyzer", "analyzer.toml"), ("ringside-serve", "serve.toml"),
                               ("ringside-producer", "jobs/NAME.toml")):
            self.assertIn(f"/etc/ringside/{settings}", call("man", "-l", self.page(name)).stdout)


class Completions(Installed):
    BASH = ('source "$1"; function=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$function"; '
            'printf "%s\\n" "${COMPREPLY[@]}"')

    def bash(self, *words, **options):
        program = words[0]
        run = call("bash", "-c", self.BASH, "bash", self.completion("bash", program),
                   "_" + program.replace("-", "_"), *words, **options)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def fish(self, line, **options):
        program = line.split()[0]
        command = f"source {self.completion('fish', program)}; complete -C '{line}'"
        return [word.split("\t")[0] for word in
                call("fish", "--no-config", "-c", command, **options).stdout.splitlines()]

    def test_every_option_of_help_is_completed_by_every_shell(self):
        for name, command in self.commands.items():
            program = command[0].name
            of_subcommand = "" if len(command) == 1 else command[1]
            names = options_in_help(*command)
            with self.subTest(name):
                self.assertEqual(set(self.bash(program, *map(str, command[1:]), "-")), names)
                zsh = self.completion("zsh", program).read_text(encoding="utf-8")
                arm = zsh.partition(f"    {of_subcommand or chr(39) * 2})\n")[2].partition(";;")[0]
                self.assertEqual(set(re.findall(r"(?m)^ +'(--?[a-zA-Z][a-z-]*)", arm)), names)
                fish = self.completion("fish", program).read_text(encoding="utf-8").splitlines()
                lines = [line for line in fish if not of_subcommand or f"from {of_subcommand}'" in line]
                found = {"--" + word for line in lines for word in re.findall(r" -l ([a-z-]+)", line.split(" -d ")[0])}
                self.assertEqual(found, {word for word in names if word.startswith("--")})

    def test_bash_completes_subcommands_values_and_files(self):
        self.assertEqual(self.bash("ringside", "re"), ["report", "replay"])
        self.assertEqual(self.bash("ringside", "run", "--coordination", ""), ["locks", "messages"])
        self.assertEqual(self.bash("ringside", "run", "--coordination", "=", "m"), ["messages"])
        self.assertEqual(self.bash("ringside", "run", "--coordination", "="), ["locks", "messages"])
        self.assertEqual(self.bash("ringside-analyzer", "--reduce", "=", ""), ["slot", "transfer"])
        self.assertEqual(self.bash("ringside", "run", "--slots", ""), [])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "kept.pool").touch()
            (pathlib.Path(folder) / "keys").mkdir()
            self.assertEqual(sorted(self.bash("ringside", "info", "", cwd=folder)), ["kept.pool", "keys"])
            self.assertEqual(self.bash("ringside", "run", "--pool", "=", "kep", cwd=folder), ["kept.pool"])
            self.assertEqual(self.bash("ringside", "keygen", "k", cwd=folder), ["keys"])
            # After `--`, a program and its arguments are completed.
            self.assertIn("bash", self.bash("ringside", "run", "--resume", "--", "bas", cwd=folder))
            self.assertEqual(self.bash("ringside", "run", "--", "cat", "kep", cwd=folder), ["kept.pool"])
            self.assertEqual(self.bash("ringside", "run", "--", "cat", "--res", cwd=folder), [])

    def test_scripts_parse_in_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                print(f"skipped: {shell} is not installed (deploy/test.sh --all installs it)")
                continue
            for program in ("ringside", "ringside-producer", "ringside-analyzer"):
                self.assertEqual(call(shell, "-n", self.completion(shell, program)).stderr, "")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed (deploy/test.sh --all installs it)")
    def test_fish_completes_subcommands_values_and_files(self):
        self.assertEqual(sorted(self.fish("ringside re")), ["replay", "report"])
        self.assertEqual(sorted(self.fish("ringside run --coordination ")), ["locks", "messages"])
        self.assertEqual(self.fish("ringside run --slots "), [])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "kept.pool").touch()
            self.assertEqual(self.fish("ringside info ", cwd=folder), ["kept.pool"])

    # zsh completes only on a terminal. Therefore the test replaces the functions that choose completions by functions
    # that print their arguments.
    ZSH = ('_arguments() { print -rl -- "$@" }; _describe() { print -rl -- "${(@P)2}" }; compadd() { : }; '
           'words=("${@:2}"); CURRENT=$#words; source "$1"')

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed (deploy/test.sh --all installs it)")
    def test_zsh_is_told_subcommands_values_and_files(self):
        script = self.completion("zsh", "ringside")
        subcommands = call("zsh", "-f", "-c", self.ZSH, "zsh", script, "ringside", "r").stdout
        self.assertIn("export:write kept iterates or records for other programs: HDF5, Zarr, VTK, npy, ...\n", subcommands)
        told = call("zsh", "-f", "-c", self.ZSH, "zsh", script, "ringside", "run", "--").stdout
        self.assertRegex(told, r"(?m)^--coordination=\[.*\]:locks\|messages:\(locks messages\)$")
        self.assertRegex(told, r"(?m)^--pool=\[.*\]:FILE:_files$")
        self.assertRegex(told, r"(?m)^--resume\[[^:]*\]$")
        told = call("zsh", "-f", "-c", self.ZSH, "zsh", script, "ringside", "keygen", "").stdout
        self.assertRegex(told, r"(?m)^:FOLDER:_files -/$")


class Settings(Installed):
    def setUp(self):
        self.work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        etc = self.prefix / "etc" / "ringside"
        self.files = {etc / "analyzer.toml": self.commands["ringside-analyzer"],
                      etc / "serve.toml": self.commands["ringside-serve"],
                      self.share / "doc" / "ringside" / "examples" / "jobs" / "grid.toml":
                          self.commands["ringside-producer"]}

    def accept(self, command, text, expected=0):
        """Lets the program read a settings file and print its settings in the form of such a file. The program does
        nothing else."""
        path = self.work / "settings.toml"
        path.write_text(text, encoding="utf-8")
        return call(*command, "--config", path, "--help-as=toml", expected=expected)

    def test_every_option_is_a_key_of_the_shipped_file(self):
        for path, command in self.files.items():
            with self.subTest(path.name):
                keys = re.findall(r"(?m)^#?([a-z][a-z-]*) = ", path.read_text(encoding="utf-8"))
                self.assertEqual(len(keys), len(set(keys)))
                of_the_command_line = {"--help", "--version", "--config"}
                former = {"--kernel"}  # accepted, but not shown in the file
                names = {name for name in options_in_help(*command) if name.startswith("--")}
                self.assertEqual({"--" + key for key in keys}, names - of_the_command_line - former)

    def test_every_key_of_the_shipped_file_is_accepted_with_the_value_it_shows(self):
        for path, command in self.files.items():
            shipped = path.read_text(encoding="utf-8")
            for line in re.findall(r"(?m)^#?([a-z][a-z-]* = .*)$", shipped):
                key, value = line.split(" = ")
                if value.strip('"') in SAMPLES:
                    value = f'"{SAMPLES[value.strip(chr(34))]}"'
                with self.subTest(path.name, line=line):
                    alone = f"{key} = {value}\n"
                    if key == "telemetry-tcp":
                        alone += 'telemetry = "on"\n'
                    told = self.accept(command, alone).stdout
                    self.assertIn(f"\n{key} = ", told)

    def test_what_the_programs_would_not_take_is_not_accepted(self):
        command = self.commands["ringside-analyzer"]
        self.assertIn("unknown key 'slot'", self.accept(command, "slot = 8\n", expected=2).stderr)
        self.assertIn("expected a number from 3 to 1024", self.accept(command, "slots = 2\n", expected=2).stderr)

    def test_settings_told_again_are_the_same(self):
        for path, command in self.files.items():
            with self.subTest(path.name):
                shipped = path.read_text(encoding="utf-8")
                self.assertEqual(self.accept(command, shipped).stdout, shipped)

    def test_an_analyzer_starts_with_the_shipped_file(self):
        # The analyzer ends at once, because no socket can be made below a file.
        (self.work / "file").touch()
        socket = self.work / "file" / "analyzer.socket"
        run = call(*self.commands["ringside-analyzer"], "--config", self.prefix / "etc/ringside/analyzer.toml",
                   "--pool", self.work / "ringside.pool", "--socket", socket, expected=3)
        self.assertIn(str(socket), run.stderr)

    def test_the_pool_of_the_service_is_in_its_state_folder(self):
        text = (self.prefix / "etc" / "ringside" / "analyzer.toml").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(?m)^[a-z].*$", text), ['pool = "/var/lib/ringside/ringside.pool"'])


if __name__ == "__main__":
    unittest.main()
