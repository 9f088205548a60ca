#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the commands of docs/use/operations.md on a virtual node with an NVDIMM, whose power is cut in the middle of a job.

Prints one line for each statement that is true, and stops at the first one that is not. Exit codes: 0 all statements
are true, 1 one is not true, 77 no such machine can run here, 2 wrong usage.
"""

import argparse
import datetime
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import bad_states
import far_memory
import node_image
from follower import Follower
from guide import Guide
from hardening import check_hardening
from reference import Reference
from virtual_node import NVDIMM_BYTES, NodeError, VirtualNode

ROOT = pathlib.Path(__file__).resolve().parents[2]
POOL = "/var/lib/ringside/pmem/ringside.pool"
AS_OWNER = "runuser -u ringside --"
SKIPPED = 77
# The job lasts until the test has seen enough of it, even on a fast machine; then the test sets the job's end.
ENDLESS = 100_000_000
ITERATIONS_TO_THE_END = 200
# A boot with `ringside.hold` on the kernel's command line starts no service of Ringside, so that the test sees the pool
# as the power cut left it, before any process repairs it.
HOLD = """
mkdir -p /etc/systemd/system/ringside-analyzer.service.d /etc/systemd/system/ringside-producer@.service.d
cat >/etc/systemd/system/node-hold.service <<'UNIT'
[Unit]
ConditionKernelCommandLine=ringside.hold
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
ExecStart=/bin/touch /run/node-hold
[Install]
WantedBy=sysinit.target
UNIT
for unit in ringside-analyzer ringside-producer@; do
  printf '[Unit]\\nConditionPathExists=!/run/node-hold\\n' >/etc/systemd/system/$unit.service.d/hold.conf
done
systemctl daemon-reload
systemctl enable --quiet node-hold
# A disk has what was written a while ago, or synced: the power is about to be cut.
sync
"""

# After the power cuts, the job gets a quarter of a processor. With more, the job would compete with each command of the
# test for the two processors of the virtual machine.
UNHURRIED = "systemctl set-property --runtime ringside-producer@grid.service CPUQuota=25%"


class Untrue(Exception):
    """A promise of the page or of the design is broken."""


class Story:
    """Prints what was found, in order, and collects the figures for bench/results."""

    def __init__(self):
        self.begun = time.monotonic()
        self.started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        self.found = 0
        self.figures = {"boots": 0, "kills": 0, "iterates_checked": 0, "iterates_lost": 0, "resumes": 0, "kill_details": []}

    def say(self, text):
        elapsed = int(time.monotonic() - self.begun)
        print(f"[{elapsed // 60}:{elapsed % 60:02d}] {text}", flush=True)

    def check(self, sentence, holds, evidence=""):
        if not holds:
            raise Untrue(f"not so: {sentence}\n{evidence}")
        self.found += 1
        self.say(f"true: {sentence}")

    def equal(self, sentence, found, expected):
        self.check(sentence, found == expected, f"found {found!r}, expected {expected!r}")


def run_section(story, node, guide, section):
    """Runs the section's commands. Each command must succeed. Returns the output of all commands."""
    output = ""
    for block in guide.commands_of(section):
        ended = node.run(f"cd /root && set -e\n{block}")
        if ended.status != 0:
            raise Untrue(f"not so: the commands of '{section}' succeed\n{ended}")
        output += ended.output
    story.check(f"the commands of '{section}' do what they say", True)
    return output


def owner_and_mode(node, path):
    return node.must(f"stat -c '%U:%G %a' {path}").strip()


def install(story, node, guide):
    node.must("tar -xf /dev/vdb -C /root")
    node.must("mkdir -p /root/later && mv /root/ringside_*later* /root/later/")
    run_section(story, node, guide, "Install")
    story.equal("the folder of the pools is the service's alone", owner_and_mode(node, "/var/lib/ringside"),
                "ringside:ringside 700")
    story.equal("nothing is enabled by the installation",
                node.run("systemctl is-enabled ringside.target ringside-producer@grid").output.split(), ["disabled"] * 2)


def provision(story, node, guide):
    if not node.must("ndctl list -N"):
        raise Untrue("the machine has no persistent memory")
    run_section(story, node, guide, "Provision persistent memory")
    mounted = node.must("findmnt --noheadings --output SOURCE,FSTYPE,OPTIONS /var/lib/ringside/pmem")
    story.check("the NVDIMM is mounted with dax=always", "dax=always" in mounted and "ext4" in mounted, mounted)
    story.equal("its root is the service's alone", owner_and_mode(node, "/var/lib/ringside/pmem"), "ringside:ringside 700")
    before = node.must("ndctl list -N; blkid /dev/pmem0")
    again = node.must("ringside-provision-pmem --yes")
    story.equal("provisioning again changes nothing", node.must("ndctl list -N; blkid /dev/pmem0"), before)
    story.check("and says so", "nothing was changed" in again, again)
    findings = json.loads(node.must("ringside doctor --json /var/lib/ringside/pmem"))["findings"]
    story.check("the doctor finds DAX with MAP_SYNC", findings["dax"]["dax"] is True, findings["dax"])
    story.check("and the persistence domain: the memory controller",
               "memory_controller" in json.dumps(findings) and "ADR" in json.dumps(findings), findings)


def set_end(node, iterations):
    node.must(f"sed -i 's/^iterations = .*/iterations = {iterations}/' /etc/ringside/jobs/grid.toml")


def start(story, node, guide):
    for section in ("Size the pool", "Choose cores", "Configure"):
        run_section(story, node, guide, section)
    set_end(node, ENDLESS)
    # An emulated processor may take longer than the default of 30 s to restart the analyzer.
    node.must("echo 'peer-timeout = 600' >>/etc/ringside/jobs/grid.toml")
    run_section(story, node, guide, "Start")
    node.must(f"until {AS_OWNER} ringside tail --once --json | grep -q '\"last\":{{'; do sleep 0.2; done")
    run_section(story, node, guide, "Watch")
    log = node.must("journalctl --no-pager --output cat --unit ringside-analyzer")
    story.check("the analyzer's log is key=value, and says that the pool is on DAX",
               "event=attached" in log and "storage=dax" in log, log)
    pid = node.must("systemctl show --property MainPID --value ringside-analyzer").strip()
    flags = node.must(f"grep -A 30 -F {POOL} /proc/{pid}/smaps | grep VmFlags").split()
    story.check("MAP_SYNC was granted for the pool's mapping", "sf" in flags, flags)
    status = node.must(f"cat /proc/{pid}/status")
    story.check("the analyzer is pinned to the core of its settings", "Cpus_allowed_list:\t1\n" in status, status)
    affinity = node.must("systemctl show --property CPUAffinity --value ringside-analyzer 'ringside-producer@grid'").split()
    story.equal("by systemd, whose generator read the settings", affinity, ["1", "0"])
    story.check("it can gain no privileges and calls only what it needs",
               "NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status, status)
    page = node.must("exec 3<>/dev/tcp/127.0.0.1/9464; printf 'GET /metrics HTTP/1.0\\r\\nHost: localhost:9464\\r\\n\\r\\n' >&3; cat <&3")
    story.check("Prometheus' metrics are served", "ringside_steps_committed_total" in page, page)


def cut_power(story, node, figures, delay_s):
    """Kills the machine delay_s seconds after the first step of this boot was received. Returns the newest iteration
    that the machine had acknowledged."""
    follower = Follower(node)
    if not follower.wait_for_step(120):
        raise Untrue("not so: steps are made\n" + node.must("systemctl --no-pager status 'ringside*'; true"))
    time.sleep(delay_s)
    node.kill()
    follower.end()
    figures["kills"] += 1
    story.say(f"power cut {figures['kills']}: {delay_s:.2f} s after a first step; the last one heard of is "
              f"iteration {follower.newest_committed}")
    return follower.newest_committed


def check_what_is_left(story, node, figures, acknowledged, reference, detail):
    """Requires a machine on which no service of Ringside has started since the power cut."""
    verified = node.run(f"{AS_OWNER} ringside verify --json {POOL}")
    report = json.loads(verified.output)
    slots = json.loads(node.must(f"{AS_OWNER} ringside info --json {POOL}"))["slots"]
    iterations = sorted(slot["iteration"] for slot in report["slots"] if slot["verdict"] == "intact")
    detail.update(acknowledged=acknowledged, found=iterations)
    figures["iterates_checked"] += len(iterations)
    newest = iterations[-1] if iterations else 0
    figures["iterates_lost"] += max(0, acknowledged - newest)
    story.check(f"no committed iterate is lost: {acknowledged} was heard of, {newest} is there", newest >= acknowledged, report)
    story.check("what is there is contiguous, at least K-1 of them",
               iterations == list(range(newest - len(iterations) + 1, newest + 1)) and
               len(iterations) >= min(newest, slots - 1), report)
    story.check(f"iteration {newest} has the bits that the solver makes", exported(node, newest) == reference.iterate(newest))


def exported(node, iteration):
    node.must(f"{AS_OWNER} ringside export {POOL} --iteration {iteration} --output /var/lib/ringside/node.npy")
    return node.read("/var/lib/ringside/node.npy")


def let_it_end(story, node):
    """Sets an end in the job's settings, and lets the job continue to this end. Returns the last iteration and its
    iterate."""
    node.must("systemctl stop ringside-producer@grid")
    kept = json.loads(node.must(f"{AS_OWNER} ringside info --json {POOL}"))
    last = max(iterate["iteration"] for iterate in kept["iterates"]) + ITERATIONS_TO_THE_END
    set_end(node, last)
    node.must("systemctl start ringside-producer@grid")
    node.must("while [[ $(systemctl show --property ActiveState --value ringside-producer@grid) =~ ^(activating|active) ]]; do "
              "sleep 0.2; done")
    story.equal("the job ends with success",
                node.must("systemctl show --property Result --value ringside-producer@grid").strip(), "success")
    return last, exported(node, last)


def resumed_from(node):
    """The iteration from which this boot's producer resumed, according to its log."""
    log = node.must("journalctl --no-pager --boot --output cat --unit ringside-producer@grid")
    found = [word.split("=")[1] for word in log.split() if word.startswith("resumed_from=")]
    return int(found[0]) if found else None


def live_through_cuts(story, node, options, generator, reference):
    """Cuts the power options.kills times, and boots after each cut. After every second cut (but not if there is only
    one), the pool is checked before the services start."""
    figures = story.figures
    for cut in range(options.kills):
        detail = {}
        figures["kill_details"].append(detail)
        delay_s = generator.uniform(0.2, 5.0)
        acknowledged = cut_power(story, node, figures, delay_s)
        detail.update(delay_s=round(delay_s, 3), acknowledged=acknowledged)
        hold = options.kills > 1 and cut % 2 == 0
        node.boot(*(["ringside.hold"] if hold else []))
        if hold:
            check_what_is_left(story, node, figures, acknowledged, reference, detail)
            node.must("rm /run/node-hold; systemctl start ringside.target ringside-producer@grid")
        node.must("until journalctl --no-pager --boot --output cat --unit ringside-producer@grid | grep -q resumed_from=; do "
                  "sleep 0.2; done")
        continued_at = resumed_from(node)
        detail["resumed_from"] = continued_at
        figures["resumes"] += 1
        figures["iterates_lost"] += max(0, acknowledged - continued_at)
        story.check(f"{'the services' if hold else 'the services start at boot, and'} continue from iteration {continued_at}; "
                   f"{acknowledged} was heard of", continued_at >= acknowledged)


def recover(story, node, guide, reference):
    """Runs the page's section on a pool after a power cut, during the job, and checks the iterate that the section
    exports."""
    output = run_section(story, node, guide, "Recover")
    iteration = int(re.search(r"last\.npy: iteration ([\d,]+) of", output).group(1).replace(",", ""))
    story.figures["iterates_checked"] += 1
    story.check(f"iteration {iteration:,} of the job that continued has the bits that the solver makes",
               node.read("/var/lib/ringside/last.npy") == reference.iterate(iteration))


def upgrade(story, node, guide):
    before = node.must("systemctl show --property MainPID --value ringside-producer@grid ringside-analyzer").split()
    node.must("rm /root/ringside_*.deb && mv /root/later/*.deb /root/")
    run_section(story, node, guide, "Upgrade")
    after = node.must("systemctl show --property MainPID --value ringside-producer@grid ringside-analyzer").split()
    story.check("the upgraded package is installed", "+later" in node.must("dpkg-query -W -f '${Version}' ringside"))
    story.check("the analyzer is a new one", after[1] not in ("0", before[1]), (before, after))
    story.check("the producer is the same, and continues", after[0] == before[0],
                node.must("journalctl --no-pager --boot --lines 40 --unit ringside-producer@grid --unit ringside-analyzer"))
    kept = node.must("cat /etc/ringside/analyzer.toml")
    story.check("the settings were kept", "require-dax" in kept, kept)


def scenario(story, node, guide, options, package, reference):
    later = repacked_as_later(package, node.folder)
    node.deliver([package, later, *far_memory.programs()])
    node.boot()
    install(story, node, guide)
    if options.long:
        bad_states.check_before_provisioning(story, node)
    provision(story, node, guide)
    start(story, node, guide)
    node.must(HOLD)
    live_through_cuts(story, node, options, random.Random(options.seed), reference)
    node.must(UNHURRIED)
    recover(story, node, guide, reference)
    run_section(story, node, guide, "Stop and continue")
    upgrade(story, node, guide)
    bad_states.check_beside_the_service(story, node)
    last, mine = let_it_end(story, node)
    story.check(f"the job ended bit-equal to one that was never disturbed (iteration {last:,}, on another machine)",
               mine == reference.iterate(last))
    story.figures["iterates_checked"] += 1
    replayed = node.must(f"{AS_OWNER} ringside replay {POOL}")
    story.check("replay finds what was recorded", "equal to what was recorded" in replayed, replayed)
    check_hardening(story, node)
    # Stops the services by name, because stopping only the target does not wait for the units that stop with it.
    node.must("systemctl stop ringside.target 'ringside-*'")
    far_memory.check_far_memory(story, node)
    bad_states.check_without_dax(story, node)
    pattern = mine[-4096:-3840]
    story.check("before it is wiped the memory holds the iterate", node.nvdimm_holds(pattern))
    run_section(story, node, guide, "Wipe and remove")
    node.must("sync; umount /var/lib/ringside/pmem")
    story.check("once it is wiped it does not", not node.nvdimm_holds(pattern))
    story.equal("every command of docs/use/operations.md was run", guide.not_run(), [])


def repacked_as_later(package, folder):
    """Makes a package with the same content and a later version, which an upgrade installs."""
    tree = folder / "later"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    lines = control.read_text(encoding="utf-8").splitlines()
    control.write_text("".join(f"{line}+later\n" if line.startswith("Version:") else f"{line}\n" for line in lines),
                       encoding="utf-8")
    later = folder / package.name.replace("_amd64", "+later_amd64")
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, later], check=True, stdout=subprocess.DEVNULL)
    return later


def package_to_test(options, story):
    if options.package:
        return pathlib.Path(options.package).resolve()
    story.say("building the package")
    printed = subprocess.run([ROOT / "deploy" / "package.sh"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             encoding="utf-8").stdout
    return pathlib.Path(printed.strip().splitlines()[-1])


def write_figures(options, story, verdict):
    revision = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, encoding="utf-8").stdout.strip()
    machine = {"qemu": subprocess.run(["qemu-system-x86_64", "--version"], check=True, stdout=subprocess.PIPE,
                                      encoding="utf-8").stdout.splitlines()[0],
               "accelerator": "tcg", "cores": 2, "memory_bytes": 2 << 30, "nvdimm_bytes": NVDIMM_BYTES}
    text = json.dumps({"question": "what is left when the power is cut", "commit": revision or "unknown", "machine": machine,
                       "seed": options.seed, "started": story.started, "seconds": round(time.monotonic() - story.begun), "checks_passed": story.found,
                       "checks_failed": verdict,
                       **story.figures}, indent=1)
    pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", metavar="DEB", help="the package to test (default: deploy/package.sh makes it)")
    parser.add_argument("--long", action="store_true", help="many power cuts, and every bad state (more than an hour)")
    parser.add_argument("--kills", type=int, metavar="N", help="number of power cuts (default: 1; with --long 100)")
    parser.add_argument("--seed", type=int, default=None,
                        help="seed of the random instants of the cuts (default: chosen at random, and printed)")
    parser.add_argument("--json", metavar="FILE", help="file for the figures")
    options = parser.parse_args()
    if options.kills is None:
        options.kills = 100 if options.long else 1
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


def stop(_number, _frame):
    """Raises an exception, which ends the test and the virtual machine. A second signal must not interrupt this."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    options = parse()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts background processes with SIGINT ignored
        signal.signal(number, stop)
    missing = node_image.what_is_missing()
    if missing:
        print(f"virtual node: SKIPPED: {missing}")
        return SKIPPED
    story = Story()
    package = package_to_test(options, story)
    story.say(f"{package.name}; power cuts {options.kills}, seed {options.seed}")
    image = node_image.image_for(package, story.say)
    with tempfile.TemporaryDirectory(prefix="ringside-node-") as folder:
        guide = Guide()
        reference = Reference(pathlib.Path(folder) / "reference", package, guide.matrix())
        node = VirtualNode(folder, image, story.say)
        verdict = 0
        try:
            scenario(story, node, guide, options, package, reference)
        except (Untrue, NodeError) as failure:
            story.say(str(failure))
            verdict = 1
        finally:
            node.close()
        story.figures["boots"] = node.boots
    if options.json:
        write_figures(options, story, verdict)
    figures = story.figures
    story.say(f"boots {figures['boots']}, kills {figures['kills']}, iterates checked {figures['iterates_checked']}, "
              f"lost {figures['iterates_lost']}")
    print(f"{story.found} passed, {verdict} failed")
    return verdict


if __name__ == "__main__":
    sys.exit(main())
