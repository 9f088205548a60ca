# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real, headless Chromium: it must show what the records contain, in every state of the run and of the
analyzer. Also the pages that `ringside plan` and `ringside experiment` write. Arguments: scripted_server's path, and
the folder for the screenshots."""

import json
import os
import pathlib
import tempfile
import unittest


from browser import PROGRAM, SCREENSHOTS, PageTest, PhoneTest, screen, separated
from scripted import ScriptedServer

TOKEN = "0123456789abcdefghij"
PUBLISHED_NODE = pathlib.Path(__file__).resolve().parents[2] / "examples/nodes/xeon_6130_nvdimm.json"


class Page(PageTest):
    def test_figures_are_those_of_the_records(self):
        status = self.open("up", "start run-0123456789ab", "steps 100")
        self.assertEqual(self.text("iteration"), separated(status["last"]["iteration"]))
        change = status["last"]["residual_l1"]
        self.assertAlmostEqual(float(self.text("change")), change, delta=change * 1e-3)
        self.assertEqual(self.text("committed"), separated(status["totals"]["steps_committed"]))
        self.assertEqual(self.text("persisted"), f"{status['totals']['steps_persisted']} persisted")
        totals = status["totals"]
        producer = totals["generate_ns"] + totals["producer_idle_ns"]
        self.assertEqual(self.text("producer-idle"), f"{100 * totals['producer_idle_ns'] / producer:.1f} %")
        self.assertIn("pagerank of grid:300, 90,000 rows", self.text("problem"))
        self.assertEqual(self.text("state"), "live")
        parameters = self.text("parameters")
        for value in ("damping=0.85 every=1", "715,204", "720 kB", "locks", status["run"]["run_id"]):
            self.assertIn(value, parameters)

    def test_charts_draw_the_records(self):
        self.open("up", "start run-0123456789ab", "steps 100")
        self.show("steps 20")  # later steps are added
        steps = self.steps()
        self.assertEqual(len(steps), 120)
        kinds = {"producer-chart": ["generate", "producer_idle"],
                 "analyzer-chart": ["transfer", "commit", "analyze", "record", "analyzer_idle"]}
        residual_l1, residual_linf = self.chart("change-chart", 0), self.chart("change-chart", 1)
        self.assertEqual(len(residual_l1), 120)
        for step in steps:
            self.assertEqual(residual_l1[step["iteration"]], step["residual_l1"])
            self.assertEqual(residual_linf[step["iteration"]], step["residual_linf"])
        for identity, names in kinds.items():
            for dataset, name in enumerate(names):
                drawn = self.chart(identity, dataset)
                for step in steps:
                    self.assertAlmostEqual(drawn[step["iteration"]], step[name + "_ns"] / 1e6)
        hand_off = self.script("return Chart.getChart('hand-off-chart').data.datasets[0].data")
        status = self.server.say("up")
        self.assertEqual(hand_off, [status["hand_off_ns"][key] for key in ("p50", "p90", "p99", "max")])
        self.assertEqual(self.script("return Chart.getChart('change-chart').scales.y.type"), "logarithmic")

    def test_the_ring_shows_what_is_committed_and_persisted(self):
        self.open("up", "start run-0123456789ab", "steps 5")
        self.assertEqual(self.text("ring-hint"), "5 of 8 slots hold an iterate")
        self.show("steps 15")
        cells = [(cell.text, cell.get_attribute("class")) for cell in self.all("#ring li")]
        expected = [(str(i), "slot persisted" if i <= 18 else "slot committed") for i in range(13, 20)]
        self.assertEqual(cells, expected + [("20\nnewest", "slot committed")])

    def test_says_when_the_analyzer_is_away_and_when_another_came(self):
        self.browser.get(self.server.url)
        self.wait_for_text("notice", "No analyzer has sent data yet")
        self.show("up", "start run-0123456789ab", "steps 10")
        self.assertFalse(self.one("#notice").is_displayed())
        self.server.say("down")
        self.wait_for_text("state", "analyzer away")
        self.assertIn("the page shows its last data", self.text("notice"))
        self.assertEqual(self.text("iteration"), "10")
        self.server.say("another")
        self.wait_for_text("state", "live")
        self.assertIn("Another analyzer took over", self.text("notice"))

    def test_says_how_the_run_ended_and_shows_the_next_one_from_its_start(self):
        self.open("up", "start run-0123456789ab", "steps 30", "end finished 0")
        self.wait_for_text("state", "run ended: finished")
        self.show("start another-run-0123", "steps 3")
        self.assertEqual(self.text("state"), "live")
        self.assertEqual(self.text("iteration"), "3")
        self.assertEqual(sorted(self.chart("change-chart", 0)), [1, 2, 3])
        self.show("end diverged 2")
        self.wait_for_text("state", "run ended: diverged (exit code 2)")

    def test_does_not_take_a_run_that_was_asked_to_stop_for_a_failure(self):
        self.open("up", "start run-0123456789ab", "steps 30", "end interrupted 130")
        self.wait_for_text("state", "run ended: stopped on request")
        self.assertNotIn("bad", self.one("#state").get_attribute("class"))

    def test_says_when_serve_is_gone(self):
        self.open("up", "start run-0123456789ab", "steps 10")
        server = ScriptedServer(PROGRAM)
        self.browser.get(server.url)
        self.wait_for_text("state", "analyzer away")
        server.close()
        self.wait_for_text("state", "not connected")
        self.leave()  # connections are refused

    def test_a_long_run_stays_whole_and_light(self):
        self.open("up", "start run-0123456789ab", "steps 6000")
        drawn = self.chart("change-chart", 0)
        self.assertLess(len(drawn), 2000)
        self.assertLess(min(drawn), 20)
        self.assertEqual(max(drawn), 6000)

    def test_a_name_is_shown_and_never_run(self):
        self.open("up", "start <img/src=x/onerr")
        self.wait_for_text("parameters", "grid:300")
        self.assertEqual(self.all("img"), [])

    def test_the_token_opens_the_page_and_leaves_the_address_bar(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "token")
            with open(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as token:
                token.write(TOKEN)
            server = ScriptedServer(PROGRAM, file)
            self.addCleanup(server.close)
        self.browser.get(server.url)
        self.assertIn("a token is needed", self.one("body").text)
        self.browser.get(f"{server.url}?token={TOKEN}")
        self.wait_for_text("state", "analyzer away")
        self.assertEqual(self.browser.current_url, server.url)
        self.browser.get_log("browser")  # drops the error about the 401

    def test_fits_a_phone_and_both_colour_schemes(self):
        for name, dark, width, height in (("light", False, 1280, 1100), ("dark", True, 1280, 1100),
                                          ("phone", False, 390, 2300)):
            with self.subTest(name):
                screen(dark, width, height)
                self.server.close()
                self.server = ScriptedServer(PROGRAM)
                self.browser.get(self.server.url + "#charts=u.l2,analysis.energy")
                self.show("up", "start run-0123456789ab", "describe", "steps 60", "mark non_finite u u.non_finite > 0",
                          "step u.l2 nan", "steps 59", "analysis 40 analysis.energy 2", "analysis 90 analysis.energy 3",
                          "mark trigger a_trigger_with_a_long_name " + 20 * "u.change_l1 > 10 * prev(u.change_l1) ", "plug_in l3 2",
                          "ring 120 118 3")
                self.wait_until(lambda: self.all("#marks tr") and self.script(
                    "const c = Chart.getChart('chart-of-analysis.energy'); return c && c.data.datasets[0].data.length === 2"))
                self.browser.save_screenshot(str(SCREENSHOTS / f"page-{name}.png"))
                overflow = self.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.assertLessEqual(overflow, 0, "the page is wider than the screen")
                background = self.script("return getComputedStyle(document.body).backgroundColor")
                self.assertEqual(sum(map(int, background[4:-1].split(","))) < 200, dark)
                self.assert_no_complaints()


class Runs(PhoneTest):
    """The pages of `ringside serve --runs` and `ringside compare`."""

    def setUp(self):
        super().setUp()
        for side in (10, 12):
            self.run_ringside("run", f"--matrix=grid:{side}", "--iterations=30", "--quiet", "--durability=process",
                              f"--pool={self.folder}/{side}.pool")

    def test_chosen_runs_are_drawn_and_the_table_is_sorted_by_the_keyboard(self):
        self.serve("--runs", self.folder)
        self.wait_until(lambda: self.script("return document.documentElement.dataset.runs") == "2")
        for box in self.all("#runs input"):
            box.send_keys(" ")
        self.wait_until(lambda: self.script(
            "return Chart.getChart('course-chart').data.datasets.map(d => d.data.length)") == [30, 30])
        names = lambda: [link.text for link in self.all("#runs a")]
        self.one("#sort-name").send_keys("\n")
        self.assertEqual(names(), ["10.pool", "12.pool"])
        self.one("#sort-name").send_keys("\n")
        self.assertEqual(names(), ["12.pool", "10.pool"])
        self.assert_fits()
        self.browser.save_screenshot(str(SCREENSHOTS / "runs-phone.png"))
        self.one("#runs a").click()
        self.wait_until(lambda: self.browser.title == "Ringside report")
        self.assertIn("grid:12", self.text("problem"))

    def test_a_comparison_fits_a_phone(self):
        page = self.folder / "compare.html"
        self.run_ringside("compare", f"{self.folder}/10.pool", f"{self.folder}/12.pool", "-o", page)
        self.browser.get(f"file://{page}")
        self.assertIn("different problems", self.text("notice"))
        self.assertEqual(self.script("return Chart.getChart('course-chart').data.datasets.length"), 2)
        self.assert_fits()


class WrittenPages(PhoneTest):
    """The pages that `ringside plan` and `ringside experiment` write."""

    def written(self, *arguments):
        page = self.folder / f"{arguments[1]}.html"
        self.run_ringside(arguments[0], *arguments[2:], f"--output={page}")
        self.browser.get(f"file://{page}")
        self.browser.save_screenshot(str(SCREENSHOTS / f"{arguments[0]}-{arguments[1]}.png"))
        self.assert_fits()

    def plan(self, name, cores, all_modes=False):
        node = json.loads(PUBLISHED_NODE.read_text(encoding="utf-8"))
        node["cores"] = cores
        if all_modes:
            node["costs"] = {"hand_off_s": 1e-6, "wake_up_s": 1e-5, "loan_s": 2e-6, "barrier_s": 1e-6}
            problem = node["kernels"][0]["problem"]
            node["kernels"] += [{"kernel": "transfer_reduced", "problem": problem, "tier": tier["name"],
                                 "seconds": [[1, 0.03], [2, 0.016]]} for tier in node["tiers"]]
        file = self.folder / "node.json"
        file.write_text(json.dumps(node), encoding="utf-8")
        self.written("plan", name, f"--node={file}", "--rows=4000000", "--nonzeros=31976004", "--iterations=100")
        return self.script("return Chart.getChart('total-chart').config.type")

    def test_a_plan_of_many_splits_draws_lines_over_them_and_their_parts(self):
        self.assertEqual(self.plan("splits", 16), "line")
        self.assertTrue(self.one("#parts").is_displayed())

    def test_a_plan_of_one_split_draws_bars_for_each_mode_that_add_up_to_its_total(self):
        self.assertEqual(self.plan("one-split", 2, all_modes=True), "bar")
        self.assertFalse(self.one("#parts").is_displayed())
        rows = json.loads(self.one("#data").get_attribute("textContent"))["rows"]
        self.assertEqual({(row["reduce"], row["elastic"]) for row in rows},
                         {("slot", False), ("slot", True), ("transfer", False), ("transfer", True)})
        rows.sort(key=lambda row: row["expected_s"])
        labels = self.script("return Chart.getChart('total-chart').data.labels")
        self.assertEqual(labels, [[f"--reduce {row['reduce']}"] + ["--elastic"] * row["elastic"] for row in rows])
        bars = self.script("return Chart.getChart('total-chart').data.datasets.map(d => [d.stack, d.data])")
        for stack in ("producer", "analyzer"):
            for i, row in enumerate(rows):
                drawn = sum(values[i] for name, values in bars if name == stack)
                self.assertAlmostEqual(drawn, row["total_s"], places=6, msg=f"{stack}, {labels[i]}")
        remarks = [remark.text for remark in self.all("#remarks p")]
        self.assertIn("copies and sweeps in nvdimm are derived from STREAM's copy", remarks)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "with one processor some experiments have no plot")
    def test_every_experiment_fits_a_phone(self):
        for name in ("stream", "compete", "placement", "streams", "pipeline"):
            with self.subTest(name):
                self.written("experiment", name, name, "--bytes=64K", "--repeats=3")
                drawn = self.script("return Object.values(Chart.instances).length")
                self.assertEqual(drawn, len(self.all("canvas")))
                self.assertGreater(drawn, 0)

    def bars_of(self, *points):
        """The axis title and the tooltips of the bars that are drawn for a plot whose lines have one point each."""
        return self.script("""
            const place = document.createElement("div");
            document.querySelector("main").append(place);
            place.append(Object.assign(document.createElement("canvas"), { id: "bars" }));
            const lines = arguments[0].map((point, i) => ({ label: `line ${i}`, points: [point] }));
            const chart = ringside.charts.plot("bars", { x: "threads", y: "seconds", lines });
            const { scales, plugins } = chart.config.options;
            const tooltip = plugins.tooltip.callbacks.label;
            const tooltips = arguments[0].map(([, y], i) => tooltip({ dataIndex: i, parsed: { x: y } }));
            chart.destroy();
            place.remove();
            return [scales.x.title.text, tooltips];""", points)

    def test_bars_name_the_x_of_their_own_line(self):
        self.written("experiment", "stream", "stream", "--bytes=64K", "--repeats=3", "--threads=1")
        self.assertEqual(self.bars_of([1, 5], [2, 4]), ["seconds", ["5 (threads: 1)", "4 (threads: 2)"]])
        self.assertEqual(self.bars_of([2, 5], [2, 4]), ["seconds (threads: 2)", ["5 (threads: 2)", "4 (threads: 2)"]])


if __name__ == "__main__":
    unittest.main()
