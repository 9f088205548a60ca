# SPDX-License-Identifier: BSD-3-Clause
"""Whether the analyzer's unit enforces its restrictions: a probe that runs in place of the analyzer tries what no
program of Ringside does."""

# A shell in this unit tries each line and prints the lines that succeed. The first two must succeed, which shows that
# the probe itself works.
ALLOWED = ("/var/lib/ringside/probe", "/run/ringside/probe")
FORBIDDEN_FILES = ("/etc/ringside/probe", "/etc/probe", "/usr/bin/probe", "/usr/lib/probe", "/root/probe", "/home/probe",
                   "/var/lib/probe", "/var/log/probe", "/opt/probe", "/boot/probe", "/run/probe", "/sys/kernel/probe",
                   "/proc/sys/kernel/hostname", "/dev/shm/../kmsg")
FORBIDDEN_ACTS = {
    "connect to the network": "exec 3<>/dev/tcp/127.0.0.1/9464",
    "mount a file system": "mount -t tmpfs tmpfs /tmp",
    "see the devices": "test -e /dev/vda -o -e /dev/pmem0",
    "signal what is not its own": "kill -0 1",
    "make a namespace": "unshare --user true",
    "change its user": "setpriv --reuid 0 true",
}
UNIT = "ringside-analyzer.service"
PROBE = "/usr/local/bin/node-probe"
END = "the probe came to its end"
DROP_IN = f"/run/systemd/system/{UNIT}.d/probe.conf"


def _script():
    lines = ["#!/bin/bash"]
    for path in (*ALLOWED, *FORBIDDEN_FILES):
        lines.append(f"(echo probe >'{path}') 2>/dev/null && echo 'succeeded: write {path}'")
    for name, act in FORBIDDEN_ACTS.items():
        lines.append(f"({act}) >/dev/null 2>&1 && echo 'succeeded: {name}'")
    return "\n".join([*lines, f"echo '{END}'", ""])


def check_hardening(story, node):
    """Runs the probe for one start of the unit, and then restores the analyzer."""
    node.must(f"cat >{PROBE} <<'PROBE'\n{_script()}PROBE\nchmod 755 {PROBE}")
    outside = node.must(f"bash {PROBE}").splitlines()
    story.check("outside of the unit the probe may do all of it that root may",
               len(outside) - 1 > len(FORBIDDEN_FILES) and all(f"succeeded: {act}" in outside for act in FORBIDDEN_ACTS), outside)
    node.must(f"rm -f {' '.join(ALLOWED)}; systemctl stop ringside.target ringside-analyzer; mkdir -p $(dirname {DROP_IN}); "
              f"printf '[Unit]\\nAssertPathExists=\\n[Service]\\nType=oneshot\\nRestart=no\\nWatchdogSec=0\\nExecStart=\\n"
              f"ExecStart={PROBE}\\n' >{DROP_IN}; systemctl daemon-reload")
    node.must(f"systemctl start {UNIT}")
    # systemd's journal stores the lines later than the probe writes them. If lines were missing, their acts would
    # wrongly count as refused.
    log = node.must(f"until journalctl --no-pager --output cat --unit {UNIT} >/run/probe.log; grep -qFx '{END}' /run/probe.log; "
                    "do sleep 0.2; done; cat /run/probe.log; rm /run/probe.log")
    succeeded = sorted(line.removeprefix("succeeded: ") for line in log.splitlines() if line.startswith("succeeded: "))
    story.equal("in the unit it can write to its state and its sockets' folder, and do nothing else", succeeded,
                sorted(f"write {path}" for path in ALLOWED))
    node.must(f"rm -f {DROP_IN} {' '.join(ALLOWED)}; systemctl daemon-reload; systemctl start ringside.target")
