# SPDX-License-Identifier: BSD-3-Clause
"""Tests dashboards/ with Prometheus itself: promtool reads the files, and a server that the test starts scrapes the
exporter, evaluates the rules and raises the alerts that the state of the run requires. Argument: scripted_server's
path."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from scripted import ScriptedServer

DASHBOARDS = pathlib.Path(__file__).resolve().parents[2] / "dashboards"
PROGRAM = sys.argv.pop(1)
PATIENCE_S = 120  # for events that take a second on an idle machine


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Promtool(unittest.TestCase):
    def check(self, *arguments):
        run = subprocess.run(["promtool", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             encoding="utf-8", check=False)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_the_configuration_and_the_rules_are_well_formed(self):
        self.check("check", "config", str(DASHBOARDS / "prometheus.yml"))
        self.check("check", "rules", str(DASHBOARDS / "alerts.yml"))

    def test_the_rules_fire_when_they_should_and_not_before(self):
        self.check("test", "rules", str(pathlib.Path(__file__).with_name("alerts_test.yml")))

    def test_the_exporters_metrics_pass_the_linter(self):
        with contextlib.closing(ScriptedServer(PROGRAM)) as server:
            server.say("start run-0123456789ab")
            server.say("steps 5")
            with urllib.request.urlopen(server.url + "metrics", timeout=60) as answer:
                text = answer.read()
        run = subprocess.run(["promtool", "check", "metrics"], input=text, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, b""))


class Prometheus(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        token = self.folder / "token"
        token.touch(0o600)
        token.write_text("0123456789abcdefghij\n", encoding="utf-8")
        self.exporter = ScriptedServer(PROGRAM, str(token))
        self.addCleanup(self.exporter.close)
        self.start_prometheus(token)

    def start_prometheus(self, token):
        """Starts Prometheus with the shipped files, in which the target is replaced, a token is added, and the times
        are shortened."""
        target = urllib.parse.urlsplit(self.exporter.url).netloc
        config = (DASHBOARDS / "prometheus.yml").read_text(encoding="utf-8")
        config = config.replace("127.0.0.1:9464", target).replace("5s", "200ms")
        config += f"    authorization:\n      credentials_file: {token}\n"
        rules = (DASHBOARDS / "alerts.yml").read_text(encoding="utf-8")
        (self.folder / "prometheus.yml").write_text(config, encoding="utf-8")
        (self.folder / "alerts.yml").write_text(re.sub(r"for: \S+", "for: 0s", rules), encoding="utf-8")
        self.port = free_port()
        log = open(self.folder / "log", "wb")
        self.addCleanup(log.close)
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        self.addCleanup(self.prometheus.wait, 60)
        self.addCleanup(self.prometheus.terminate)

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)["data"]

    def wait_for(self, what, question):
        """Calls `question` until its answer is true."""
        until = time.monotonic() + PATIENCE_S
        last = None
        while time.monotonic() < until:
            self.assertIsNone(self.prometheus.poll(), (self.folder / "log").read_text(encoding="utf-8")[-2000:])
            try:
                last = question()
                if last:
                    return last
            except (urllib.error.URLError, ConnectionError) as error:
                last = error
            time.sleep(0.05)
        return self.fail(f"{what}: {last}")

    def value(self, expression):
        result = self.ask("query", query=expression)["result"]
        return float(result[0]["value"][1]) if result else None

    def firing(self):
        return {a["labels"]["alertname"] for a in self.ask("alerts")["alerts"] if a["state"] == "firing"}

    def test_it_scrapes_and_evaluates_the_rules(self):
        self.exporter.say("up")
        self.exporter.say("start run-0123456789ab")
        status = self.exporter.say("steps 40")
        self.wait_for("the steps are scraped", lambda: self.value("ringside_steps_committed_total") == 40)
        self.assertAlmostEqual(self.value("ringside_residual_l1"), status["last"]["residual_l1"])
        self.assertAlmostEqual(self.value("ringside_generate_seconds_total"), status["totals"]["generate_ns"] / 1e9)
        self.assertEqual(self.value("ringside_hand_off_seconds_count"), 40)

        groups = self.wait_for("the rules are evaluated", lambda: [
            g for g in self.ask("rules")["groups"] if all(r["health"] == "ok" for r in g["rules"])])
        self.assertEqual([r["lastError"] for g in groups for r in g["rules"] if "lastError" in r], [])
        self.assertNotIn("RingsideAnalyzerGone", self.firing())

        self.exporter.say("down")
        self.wait_for("the analyzer's loss raises its alert", lambda: "RingsideAnalyzerGone" in self.firing())
        self.exporter.say("up")
        self.wait_for("and its return ends it", lambda: "RingsideAnalyzerGone" not in self.firing())

        self.exporter.say("start another-run-0123")
        self.exporter.say("steps 3")
        self.wait_for("another run begins at zero", lambda: self.value("ringside_steps_committed_total") == 3)
        self.assertEqual(self.value("count(ringside_run_info)"), 1)


if __name__ == "__main__":
    unittest.main()
