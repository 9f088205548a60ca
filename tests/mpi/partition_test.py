# SPDX-License-Identifier: BSD-3-Clause
"""The network between the analyzers of two nodes breaks, in several ways, and works again later. This neither slows nor
ends the run. The journal of the whole run has each step with the bits of a run of one process, or names or counts the
step as missing."""

import contextlib
import os
import select
import socket
import threading

from jobs import HANG_S, Heat, Jobs, run_tests
from journals import Follower, missing, steps, whole_of

STORE = 256  # the number of steps whose parts an analyzer keeps (PartStore::kMost)
ITERATIONS = STORE + 5000  # between two checks of the test, the job makes a thousand steps


class Network:
    """A proxy between the other nodes and this node: passes on connections to the node's analyzer, and can break them.
    The node's file SOCKET.node names the proxy's port, as for a forwarded port."""

    def __init__(self, node):
        self.file = node.socket.with_name(node.socket.name + ".node")
        address, *keys = self.file.read_text().splitlines()
        self.port = int(address.rsplit(":", 1)[1])
        self.lock = threading.Lock()
        self.listening, self.pairs, self.lost = None, [], []
        self.stop_reading, self.stop_writing = os.pipe()
        self.address = ("127.0.0.1", 0)
        self.heal()
        self.address = self.listening.getsockname()
        self.file.write_text("\n".join([f"localhost:{self.address[1]}", *keys, ""]))
        self.passes = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def close(self):
        os.write(self.stop_writing, b"x")
        self.thread.join()
        self.refuse()
        for descriptor in (self.stop_reading, self.stop_writing):
            os.close(descriptor)

    def swallow(self):
        """From now on, nothing arrives and no error is reported: new connections are accepted and remain silent.
        Existing connections remain silent for ever, as if a gateway had forgotten them."""
        with self.lock:
            self.passes = False
            self.lost += self.pairs
            self.pairs = []

    def refuse(self):
        """Closes all connections; no new one can be made."""
        with self.lock:
            for one in [self.listening, *sum(self.pairs + self.lost, ())]:
                if one is not None:
                    one.close()
            self.listening, self.pairs, self.lost = None, [], []

    def heal(self):
        with self.lock:
            self.passes = True
            if self.listening is None:
                self.listening = socket.socket()
                self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self.listening.bind(self.address)
                self.listening.listen()

    def run(self):
        while True:
            with self.lock:
                known = [one for one in [self.listening, *sum(self.pairs, ())] if one is not None]
            with contextlib.suppress(OSError, ValueError):  # a connection was closed meanwhile
                if self.stop_reading in select.select([self.stop_reading, *known], [], [], 0.05)[0]:
                    return
            with self.lock:
                if self.listening is not None and select.select([self.listening], [], [], 0)[0]:
                    self.accept()
                self.pairs = [pair for pair in self.pairs if self.copies(*pair)]

    def accept(self):
        near = self.listening.accept()[0]
        if self.passes:
            self.pairs.append((near, socket.create_connection(("127.0.0.1", self.port))))
        else:
            self.lost.append((near,))

    def copies(self, near, far):
        """Copies what has arrived from each side to the other. Returns False if one side has closed its connection."""
        for from_side, to_side in ((near, far), (far, near)):
            try:
                if not select.select([from_side], [], [], 0)[0]:
                    continue
                content = from_side.recv(65536)
                to_side.sendall(content)
            except OSError:
                content = b""
            if not content:
                near.close()
                far.close()
                return False
        return True


class Partition(Jobs):
    def start_behind_network(self, iterations):
        two = self.nodes(2, "--node-address=localhost")
        network = Network(two[1])
        self.addCleanup(network.close)
        return two, network, self.start(two, "publish_mpi", 37, iterations, ranks=2)

    def assert_kept(self, two, iterations):
        """Both rings must have the newest steps. The journal of the whole run must have the right bits, and count the
        missing steps. Returns the iterations in this journal."""
        self.assert_heat(two, [0, 1], Heat(), newest=iterations)
        alone, = self.ended_run(1, "publish_mpi", 37, iterations, placed=[0])
        of_one_process, found = steps(alone.pool), steps(whole_of(two[0]))
        self.assertEqual({k: of_one_process[k] for k in found}, found)
        named, count = missing(whole_of(two[0]))
        self.assertEqual(len(found) + count, iterations)
        self.assertEqual(set(found) & set(named), set())
        newest = max(found, default=0)  # the iterations of later steps are not known
        self.assertEqual(sorted([*found, *named]), list(range(1, newest + 1)))
        return found

    def test_a_run_goes_on_while_the_network_is_broken_and_when_it_has_healed(self):
        two, network, job = self.start_behind_network(ITERATIONS)
        self.assertIsNotNone(two[1].await_steps(job, 5))
        with Follower(whole_of(two[0], "socket"), self.environment) as follower:
            with job.stopped():
                follower.await_step(5)
                network.swallow()
            self.assertIsNotNone(two[0].await_steps(job, STORE + 40), "the run does not wait for the network")
            with job.stopped():  # so that the run does not end before the network works again
                two[0].await_log("event=round_stalls")
                self.assertIn(f"listens at localhost:{network.address[1]}; the run continues", two[0].log())
                newest = max(follower.steps())
                network.heal()
                follower.await_step(newest + STORE // 2)  # both nodes keep these steps' parts, and send them again
            self.assertIsNotNone(two[0].await_steps(job, STORE + 40))
            with job.stopped():  # otherwise the run might end before the test has checked this
                newest = follower.await_step(newest + STORE + 40)[-1]
                network.refuse()
            self.assertIsNotNone(two[0].await_steps(job, 20))
            with job.stopped():
                network.heal()
                follower.await_step(newest + 20)
        self.ends(job, 0, 3 * HANG_S)
        self.end_analyzers(two)
        found = self.assert_kept(two, ITERATIONS)
        self.assertLess(len(found), ITERATIONS, "the stores were full")
        self.assertIn(ITERATIONS, found)  # although the stores may be full again when the run ends

    def test_a_network_that_stays_broken_neither_ends_the_run_nor_keeps_its_analyzers(self):
        begun = [(*self.start_behind_network(300), how) for how in (Network.swallow, Network.refuse)]
        for two, network, job, how in begun:
            self.assertIsNotNone(two[1].await_steps(job, 5))
            with job.stopped():
                how(network)
        for _, _, job, _ in begun:
            self.ends(job, 0, 3 * HANG_S)
        self.end_analyzers([node for two, _, _, _ in begun for node in two])
        for two, _, _, how in begun:
            with self.subTest(how=how.__name__):
                self.assertLess(len(self.assert_kept(two, 300)), 300)


run_tests()
