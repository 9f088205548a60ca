# SPDX-License-Identifier: BSD-3-Clause
"""What a reader chooses on the page, in a real, headless Chromium: charts of results, marks, slots, and fields as images; all
of it by the keyboard, and on a phone's screen. Arguments: those of browser.py."""

import base64
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import PATIENCE_S, PROGRAM, SCREENSHOTS, PageTest, open_browser


class Choices(PageTest):
    def press(self, *keys, browser=None):
        for key in keys:
            (browser or self.browser).switch_to.active_element.send_keys(key)

    def result_charts(self, browser=None):
        return (browser or self.browser).execute_script(
            "return [...document.querySelectorAll('.result canvas')].map(canvas => canvas.id.replace('chart-of-', ''))")

    def test_results_are_charted_by_the_keyboard_and_the_address_keeps_them(self):
        self.browser.get(self.server.url)
        self.show("up", "start run-0123456789ab", "describe", "steps 30", "step u.l2 nan", "steps 9")
        self.assertEqual(self.result_charts(), [], "the usual charts alone")
        self.assertNotIn("#", self.browser.current_url)
        summary = self.browser.find_element(By.CSS_SELECTOR, "#chooser summary")
        self.browser.execute_script("arguments[0].focus()", summary)
        self.press(Keys.ENTER, Keys.TAB)
        self.press("U.L2", Keys.ARROW_DOWN, Keys.SPACE)
        self.wait_until(lambda b: len(self.chart("chart-of-u.l2", 0)) == 40)
        drawn = self.chart("chart-of-u.l2", 0)
        self.assertEqual(drawn[1], 5000)
        self.assertEqual(drawn[40], 5039)
        self.assertIsNone(drawn[31], "a gap")
        self.assertEqual(self.browser.execute_script("return Chart.getChart('chart-of-u.l2').signs"),
                         [{"x": 31, "kind": "not_finite"}])
        self.assertIn("not finite at 1 point (×)", self.browser.find_element(By.CSS_SELECTOR, ".result p").text)
        self.assertEqual(self.browser.execute_script("return Chart.getChart('chart-of-u.l2').options.scales.y.title.text"), "K")
        self.press(Keys.ARROW_UP)
        for _ in "u.l2":
            self.press(Keys.BACKSPACE)
        self.press("change_l", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.SPACE)
        self.wait_until(lambda b: self.result_charts() == ["u.l2", "u.change_l2"])
        self.wait_until(lambda b: len(self.chart("chart-of-u.change_l2", 0)) == 40)
        self.assertEqual(self.browser.execute_script("return Chart.getChart('chart-of-u.change_l2').signs"),
                         [{"x": 1, "kind": "gap"}])
        scale = self.browser.find_elements(By.CSS_SELECTOR, ".result select")[1]
        scale.send_keys("log")
        self.wait_until(lambda b: b.execute_script("return Chart.getChart('chart-of-u.change_l2').scales.y.type") == "logarithmic")
        self.assertTrue(self.browser.current_url.endswith("#charts=u.l2,u.change_l2:log"), self.browser.current_url)

        self.browser.refresh()
        self.wait_until(lambda b: self.result_charts() == ["u.l2", "u.change_l2"])
        self.wait_until(lambda b: len(self.chart("chart-of-u.change_l2", 0)) == 40)
        self.assertEqual(self.browser.execute_script("return Chart.getChart('chart-of-u.change_l2').scales.y.type"), "logarithmic")
        self.show("steps 5")  # later steps are added
        self.wait_until(lambda b: len(self.chart("chart-of-u.l2", 0)) == 45)
        remove = self.browser.find_element(By.CSS_SELECTOR, ".result .remove")
        self.assertEqual(remove.accessible_name, "remove the chart of u.l2")
        remove.send_keys(Keys.ENTER)
        self.wait_until(lambda b: self.result_charts() == ["u.change_l2"])
        self.assertEqual(self.browser.switch_to.active_element.tag_name, "summary", "the focus is not lost")
        self.press(Keys.ESCAPE)
        self.assertIsNone(self.browser.find_element(By.ID, "chooser").get_attribute("open"))
        self.assert_no_complaints()

    def test_results_of_an_analysis_are_charted_though_they_come_late(self):
        self.browser.get(self.server.url + "#charts=analysis.energy,nobody")
        self.show("up", "start run-0123456789ab", "describe", "steps 30", "analysis 10 analysis.energy 2", "steps 10")
        self.wait_until(lambda b: self.chart("chart-of-analysis.energy", 0) == {10: 2})
        self.server.say("analysis 20 analysis.energy inf")
        self.server.say("analysis 30 analysis.energy -4")
        self.wait_until(lambda b: self.chart("chart-of-analysis.energy", 0) == {10: 2, 20: None, 30: -4})
        self.assertEqual(self.browser.execute_script("const { x } = Chart.getChart('chart-of-analysis.energy').scales; return [x.min, x.max]"),
                         [1, 40], "the iterations of the other charts")
        notes = [note.text for note in self.browser.find_elements(By.CSS_SELECTOR, ".result p")]
        self.assertEqual(notes[1], "This run has no result of this name.")
        self.wait_for_text("field-why", "There is no image: no pool is shown here.")
        self.assert_no_complaints()

    def test_an_address_may_hold_anything(self):
        self.browser.get(self.server.url + "#charts=,:,%00,u.l2:cubic,u.l2," + 9000 * "x" + "&field=" + 9000 * "y" + "&cell=median&large=2&=")
        self.show("up", "start run-0123456789ab", "describe", "steps 10")
        self.wait_until(lambda b: "u.l2" in self.result_charts() and len(self.chart("chart-of-u.l2", 0)) == 10)
        self.assertEqual(self.text("state"), "live")
        self.assert_no_complaints()

    def test_at_most_eight_results_have_charts(self):
        names = ["sum", "mean", "min", "max", "l1", "l2", "linf", "change_l1", "change_l2"]
        self.browser.get(self.server.url + "#charts=" + ",".join(f"u.{name}" for name in names))
        self.show("up", "start run-0123456789ab", "describe", "steps 10")
        self.wait_until(lambda b: len(self.result_charts()) == 8)
        self.wait_until(lambda b: len(self.chart("chart-of-u.change_l1", 0)) == 10)
        boxes = self.browser.find_elements(By.CSS_SELECTOR, "#chooser-list input")
        self.assertEqual([box.is_enabled() for box in boxes], [box.is_selected() for box in boxes])
        self.assertIn("At most 8", self.text("chooser-note"))
        self.assert_no_complaints()

    def test_a_mark_is_on_every_chart_and_its_table_is_reached_by_the_keyboard(self):
        self.browser.get(self.server.url)
        self.show("up", "start run-0123456789ab", "steps 30")
        self.assertFalse(self.browser.find_element(By.ID, "marks-panel").is_displayed())
        # The pixels around the mark's line, read from a copy: Chromium warns of a page that reads its own canvas often.
        line = """
            const chart = Chart.getChart(arguments[0]);
            const copy = new OffscreenCanvas(5, chart.chartArea.height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(chart.canvas, 2 - Math.round(chart.scales.x.getPixelForValue(30)), -chart.chartArea.top);
            const { data } = copy.getImageData(0, 0, 5, chart.chartArea.height);
            return [...Array(data.length / 4).keys()].map((i) => [...data.slice(4 * i, 4 * i + 3)]);"""
        charts = ("change-chart", "producer-chart", "analyzer-chart")
        self.show("mark non_finite <b>u x.non_finite > 0")
        self.show("steps 30", "mark trigger hot x.max > 3")
        self.wait_until(lambda b: len(b.find_elements(By.CSS_SELECTOR, "#marks tr")) == 2)
        cells = [cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, "#marks tr:first-child td")]
        self.assertEqual(cells[0], "30")
        self.assertEqual(cells[2:], ["<b>u", "not finite", "x.non_finite > 0", "freeze, stop"])
        before = {chart: self.browser.execute_script(line, chart) for chart in charts}
        button = self.browser.find_element(By.CSS_SELECTOR, "#marks button")
        button.send_keys(Keys.SPACE)
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        for chart in charts:
            self.assertNotEqual(self.browser.execute_script(line, chart), before[chart], f"{chart}: emphasized")
        button.send_keys(Keys.SPACE)
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        for chart in charts:
            self.assertEqual(self.browser.execute_script(line, chart), before[chart], f"{chart}: as before")
        # The line's colour stands at its place.
        bad = self.browser.execute_script("return ringside.charts.colour('bad')")
        wanted = [int(bad[i:i + 2], 16) for i in (1, 3, 5)]
        self.assertTrue(any(all(abs(a - b) < 90 for a, b in zip(found, wanted)) for found in before["change-chart"]),
                        "the mark is drawn in its colour")
        self.show("plug_in l3 2")
        self.wait_for_text("notice", "The plug-in l3 has ended the analyzer 2 times and is left out")
        self.assert_no_complaints()

    def test_the_ring_shows_holds_the_guarded_step_and_a_freeze(self):
        self.browser.get(self.server.url)
        self.show("up", "start run-0123456789ab", "steps 20", "ring 0 18 6")
        self.wait_until(lambda b: b.find_elements(By.CSS_SELECTOR, "#ring .held"))
        cells = {cell.text.split("\n")[0]: cell for cell in self.browser.find_elements(By.CSS_SELECTOR, "#ring li")}
        self.assertEqual(list(cells), [str(i) for i in range(13, 21)])
        self.assertEqual({name: cell.text.split("\n")[1] for name, cell in cells.items() if "\n" in cell.text},
                         {"15": "held", "18": "guarded", "20": "newest"})
        self.assertIn("a reader works on it", cells["15"].get_attribute("title"))
        self.assertIn("1 held by readers", self.text("ring-hint"))
        self.server.say("ring 20 18 6")
        self.wait_for_text("ring-hint", "frozen at iteration 20")
        self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "#ring .frozen")), 8)
        self.assert_no_complaints()


class Field(unittest.TestCase):
    """A field of two dimensions of a real run, on the page of `ringside serve` and in a report."""

    def setUp(self):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ringside = pathlib.Path(PROGRAM).with_name("ringside")
        self.pool = f"{self.folder.name}/grid.pool"
        subprocess.run([self.ringside, "run", "--matrix=grid:300", "--iterations=30", "--quiet", "--durability=process",
                        f"--pool={self.pool}"], check=True)
        self.browser = open_browser(width=390, height=1100)
        self.addCleanup(self.browser.quit)
        self.wait = WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.05)

    def colours(self):
        """Of the drawn cells, by how often they are there."""
        return self.browser.execute_script("""
            const canvas = document.querySelector("#fields .cells");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const seen = {};
            for (let i = 0; i < data.length; i += 4) {
              const colour = data.slice(i, i + 4).join();
              seen[colour] = (seen[colour] || 0) + 1;
            }
            return [canvas.width, canvas.height, seen];""")

    def assert_drawn(self):
        width, height, seen = self.colours()
        self.assertEqual((width, height), (256, 256))
        # The corners and edges of the grid have fewer neighbours: the lowest values, and the highest beside them.
        self.assertIn("68,1,84,255", seen)
        self.assertIn("253,231,37,255", seen)
        self.assertNotIn("0,0,0,0", seen)
        self.assertIn("x, 300 × 300 f64, iteration 30", self.browser.find_element(By.CSS_SELECTOR, "figcaption").text)
        self.assertIn("farthest from the field's mean", self.browser.find_element(By.CSS_SELECTOR, "figcaption").text)
        self.assertFalse(self.browser.find_element(By.CSS_SELECTOR, "#fields .no").is_displayed())
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 390)

    def test_the_live_page_draws_the_newest_iterate(self):
        serve = subprocess.Popen([self.ringside, "serve", "--listen=127.0.0.1:0", f"--socket={self.folder.name}/none", "--pool",
                                  self.pool], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(lambda: (serve.terminate(), serve.communicate(timeout=60)))
        self.browser.get(next(word for word in serve.stdout.readline().split() if word.startswith("http://")))
        self.wait.until(lambda b: b.execute_script("return document.documentElement.dataset.fieldIteration") == "30")
        self.assert_drawn()
        self.browser.find_element(By.ID, "field-panel").screenshot(str(SCREENSHOTS / "field-phone.png"))
        slots = self.browser.find_elements(By.CSS_SELECTOR, "#ring .slot")
        self.assertIn("30\nnewest", [slot.text for slot in slots])
        cell = self.browser.find_element(By.ID, "field-cell")
        cell.send_keys("the mean")
        self.wait.until(lambda b: "shows the mean" in b.find_element(By.CSS_SELECTOR, "figcaption").text)
        self.assertTrue(self.browser.current_url.endswith("#cell=mean"), self.browser.current_url)
        self.assertFalse(self.browser.find_element(By.ID, "field-large").is_displayed(), "no field is large")
        self.assertEqual(self.browser.get_log("browser"), [])

    def test_a_report_holds_the_image_and_charts_any_result(self):
        page = pathlib.Path(self.folder.name) / "report.html"
        subprocess.run([self.ringside, "report", self.pool, "-o", page], check=True, stdout=subprocess.DEVNULL)
        self.browser.get(f"file://{page}#charts=x.l2")
        self.assert_drawn()
        drawn = lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('.result canvas')].map(c => Chart.getChart(c).data.datasets[0].data.length)")
        self.assertEqual(drawn(), [30])
        self.browser.find_element(By.CSS_SELECTOR, "#chooser-list input[value='x.change_linf']").send_keys(" ")
        self.assertEqual(drawn(), [30, 30])
        self.assertTrue(self.browser.current_url.endswith("#charts=x.l2,x.change_linf"), self.browser.current_url)
        self.browser.save_screenshot(str(SCREENSHOTS / "report-phone.png"))
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 390)
        self.assertEqual(self.browser.get_log("browser"), [])

    def test_an_entry_that_is_not_finite_has_a_colour_of_its_own(self):
        page = pathlib.Path(self.folder.name) / "report.html"
        subprocess.run([self.ringside, "report", self.pool, "-o", page], check=True, stdout=subprocess.DEVNULL)
        text = page.read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        cells = bytearray(base64.b64decode(data["images"][0]["cells"]))
        cells[1000] = 255
        data["images"][0].update(cells=base64.b64encode(cells).decode(), not_finite=1)
        page.write_text(re.sub(r'(<script type="application/json" id="data">).*?(</script>)',
                               lambda found: found[1] + json.dumps(data) + found[2], text, flags=re.S), encoding="utf-8")
        self.browser.get(f"file://{page}")
        self.assertEqual(self.colours()[2]["227,0,15,255"], 1)
        self.assertTrue(self.browser.find_element(By.CSS_SELECTOR, "#fields .no").is_displayed())
        self.assertIn("1 entry is not finite", self.browser.find_element(By.CSS_SELECTOR, "figcaption").text)
        self.assertEqual(self.browser.get_log("browser"), [])


if __name__ == "__main__":
    unittest.main()
