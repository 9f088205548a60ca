#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the README's pictures again, of a real run on this machine: tail.png and page.png, beside this script.

The run solves grid:2000 with damping 0.99. `ringside tail --since 1s` runs in a terminal of 132 columns; Chromium draws this
command and, below it, the lines that it printed, with the terminal's colours. The page is the one that `ringside serve` shows
during the run. Needs Chromium, its driver and python3-selenium (deploy/test.sh --all installs them), and two idle cores,
because figures of a busy machine would be misleading."""

import argparse
import codecs
import contextlib
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
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = pathlib.Path(__file__).resolve().parent
ITERATIONS = 1000
SHOWN = 600  # the page is drawn at about this one, while the run is live
COLUMNS = 132
LINES = 24  # of the terminal
PALETTE = {"31": "#cc4444", "32": "#11aa11", "33": "#aa5500", "34": "#5577dd", "35": "#aa55aa", "36": "#22aaaa",
           "90": "#888888"}
PORT = 29464
PATIENCE_S = 60


@contextlib.contextmanager
def started(command, **how):
    process = subprocess.Popen(command, **how)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def open_browser(width, height):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        resize(browser, width, height)
        yield browser
    finally:
        browser.quit()


def resize(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def terminal_output(command, environment, enough):
    """The command's output on a terminal with COLUMNS columns, as text with escape sequences, until it has printed `enough`
    lines."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end amid a character
    text = ""
    end = time.monotonic() + PATIENCE_S
    # The terminal is closed before the command is stopped, which may be writing to it.
    with (started(command, env=environment, stdin=its, stdout=its, stderr=its, start_new_session=True),
          open(ours, "rb", buffering=0) as terminal):
        os.close(its)
        while text.count("\n") < enough and select.select([terminal], [], [], max(end - time.monotonic(), 0))[0]:
            try:
                text += decoder.decode(terminal.read(65536))
            except OSError:  # the command has ended
                break
    if text.count("\n") < enough:
        raise SystemExit(f"{' '.join(command)}: found {text.count(chr(10))} lines, expected {enough} within {PATIENCE_S} s; "
                         f"the end of its output: {text[-200:]!r}")
    return text


def as_html(text):
    """The lines as a terminal shows them: escape sequences for colours, bold and faint text become styles."""
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


def without_filters(data):
    """The same PNG (three colours, 8 bits each) without the filters that Chromium applies. Pictures that are mostly flat compress
    better without them."""
    chunks, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + length]
        at += length + 12
    width = struct.unpack_from(">I", chunks[b"IHDR"])[0] * 3
    filtered = zlib.decompress(chunks[b"IDAT"])
    above, lines = bytes(width + 3), []  # with a pixel of zeros on the left
    for begin in range(0, len(filtered), width + 1):
        line = bytearray(3) + filtered[begin + 1:begin + 1 + width]
        for i in range(3, width + 3):
            left, up, corner = line[i - 3], above[i], above[i - 3]
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            line[i] = (line[i] + (0, left, up, (left + up) // 2, nearest)[filtered[begin]]) & 255
        lines.append(b"\0" + line[3:])
        above = line
    body = {b"IHDR": chunks[b"IHDR"], b"IDAT": zlib.compress(b"".join(lines), 9), b"IEND": b""}
    return data[:8] + b"".join(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
                               for kind, content in body.items())


def save_picture(browser, name):
    (HERE / name).write_bytes(without_filters(browser.get_screenshot_as_png()))


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
        save_picture(browser, "tail.png")


def expect_alive(needed):
    for process in needed:
        if process.poll() is not None:
            raise SystemExit(f"{' '.join(process.args[:2])}: ended too early, with exit code {process.returncode}")


def newest_iteration(needed):
    expect_alive(needed)
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
    save_picture(browser, "page.png")


def follow_a_run(browser, ringside, work, environment):
    """Draws both pictures of one run in the folder `work`."""
    run_command = [ringside, "run", "--quiet", "--matrix=grid:2000", "--damping=0.99", f"--iterations={ITERATIONS}",
                   "--durability=process", "--pool=ringside.pool"]
    serve_command = [ringside, "serve", f"--listen=127.0.0.1:{PORT}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started(run_command, cwd=work, env=environment) as run:
        while not list(pathlib.Path(work).glob("**/*.telemetry")):  # serve looks for the analyzer's socket once
            expect_alive([run])
            time.sleep(0.02)
        with started(serve_command, cwd=work, env=environment, **quiet) as serve:
            while newest_iteration([run, serve]) < 80:
                time.sleep(0.02)
            text = terminal_output([ringside, "tail", "--since", "1s"], environment, LINES + 1)
            draw_page(browser, [run, serve])
            if run.wait(timeout=120) != 0:
                raise SystemExit(f"ringside run: ended with exit code {run.returncode}")
    draw_terminal(browser, "ringside tail --since 1s", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[1] / "build/release/bin",
                        help="folder of the programs")
    ringside = str(parser.parse_args().bin.resolve() / "ringside")
    with open_browser(1280, 1400) as browser:
        with tempfile.TemporaryDirectory() as work:
            # The folder has no calibration: the user's would choose how the run reduces. TMPDIR: otherwise `ringside tail`
            # also finds the analyzers of other runs in /tmp.
            folders = dict.fromkeys(("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "TMPDIR"), work)
            follow_a_run(browser, ringside, work, {**os.environ, **folders})


if __name__ == "__main__":
    main()
