# SPDX-License-Identifier: BSD-3-Clause
"""What a user can choose on the page, in a real, headless Chromium: charts of results, marks, slots, and fields as
images. Everything is also used with the keyboard and on a phone's screen. The arguments are those of browser.py."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.keys import Keys

from browser import SCREENSHOTS, PageTest, PhoneTest


class Choices(PageTest):
    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def result_charts(self):
        return self.script(
            "return [...document.querySelectorAll('.result canvas')].map(canvas => canvas.id.replace('chart-of-', ''))")

    def test_results_are_charted_by_the_keyboard_and_the_address_keeps_them(self):
        self.open("up", "start run-0123456789ab", "describe", "steps 30", "step u.l2 nan", "steps 9")
        self.assertEqual(self.result_charts(), [], "the usual charts alone")
        self.assertNotIn("#", self.browser.current_url)
        summary = self.one("#chooser summary")
        self.script("arguments[0].focus()", summary)
        self.press(Keys.ENTER, Keys.TAB)
        self.press("U.L2", Keys.ARROW_DOWN, Keys.SPACE)
        self.wait_until(lambda: len(self.chart("chart-of-u.l2", 0)) == 40)
        drawn = self.chart("chart-of-u.l2", 0)
        self.assertEqual(drawn[1], 5000)
        self.assertEqual(drawn[40], 5039)
        self.assertIsNone(drawn[31], "a gap")
        self.assertEqual(self.script("return Chart.getChart('chart-of-u.l2').signs"), [{"x": 31, "kind": "not_finite"}])
        self.assertIn("not finite at 1 point (×)", self.one(".result p").text)
        self.assertEqual(self.script("return Chart.getChart('chart-of-u.l2').options.scales.y.title.text"), "K")
        self.press(Keys.ARROW_UP)
        for _ in "u.l2":
            self.press(Keys.BACKSPACE)
        self.press("change_l", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.SPACE)
        self.wait_until(lambda: self.result_charts() == ["u.l2", "u.change_l2"])
        self.wait_until(lambda: len(self.chart("chart-of-u.change_l2", 0)) == 40)
        self.assertEqual(self.script("return Chart.getChart('chart-of-u.change_l2').signs"), [{"x": 1, "kind": "gap"}])
        scale = self.all(".result select")[1]
        scale.send_keys("log")
        self.wait_until(lambda: self.script("return Chart.getChart('chart-of-u.change_l2').scales.y.type") == "logarithmic")
        self.assertTrue(self.browser.current_url.endswith("#charts=u.l2,u.change_l2:log"), self.browser.current_url)

        self.browser.refresh()
        self.wait_until(lambda: self.result_charts() == ["u.l2", "u.change_l2"])
        self.wait_until(lambda: len(self.chart("chart-of-u.change_l2", 0)) == 40)
        self.assertEqual(self.script("return Chart.getChart('chart-of-u.change_l2').scales.y.type"), "logarithmic")
        self.show("steps 5")  # later steps are added
        self.wait_until(lambda: len(self.chart("chart-of-u.l2", 0)) == 45)
        remove = self.one(".result .remove")
        self.assertEqual(remove.accessible_name, "remove the chart of u.l2")
        remove.send_keys(Keys.ENTER)
        self.wait_until(lambda: self.result_charts() == ["u.change_l2"])
        self.assertEqual(self.browser.switch_to.active_element.tag_name, "summary", "the focus is not lost")
        self.press(Keys.ESCAPE)
        self.assertIsNone(self.one("#chooser").get_attribute("open"))

    def test_results_of_an_analysis_are_charted_though_they_come_late(self):
        self.browser.get(self.server.url + "#charts=analysis.energy,nobody")
        self.show("up", "start run-0123456789ab", "describe", "steps 30", "analysis 10 analysis.energy 2", "steps 10")
        self.wait_until(lambda: self.chart("chart-of-analysis.energy", 0) == {10: 2})
        self.server.say("analysis 20 analysis.energy inf")
        self.server.say("analysis 30 analysis.energy -4")
        self.wait_until(lambda: self.chart("chart-of-analysis.energy", 0) == {10: 2, 20: None, 30: -4})
        self.assertEqual(self.script("const { x } = Chart.getChart('chart-of-analysis.energy').scales; return [x.min, x.max]"),
                         [1, 40], "the iterations of the other charts")
        notes = [note.text for note in self.all(".result p")]
        self.assertEqual(notes[1], "This run has no result of this name.")
        self.script("document.getElementById('field-panel').scrollIntoView()")
        self.wait_for_text("field-why", "There is no image: no pool is shown here.")

    def test_at_most_eight_results_have_charts(self):
        names = ["sum", "mean", "min", "max", "l1", "l2", "linf", "change_l1", "change_l2"]
        self.browser.get(self.server.url + "#charts=" + ",".join(f"u.{name}" for name in names))
        self.show("up", "start run-0123456789ab", "describe", "steps 10")
        self.wait_until(lambda: len(self.result_charts()) == 8)
        self.wait_until(lambda: len(self.chart("chart-of-u.change_l1", 0)) == 10)
        boxes = self.all("#chooser-list input")
        self.assertEqual([box.is_enabled() for box in boxes], [box.is_selected() for box in boxes])
        self.assertIn("At most 8", self.text("chooser-note"))

    def test_a_name_cannot_turn_the_text_around_it(self):
        self.open("up", "start run-0123456789ab", "steps 10", "mark trigger a\u202egpj.exe\u2069 x.max > 3")
        self.wait_until(lambda: self.all("#marks tr"))
        self.assertEqual(self.one("#marks tr:first-child td:nth-child(3)").text, "a\\u202egpj.exe\\u2069")

    def test_a_mark_is_on_every_chart_and_its_table_is_reached_by_the_keyboard(self):
        self.open("up", "start run-0123456789ab", "steps 30")
        self.assertFalse(self.one("#marks-panel").is_displayed())
        # The pixels around the mark's line. The test reads the pixels from a copy, because Chromium warns about a page
        # that often reads its own canvas.
        line = """
            const chart = Chart.getChart(arguments[0]);
            const copy = new OffscreenCanvas(5, chart.chartArea.height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(chart.canvas, 2 - Math.round(chart.scales.x.getPixelForValue(30)), -chart.chartArea.top);
            const { data } = copy.getImageData(0, 0, 5, chart.chartArea.height);
            return [...Array(data.length / 4).keys()].map((i) => [...data.slice(4 * i, 4 * i + 3)]);"""
        charts = ("change-chart", "producer-chart", "analyzer-chart")
        self.show("mark non_finite <b>u x.non_finite > 0")
        self.show("steps 30", "mark trigger hot x.max > 3")
        self.wait_until(lambda: len(self.all("#marks tr")) == 2)
        cells = [cell.text for cell in self.all("#marks tr:first-child td")]
        self.assertEqual(cells[0], "30")
        self.assertEqual(cells[2:], ["<b>u", "not finite", "x.non_finite > 0", "freeze, stop"])
        before = {chart: self.script(line, chart) for chart in charts}
        button = self.one("#marks button")
        button.send_keys(Keys.SPACE)
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        for chart in charts:
            self.assertNotEqual(self.script(line, chart), before[chart], f"{chart}: emphasized")
        button.send_keys(Keys.SPACE)
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        for chart in charts:
            self.assertEqual(self.script(line, chart), before[chart], f"{chart}: as before")
        # The mark's line must be drawn in the mark's colour, at the right place.
        bad = self.script("return ringside.charts.colour('bad')")
        wanted = [int(bad[i:i + 2], 16) for i in (1, 3, 5)]
        self.assertTrue(any(all(abs(a - b) < 90 for a, b in zip(found, wanted)) for found in before["change-chart"]),
                        "the mark is drawn in its colour")
        self.show("plug_in l3 2")
        self.wait_for_text("notice", "The plug-in l3 has ended the analyzer 2 times and is left out")

    def test_new_marks_leave_the_focus_and_the_selection_where_they_are(self):
        self.open("up", "start run-0123456789ab", "steps 5", "mark trigger hot x.max > 3", "steps 5", "mark trigger cold x.min < 0")
        rows = lambda: [row.text.split()[0] for row in self.all("#marks tr")]
        self.wait_until(lambda: rows() == ["5", "10"])
        button = self.one("#marks tr:last-child button")
        button.send_keys(Keys.SPACE)
        self.script("getSelection().selectAllChildren(document.querySelector('#marks tr td:nth-child(5)'))")
        self.show("steps 5", "mark non_finite u u.non_finite > 0")
        self.wait_until(lambda: rows() == ["5", "10", "15"])
        self.assertEqual(self.browser.switch_to.active_element, button)
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        self.assertEqual(self.script("return String(getSelection())"), "x.max > 3")
        self.show(*[f"mark trigger t{i} x.max > {i}" for i in range(253)])
        self.wait_until(lambda: len(rows()) == 256)
        self.assertEqual(self.browser.switch_to.active_element, button)

    def test_a_focused_mark_that_is_no_longer_kept_passes_the_focus_on(self):
        self.open("up", "start run-0123456789ab", "steps 5", *[f"mark trigger t{i} x.max > {i}" for i in range(256)])
        self.wait_until(lambda: len(self.all("#marks tr")) == 256)
        focused = lambda: self.script("return document.activeElement.closest('tr').cells[2].textContent")
        button = self.one("#marks tr:nth-child(65) button")
        self.script("arguments[0].focus()", button)
        self.assertEqual(focused(), "t64")
        self.show("mark trigger t256 x.max > 256")
        self.wait_for_text("marks-hint", "1 in between")
        self.assertEqual(focused(), "t65")

    def test_marks_that_got_the_numbers_of_others_are_shown(self):
        self.open("up", "start run-0123456789ab", "steps 5", "mark trigger hot x.max > 3")
        self.wait_until(lambda: self.all("#marks tr"))
        self.show("renumber", "steps 5", "mark trigger cold x.min < 0")
        self.wait_until(lambda: "cold" in self.text("marks"))
        self.assertNotIn("hot", self.text("marks"))

    def test_an_address_may_hold_anything_and_makes_no_request_that_is_refused(self):
        long_names = (",".join(name[:-1] + str(i) for i in range(7)) + ",u.l2" for name in ("\u20ac" * 200, "x" * 400))
        for address in (",:,%00,u.l2:cubic,u.l2," + 9000 * "x" + "&field=" + 9000 * "y" + "&cell=median&large=2&=", *long_names):
            with self.subTest(address[:5]):
                self.browser.get("about:blank")
                self.browser.get(self.server.url + "#charts=" + address)
                self.show("up", "start run-0123456789ab", "describe", "steps 10")
                self.wait_until(lambda: "u.l2" in self.result_charts() and len(self.chart("chart-of-u.l2", 0)) == 10)
                self.assertEqual(self.text("state"), "live")
                self.assert_no_complaints()

    def test_a_fault_of_the_page_is_not_taken_for_a_server_that_is_gone(self):
        self.open("up", "start run-0123456789ab", "steps 10")
        self.script("ringside.ring.show = () => { undefined.slots; }")
        self.wait_for_text("state", "the page failed")
        self.assertIn("This page has a fault", self.text("notice"))
        self.assertIn("reading 'slots'", self.text("notice"))
        self.assertTrue(self.browser.get_log("browser"), "it is in the browser's log")
        self.leave()

    def test_the_ring_shows_holds_the_guarded_step_and_a_freeze(self):
        self.open("up", "start run-0123456789ab", "steps 20", "ring - 18 6")
        self.wait_until(lambda: self.all("#ring .held"))
        cells = {cell.text.split("\n")[0]: cell for cell in self.all("#ring li")}
        self.assertEqual(list(cells), [str(i) for i in range(13, 21)])
        self.assertEqual({name: cell.text.split("\n")[1] for name, cell in cells.items() if "\n" in cell.text},
                         {"15": "held", "18": "guarded", "20": "newest"})
        self.assertIn("held by a reader", cells["15"].get_attribute("title"))
        self.assertIn("1 held by readers", self.text("ring-hint"))
        self.assertNotIn("frozen", self.text("ring-hint"))
        self.server.say("ring 20 18 6")
        self.wait_for_text("ring-hint", "frozen at iteration 20")
        self.assertEqual(len(self.all("#ring .frozen")), 8)
        self.server.say("ring 0 18 6")
        self.wait_for_text("ring-hint", "frozen at iteration 0")
        self.assertEqual(len(self.all("#ring .frozen")), 8)

    def test_of_a_long_ring_a_part_is_drawn_and_the_page_says_so(self):
        self.open("up", "start run-0123456789ab", "slots 1000000", "steps 30")
        self.wait_for_text("ring-hint", "30 of 1,000,000 slots hold an iterate; only 512 slots are drawn")
        drawn = lambda: self.script(
            "const cells = [...document.querySelectorAll('#ring li')].map(({ textContent }) => textContent);"
            "return [cells.length, cells.filter((text) => text === 'free').length, cells.at(-1)]")
        self.assertEqual(drawn(), [512, 482, "free"])
        self.show("steps 770")
        self.wait_for_text("ring-hint", "800 of 1,000,000")
        self.assertEqual(drawn(), [512, 0, "800newest"])
        self.server.say("ring - 0 99 600")  # from now on the server reads the pool itself
        self.wait_for_text("ring-hint", "8 of 600 slots hold an iterate; only 8 slots are drawn")


class Field(PhoneTest):
    """A two-dimensional field of a real run, on the page of `ringside serve` and in a report."""

    @classmethod
    def setUpClass(cls):
        cls.made = cls.enterClassContext(tempfile.TemporaryDirectory())
        subprocess.run([cls.ringside, "run", "--matrix=grid:300", "--iterations=30", "--quiet", "--durability=process",
                        f"--pool={cls.made}/grid.pool"], check=True)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.made, self.folder, dirs_exist_ok=True)  # each server holds slots of a separate pool
        self.pool = f"{self.folder}/grid.pool"

    def serve_pool(self):
        self.serve(f"--socket={self.folder}/none", "--pool", self.pool)

    def open_report(self, choices=""):
        page = self.folder / "report.html"
        self.run_ringside("report", self.pool, "-o", page)
        self.browser.get(f"file://{page}{choices}")
        return page

    def colours(self):
        """The width and height of the drawn cells, and how often each colour occurs in them."""
        return self.script("""
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
        # The corners and edges of the grid have fewer neighbours; they have the lowest values, and the cells beside
        # them have the highest.
        self.assertIn("68,1,84,255", seen)
        self.assertIn("253,231,37,255", seen)
        self.assertNotIn("0,0,0,0", seen)
        self.assertIn("x, 300 × 300 f64, iteration 30", self.one("figcaption").text)
        self.assertIn("farthest from the field's mean", self.one("figcaption").text)
        self.assertFalse(self.one("#fields .no").is_displayed())
        self.assert_fits()

    def test_the_live_page_draws_the_newest_iterate(self):
        self.serve_pool()
        # The panel is below the visible part of the phone's screen, so that three updates of the page request no image.
        asked = lambda path: self.script(
            "return performance.getEntriesByType('resource').filter(({ name }) => name.includes(arguments[0])).length", path)
        self.wait_until(lambda: asked("/api/status") >= 3)
        self.assertEqual(asked("/api/image"), 0)
        self.script("document.getElementById('field-panel').scrollIntoView()")
        self.wait_until(lambda: self.script("return document.documentElement.dataset.fieldIteration") == "30")
        self.assert_drawn()
        self.one("#field-panel").screenshot(str(SCREENSHOTS / "field-phone.png"))
        # If the server was drawing the image at that moment, the slot is shown as held; the next status shows it as
        # free again.
        self.wait_until(lambda: "30\nnewest" in self.script(
            "return [...document.querySelectorAll('#ring .slot')].map((slot) => slot.innerText)"))
        cell = self.one("#field-cell")
        cell.send_keys("the mean")
        self.wait_until(lambda: "shows the mean" in self.one("figcaption").text)
        self.assertTrue(self.browser.current_url.endswith("#cell=mean"), self.browser.current_url)
        self.assertFalse(self.one("#field-large").is_displayed(), "no field is large")

    def test_a_refused_image_is_said_on_the_page_which_goes_on_and_asks_again(self):
        self.serve_pool()
        self.wait_until(lambda: self.one("#field-panel").is_displayed())
        self.script("""
            const real = window.fetch;
            window.fetch = (path, ...rest) => (window.refuses && path.startsWith("api/image")
              ? Promise.resolve(new Response("images of 16 other kinds are asked for\\n", { status: 503, headers: { "Retry-After": "1" } }))
              : real(path, ...rest));
            window.refuses = true;
            document.getElementById("field-panel").scrollIntoView();""")
        self.wait_until(lambda: self.text("field-why") == "There is no image: images of 16 other kinds are asked for.")
        self.assertEqual(self.text("state"), "run ended: finished")
        self.assertFalse(self.one("#fields .field").is_displayed())
        self.script("window.refuses = false")
        self.wait_until(lambda: self.one("#fields .field").is_displayed())
        self.assertEqual(self.text("field-why"), "")
        self.assert_drawn()

    def test_a_report_holds_the_image_and_charts_any_result(self):
        self.open_report("#charts=x.l2")
        self.assert_drawn()
        drawn = lambda: self.script(
            "return [...document.querySelectorAll('.result canvas')].map(c => Chart.getChart(c).data.datasets[0].data.length)")
        self.assertEqual(drawn(), [30])
        self.one("#chooser-list input[value='x.change_linf']").send_keys(" ")
        self.assertEqual(drawn(), [30, 30])
        self.assertTrue(self.browser.current_url.endswith("#charts=x.l2,x.change_linf"), self.browser.current_url)
        self.browser.save_screenshot(str(SCREENSHOTS / "report-phone.png"))
        self.assert_fits()

    def test_an_entry_that_is_not_finite_has_a_colour_of_its_own(self):
        page = self.open_report()
        text = page.read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        cells = bytearray(base64.b64decode(data["images"][0]["cells"]))
        cells[1000] = 255
        data["images"][0].update(cells=base64.b64encode(cells).decode(), not_finite=1)
        page.write_text(re.sub(r'(<script type="application/json" id="data">).*?(</script>)',
                               lambda found: found[1] + json.dumps(data) + found[2], text, flags=re.S), encoding="utf-8")
        self.browser.get(f"file://{page}")
        self.assertEqual(self.colours()[2]["227,0,15,255"], 1)
        self.assertTrue(self.one("#fields .no").is_displayed())
        self.assertIn("1 entry is not finite", self.one("figcaption").text)


if __name__ == "__main__":
    unittest.main()
