# SPDX-License-Identifier: BSD-3-Clause
"""A real, headless Chromium for the tests of pages, and the functions with which these tests examine a page. Arguments:
scripted_server's path, and the folder for the screenshots."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from scripted import ScriptedServer

PROGRAM = sys.argv.pop(1)
SCREENSHOTS = pathlib.Path(sys.argv.pop(1))
PATIENCE_S = 120  # for events that take a second on an idle machine

opened = None


def screen(dark=False, width=1280, height=1100):
    """Returns the browser, with an empty page on a screen with these properties. All tests share one browser, because
    starting it takes as long as a test."""
    global opened
    if opened is None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        opened = start_browser()
        unittest.addModuleCleanup(opened.quit)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    opened.get("about:blank")
    opened.get_log("browser")  # drops the errors of the previous test's page, which lost its server
    return opened


def start_browser():
    options = webdriver.ChromeOptions()
    # As root, or if user namespaces are forbidden, Chromium's sandbox does not start. Chromium opens only pages of
    # Ringside.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                     "--window-size=1280,1100"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def separated(number):
    return f"{number:,}"


class OnPage(unittest.TestCase):
    """The functions with which tests examine the browser and its page."""

    def tearDown(self):
        self.assert_no_complaints()

    def script(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, identity):
        return self.one("#" + identity).text

    def wait_until(self, condition):
        return WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.05).until(lambda _: condition())

    def wait_for_text(self, identity, wanted):
        self.wait_until(lambda: wanted in self.text(identity))

    def assert_no_complaints(self):
        """Expects that the browser reports no error: no failed script, no missing asset, no violation of the content
        security policy."""
        self.assertEqual(self.browser.get_log("browser"), [])


class PageTest(OnPage):
    """Drives a page that shows a simulated run."""

    def setUp(self):
        self.server = ScriptedServer(PROGRAM)
        self.addCleanup(lambda: self.server.close())
        self.browser = screen()

    def leave(self):
        """Drops the errors that the test has caused. An empty page causes no more errors."""
        self.browser.get("about:blank")
        self.browser.get_log("browser")

    def show(self, *commands):
        """Runs the commands, waits until the page shows the resulting status, and returns this status."""
        for command in commands:
            status = self.server.say(command)
        self.wait_until(lambda: self.script("return document.documentElement.dataset.newestSeq") == str(status["newest_seq"]))
        return status

    def open(self, *commands):
        """Opens the page, and then does the same as `show`."""
        self.browser.get(self.server.url)
        return self.show(*commands)

    def chart(self, identity, dataset):
        """{iteration: value} of one of a chart's lines."""
        points = self.script(
            "return Chart.getChart(arguments[0]).data.datasets[arguments[1]].data.map(p => [p.x, p.y])", identity, dataset)
        return {int(x): y for x, y in points}

    def steps(self):
        return self.script("return fetch('/api/steps?limit=2000').then(answer => answer.json())")["steps"]


class PhoneTest(OnPage):
    """Drives pages that the programs serve and write, on a phone's screen. Each test has a separate folder."""

    ringside = pathlib.Path(PROGRAM).with_name("ringside")

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.browser = screen(width=390, height=1100)

    def run_ringside(self, *arguments):
        subprocess.run([self.ringside, *arguments], check=True, stdout=subprocess.DEVNULL)

    def serve(self, *arguments):
        """Opens the page of `ringside serve` with these arguments."""
        serve = subprocess.Popen([self.ringside, "serve", "--listen=127.0.0.1:0", *arguments], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(lambda: (serve.terminate(), serve.communicate(timeout=60)))
        self.browser.get(next(word for word in serve.stdout.readline().split() if word.startswith("http://")))

    def assert_fits(self):
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
