# SPDX-License-Identifier: BSD-3-Clause
"""What an administrator sees when something is wrong: for each state, one clear line, and the exit code that
docs/inside/architecture.md gives for this state.

docs/use/operations.md has the table of these states; this module tests those that can be caused on the machine.
"""

POOL_FOLDER = "/var/lib/ringside/pmem"
POOL = f"{POOL_FOLDER}/ringside.pool"
AS_OWNER = "runuser -u ringside --"
SMALL_RUN = f"{AS_OWNER} ringside run --matrix grid:50 --iterations 5 --quiet"


def _refused(story, node, state, command, status, *words):
    ended = node.run(f"timeout 60 {command}")
    lines = ended.errors.strip().splitlines()
    clear = ended.status == status and len(lines) == 1 and all(word in lines[0] for word in words)
    story.check(f"{state}: refused in one line that says why", clear, f"{ended}expected status {status}, one line with {words}")
    story.say(f"      {lines[0]}")


def _doctor_says(story, node, state, place, *words):
    text = " ".join(node.run(f"ringside doctor {place}").output.split())
    story.check(f"{state}: the doctor says so, and what to do", all(word in text for word in words), f"{words} in {text}")


def check_before_provisioning(story, node):
    """Tests the modes that a namespace may have before a file system with DAX is made in it. Restores the mode at the
    end."""
    _doctor_says(story, node, "a namespace in raw mode", "/", "namespace0.0 (raw", "--mode=fsdax")
    node.must("ndctl create-namespace --force --reconfig=namespace0.0 --mode=sector")
    _doctor_says(story, node, "a namespace in sector mode", "/", "(sector", "--mode=fsdax")
    ended = node.run("ringside-provision-pmem --yes")
    story.check("a namespace in sector mode is not provisioned", ended.status == 3 and "sector" in ended.errors, ended)
    node.must("mkfs.ext4 -q /dev/pmem0s && mount /dev/pmem0s /mnt")
    _refused(story, node, "--require-dax on it", "ringside run --matrix grid:50 --iterations 5 --pool /mnt/x --require-dax", 3,
             "--require-dax", "/dev/pmem0s", "sector mode")
    node.must("umount /mnt && ndctl create-namespace --force --reconfig=namespace0.0 --mode=raw")
    node.must("blkdiscard -z /dev/pmem0")


def check_beside_the_service(story, node):
    """Requires that the services run and that a job uses the pool."""
    _refused(story, node, "--require-dax on a disk", f"{SMALL_RUN} --pool /var/lib/ringside/x.pool --require-dax", 3,
             "/var/lib/ringside/x.pool: --require-dax", "/dev/vda", "is not persistent memory")
    story.equal("and nothing is left there", node.run("ls /var/lib/ringside/x.pool*").status, 2)
    # 1024 slots of 1.28 MB need more than the 1 GiB of the device.
    _refused(story, node, "a device without room",
             f"{AS_OWNER} ringside run --matrix grid:400 --slots 1024 --iterations 5 --quiet --pool {POOL_FOLDER}/big.pool", 3,
             "big.pool: no room for the pool", "bytes are needed", "available")
    _refused(story, node, "another analyzer on the pool",
             f"{AS_OWNER} ringside run --matrix grid:200 --resume --quiet --pool {POOL}", 3, POOL, "in use by process",
             "ringside-analyzer")
    _refused(story, node, "another analyzer at the socket", f"{AS_OWNER} ringside-analyzer --pool {POOL_FOLDER}/y.pool", 3,
             "/run/ringside/analyzer.socket", "process")
    node.must(f"install -m 600 /dev/null {POOL_FOLDER}/roots.pool")
    _refused(story, node, "a pool of another user", f"{SMALL_RUN} --pool {POOL_FOLDER}/roots.pool", 3, "roots.pool",
             "belongs to user root", "this process runs as user ringside")
    _refused(story, node, "a folder of another user", f"{SMALL_RUN} --pool /opt/x.pool", 3, "/opt/x.pool", "belongs to user root")
    node.must(f"rm {POOL_FOLDER}/roots.pool")


def check_without_dax(story, node):
    """Requires stopped services. Mounts the file system without the dax option, which may happen by mistake, and at the
    end mounts it again as before."""
    node.must(f"umount {POOL_FOLDER} && mount /dev/pmem0 {POOL_FOLDER}")
    _refused(story, node, "a file system mounted without dax",
             f"{AS_OWNER} ringside-analyzer --pool {POOL} --require-dax", 3, POOL, "/dev/pmem0", "is mounted without dax")
    cursor = node.must("journalctl --no-pager --lines 1 --show-cursor").splitlines()[-1].removeprefix("-- cursor: ")
    started = node.run("systemctl start ringside-analyzer")
    node.must(f"until journalctl --no-pager --after-cursor '{cursor}' --output cat --unit ringside-analyzer | "
              "grep -q 'is mounted without dax'; do sleep 0.2; done")
    story.check("and the service does not start, but says so, rather than to be slow without a word", started.status != 0, started)
    node.must("systemctl stop ringside-analyzer")
    node.run("systemctl reset-failed ringside-analyzer")
    node.must(f"umount {POOL_FOLDER} && systemctl start var-lib-ringside-pmem.mount")
