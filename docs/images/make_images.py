#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the README's pictures again, of a real run on this machine: tail.png and page.png, beside this script.

The run solves grid:2000 with damping 0.99. `ringside tail --since 1s` runs in a terminal of 132 columns; its lines are drawn by
Chromium, with the terminal's colours. The page is that of `ringside serve` amid the run. Nothing is drawn
that the programs did not print. Needs Chromium, its driver and python3-selenium (deploy/test.sh --all installs them), and two
idle cores: figures of a busy machine would mislead."""

import argparse
import fcntl
import html
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import tempfile
import termios
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = pathlib.Path(__file__).resolve().parent
ITERATIONS = 1000
SHOWN = 600  # the page is drawn at about this one, while the run is live
COLUMNS = 132
LINES = 24  # of the terminal
PALETTE = {"31": "#cc4444", "32": "#11aa11", "33": "#aa5500", "34": "#5577dd", "35": "#aa55aa", "36": "#22aaaa", "90": "#888888"}
PORT = 29464


def open_browser(width, height):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    resize(browser, width, height)
    return browser


def resize(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def terminal_output(command, environment, enough):
    """What the command prints to a terminal of COLUMNS until it has printed so many lines, as text with escape sequences."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, {**environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    text = b""
    end = time.monotonic() + 60
    while text.count(b"\n") < enough and time.monotonic() < end and select.select([terminal], [], [], 1)[0]:
        try:
            text += os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
    os.kill(child, 15)
    os.waitpid(child, 0)
    os.close(terminal)
    return text.decode()


def as_html(text):
    """The lines as a terminal shows them: colour, bold and faint of the escape sequences become styles."""
    shown, style = [], ""
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", text.replace("\r\n", "\n").replace("\r", "")):
        if not part.startswith("\x1b["):
            shown.append(f'<span style="{style}">{html.escape(part)}</span>' if style else html.escape(part))
        elif part.endswith("m"):
            for code in part[2:-1].split(";"):
                if code in ("", "0"):
                    style = ""
                elif code == "1":
                    style += "font-weight:bold;"
                elif code == "2":
                    style += "opacity:0.6;"
                elif code in PALETTE:
                    style += f"color:{PALETTE[code]};"
    return "".join(shown)


def draw_terminal(browser, command, text):
    lines = text.replace("\r\n", "\n").split("\n")[:LINES]
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as page:
        page.write('<meta charset="utf-8"><style>body{margin:0;background:#18181e;color:#dcdce0}'
                   'pre{display:inline-block;margin:0;padding:16px 18px;font:14px/18.5px "DejaVu Sans Mono",monospace}</style>'
                   f"<pre>$ {html.escape(command)}\n{as_html(chr(10).join(lines))}</pre>")
        page.flush()
        browser.get(f"file://{page.name}")
        width, height = browser.execute_script(
            "const r = document.querySelector('pre').getBoundingClientRect(); return [Math.ceil(r.width), Math.ceil(r.height)]")
        resize(browser, width, height)
        browser.save_screenshot(str(HERE / "tail.png"))


def newest_iteration(needed):
    if any(process.poll() is not None for process in needed):
        raise SystemExit("ringside run or ringside serve ended too early")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/status", timeout=1) as answer:
            return (json.load(answer).get("last") or {}).get("iteration", 0)
    except OSError:
        return 0


def draw_page(browser, needed):
    resize(browser, 1280, 1400)
    browser.get(f"http://127.0.0.1:{PORT}/")
    while newest_iteration(needed) < SHOWN:
        time.sleep(0.02)
    time.sleep(0.3)  # the page follows
    height = browser.execute_script("return document.querySelector('main').getBoundingClientRect().bottom + 32")
    resize(browser, 1280, int(height))
    browser.save_screenshot(str(HERE / "page.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[1] / "build/release/bin", help="folder of the programs")
    ringside = str(parser.parse_args().bin.resolve() / "ringside")
    browser = open_browser(1280, 1400)
    with tempfile.TemporaryDirectory() as work:
        environment = {**os.environ, "XDG_RUNTIME_DIR": work}
        run = subprocess.Popen([ringside, "run", "--quiet", "--matrix=grid:2000", "--damping=0.99", f"--iterations={ITERATIONS}",
                                "--durability=process", "--pool=ringside.pool"], cwd=work, env=environment)
        while not list(pathlib.Path(work).glob("**/*.telemetry")):  # serve looks for the analyzer's socket once
            time.sleep(0.02)
        serve = subprocess.Popen([ringside, "serve", f"--listen=127.0.0.1:{PORT}"], cwd=work, env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while newest_iteration([run, serve]) < 80:
                time.sleep(0.02)
            text = terminal_output([ringside, "tail", "--since", "1s"], environment, LINES + 1)
            draw_page(browser, [run, serve])
            run.wait(timeout=120)
        finally:
            for process in (run, serve):
                process.terminate()
                process.wait()
    draw_terminal(browser, "ringside tail --since 1s", text)
    browser.quit()


if __name__ == "__main__":
    main()
