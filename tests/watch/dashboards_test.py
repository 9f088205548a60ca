# SPDX-License-Identifier: BSD-3-Clause
"""Every metric that dashboards/ names must exist in the exporter. Arguments: the paths of scripted_server and of
grafana.json."""

import contextlib
import json
import pathlib
import re
import sys
import unittest
import urllib.request

from scripted import ScriptedServer

DASHBOARDS = pathlib.Path(__file__).resolve().parents[2] / "dashboards"
PROGRAM = sys.argv.pop(1)
GRAFANA = pathlib.Path(sys.argv.pop(1))
METRIC = re.compile(r"\bringside_[a-z0-9_]+")


def exported():
    """The names of all samples and of their families, in an export that contains every kind of metric."""
    with contextlib.closing(ScriptedServer(PROGRAM)) as server:
        for line in ("start run-0123456789ab", "steps 5", "status journal"):
            server.say(line)
        with urllib.request.urlopen(server.url + "metrics", timeout=60) as answer:
            text = answer.read().decode()
    return {re.match(r"[a-z0-9_]+", line)[0] for line in text.splitlines() if line and not line.startswith("#")}


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exported = exported()

    def check(self, text, source, least):
        named = set(METRIC.findall(text))
        self.assertGreaterEqual(len(named), least, source)
        self.assertEqual(named - self.exported, set(), f"{source} names metrics that are not exported")

    def test_alert_rules_name_exported_metrics(self):
        self.check((DASHBOARDS / "alerts.yml").read_text(encoding="utf-8"), "alerts.yml", 8)

    def test_the_grafana_dashboard_names_exported_metrics(self):
        self.check(GRAFANA.read_text(encoding="utf-8"), "grafana.json", 15)

    def test_the_grafana_dashboard_has_no_panel_twice(self):
        panels = json.loads(GRAFANA.read_text(encoding="utf-8"))["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        for panel in panels:
            self.assertTrue(panel["title"] and panel["targets"])

    def test_prometheus_scrapes_the_port_that_serve_listens_at(self):
        self.assertIn("127.0.0.1:9464", (DASHBOARDS / "prometheus.yml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
