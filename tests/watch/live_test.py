# SPDX-License-Identifier: BSD-3-Clause
"""A real run, shown by `ringside serve` and by `ringside report`: both must agree with the run's account. Argument: the
folder of the programs."""

import base64
import fcntl
import json
import os
import pathlib
import re
import signal
import stat
import struct
import sys
import unittest
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from own_folder import PATIENCE_S, OwnFolder  # noqa: E402


def data_of(report):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', report, re.S)[1])


class Live(OwnFolder):
    programs = pathlib.Path(sys.argv.pop(1)).resolve()

    def setUp(self):
        super().setUp()
        self.pool = self.folder / "test.pool"
        # The programs must find no other analyzer.
        self.environment.update(XDG_RUNTIME_DIR=str(self.folder), TMPDIR=str(self.folder))

    def start_run(self, *more, iterations=100_000_000):
        # The steps take 0.2 ms: on two cores, the recorder cannot keep up with much shorter steps. With shorter steps,
        # the recorder would drop records, and only the account would have the times of those steps.
        run = self.start("ringside", "run", "--matrix=grid:500", f"--iterations={iterations}", f"--pool={self.pool}",
                         f"--summary={self.folder}/summary.json", "--durability=process", "--quiet", *more)
        self.wait_for("the analyzer listens", lambda: list(self.folder.glob("ringside-*/analyzer.socket.control")))
        return run

    def end_run(self, run):
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=PATIENCE_S)
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    def ended_run(self, *more, iterations=300):
        """Makes a run to its end; returns its summary."""
        self.start_run(*more, iterations=iterations).communicate(timeout=PATIENCE_S)
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    def report(self, source):
        """The data in the page of a report."""
        page = self.folder / "report.html"
        self.call("ringside", "report", source, "-o", page)
        self.assertEqual(stat.S_IMODE(page.stat().st_mode) & 0o007, 0)
        return data_of(page.read_text(encoding="utf-8"))

    def start_serve(self, *more):
        serve = self.start("ringside", "serve", "--listen=127.0.0.1:0", *more)
        line = serve.stdout.readline()
        self.assertIn("http://", line, "serve did not start" if line else serve.stderr.read())
        self.url = re.search(r"http://\S+/", line)[0]
        return serve

    def ask(self, path):
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def status(self):
        return json.loads(self.ask("api/status"))

    def compare_with_summary(self, totals, hand_off, summary):
        self.assertEqual(totals["steps_committed"], summary["steps_committed"])
        self.assertEqual(totals["steps_skipped"], summary["steps_skipped"])
        for key in ("transfer", "commit", "analyze"):
            self.assertAlmostEqual(totals[key + "_ns"] / 1e9, summary[key + "_s"], places=3, msg=key)
        # No step's record contains the producer's times after the last step (the producer waited for a buffer when the
        # run was stopped). The times in the journal's records of this run must add up exactly to the shown times, and
        # must not exceed the times of the account.
        steps = [record for record in self.records(self.pool) if record["event"] == "step" and record["run_id"] == summary["run_id"]]
        for key in ("producer_idle", "generate"):
            self.assertEqual(totals[key + "_ns"], sum(step[key + "_ns"] for step in steps), msg=key)
            self.assertLessEqual(totals[key + "_ns"] / 1e9, summary[key + "_s"] + 1e-6, msg=key)
        self.assertEqual(hand_off["max"], summary["hand_off_ns"]["max"])

    def test_serve_and_report_say_what_the_account_says(self):
        run = self.start_run()
        serve = self.start_serve()
        self.wait_for("steps come", lambda: (self.status()["totals"] or {}).get("steps", 0) >= 50)
        self.assertEqual(self.status()["analyzer"]["up"], True)
        summary = self.end_run(run)
        ended = self.wait_for("the end is told", lambda: (lambda s: s if s["ended"] and not s["analyzer"]["up"] else None)(self.status()))
        self.assertEqual(ended["run"]["run_id"], summary["run_id"])
        self.assertEqual(ended["ended"]["outcome"], "interrupted")
        self.assertEqual(ended["last"]["iteration"], summary["iterations"])
        self.assertEqual(ended["last"]["residual_l1"], summary["residual_l1"])
        self.compare_with_summary(ended["totals"], ended["hand_off_ns"], summary)
        self.assertIn("ringside_analyzer_up 0\n", self.ask("metrics"))
        serve.send_signal(signal.SIGTERM)
        self.assertEqual(serve.wait(PATIENCE_S), 0)

        told = self.report(self.pool)
        self.compare_with_summary(told["account"], told["hand_off_ns"], summary)
        self.assertEqual(sum(step["steps"] for step in told["steps"]), summary["steps_committed"])
        self.assertEqual(len(told["kept"]), summary["slots"])
        self.assertEqual(told["kept"][-1]["iteration"], summary["iterations"])
        told = self.report(self.folder / "summary.json")
        self.assertEqual(told["account"]["steps_committed"], summary["steps_committed"])

    def test_serve_draws_the_newest_iterate_and_knows_who_holds_a_slot(self):
        run = self.start_run("--slots=6")
        self.start_serve()
        states = self.wait_for("the slots", lambda: (self.status()["ring"] or {}).get("states"))
        self.assertEqual(len(states), 6)
        for state in states:
            self.assertIn(state["use"], ("free", "written"))
        first = self.wait_for("an image", lambda: self.image("x"))
        self.assertEqual((first["rows"], first["columns"], first["image_rows"], first["image_columns"]), (500, 500, 256, 256))
        self.assertEqual(len(base64.b64decode(first["cells"])), 256 * 256)
        later = self.wait_for("a later image", lambda: (lambda image: image and image["iteration"] > first["iteration"]
                                                        and image)(self.image("x")))
        self.assertEqual(later["not_finite"], 0)
        # During the run, another process reads a step in place: the slot must be shown as held, and then as free again.
        held = next(state["slot"] for state in states if state["state"] == "kept")
        with open(self.pool, "rb") as pool:
            lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 2**62 + held, 1, 0)
            self.wait_for("the lease", lambda: self.can_lock(pool, lock))
            self.wait_for("a held slot", lambda: [held] == [state["slot"] for state in self.status()["ring"]["states"]
                                                           if state["use"] == "held"])
        self.wait_for("a free slot", lambda: not [state for state in self.status()["ring"]["states"] if state["use"] == "held"])
        summary = self.end_run(run)
        self.assertEqual(summary["leases_broken"], 0)

    @staticmethod
    def can_lock(pool, lock):
        f_ofd_setlk = 37
        try:
            fcntl.fcntl(pool, f_ofd_setlk, lock)
            return True
        except OSError:
            return False

    def image(self, variable):
        return json.loads(self.ask(f"api/image?variable={variable}"))["image"]

    def test_a_report_says_where_the_journal_breaks_off(self):
        self.ended_run("--journal=file")
        log = self.folder / "test.pool.journal-0"
        os.truncate(log, log.stat().st_size - 5)
        told = self.report(self.pool)
        self.assertRegex("\n".join(told["notices"]), "incomplete: .*journal-0: ends within a record at byte")
        self.assertEqual(told["account"]["steps_committed"], 300)

    def test_serve_shows_the_past_while_no_analyzer_is_there(self):
        summary = self.ended_run()
        self.start_serve("--pool", self.pool)
        status = self.status()
        self.assertEqual(status["run"]["run_id"], summary["run_id"])
        self.assertEqual(status["analyzer"]["up"], False)
        self.assertEqual(status["last"]["iteration"], 300)
        self.compare_with_summary(status["totals"], status["hand_off_ns"], summary)

    def test_serve_shows_an_ended_pool_beside_live_analyzers_of_others(self):
        ended = self.ended_run()["run_id"]
        ended_pool, runs = self.pool, []
        for count in (1, 2):
            self.pool = self.folder / f"live{count}.pool"
            runs.append(self.start_run())
            self.wait_for("they listen", lambda: len(list(self.folder.glob("ringside-*/analyzer.socket.control"))) == count)
            serve = self.start_serve("--pool", ended_pool)
            status = self.status()
            self.assertEqual((status["run"]["run_id"], status["analyzer"]["up"]), (ended, False))
            serve.terminate()
            serve.wait(timeout=PATIENCE_S)
        self.wait_for("it has made its pool", self.pool.exists)
        self.start_serve("--pool", self.pool)  # finds which of the two analyzers has this pool
        self.wait_for("its steps come", lambda: (lambda s: s["analyzer"]["up"] and (s["totals"] or {}).get("steps", 0) >= 20)(self.status()))
        self.assertNotEqual(self.status()["run"]["run_id"], ended)
        for run in runs:
            self.end_run(run)

    def test_serve_begins_before_the_journal_and_before_the_analyzer_answers(self):
        run = self.start_run()
        self.start_serve()
        steps = lambda: (lambda s: s if (s["totals"] or {}).get("steps", 0) >= 20 and "pid" in s["analyzer"] else None)(self.status())
        analyzer = self.wait_for("steps come", steps)["analyzer"]["pid"]
        os.kill(analyzer, signal.SIGSTOP)
        for log in self.folder.glob("test.pool.journal-*"):
            log.unlink()
        self.start_serve("--pool", self.pool)
        self.assertFalse(self.status()["analyzer"]["up"])
        os.kill(analyzer, signal.SIGCONT)
        self.assertEqual(self.wait_for("steps come", steps)["analyzer"]["pid"], analyzer)
        self.end_run(run)

    def test_serve_continues_when_the_analyzer_is_replaced(self):
        run = self.start_run()
        self.start_serve()
        before = self.wait_for("steps come", lambda: (lambda s: s if (s["totals"] or {}).get("steps", 0) >= 20 and "pid" in s["analyzer"] else None)(self.status()))
        os.kill(before["analyzer"]["pid"], signal.SIGKILL)
        after = self.wait_for("another one is shown", lambda: (lambda s: s if s["analyzer"]["changes"] == 1 and
                              s["last"]["iteration"] > before["last"]["iteration"] + 20 else None)(self.status()))
        self.assertEqual(after["run"]["run_id"], before["run"]["run_id"])
        # Steps that the killed analyzer had not recorded and that the ring no longer holds are counted as missing.
        totals = after["totals"]
        self.assertEqual(totals["steps"] + totals["records_missing"], totals["steps_committed"])
        self.assertEqual(totals["steps_committed"], after["last"]["step"] + 1)
        iterations = [step["iteration"] for step in json.loads(self.ask("api/steps?limit=2000"))["steps"]]
        self.assertEqual(iterations, sorted(set(iterations)))
        self.end_run(run)

    def test_serve_continues_with_the_next_run(self):
        run = self.start_run()
        serve = self.start_serve()
        self.wait_for("steps come", lambda: (self.status()["totals"] or {}).get("steps", 0) >= 20)
        first = self.end_run(run)
        run = self.start_run("--overwrite")
        shown = self.wait_for("the next run is shown", lambda: (lambda s: s if s["run"] and s["analyzer"]["up"] and
                              s["run"]["run_id"] != first["run_id"] and (s["totals"] or {}).get("steps", 0) >= 20 else None)(self.status()))
        self.assertIn("from now on", serve.stdout.readline())
        second = self.end_run(run)
        self.assertEqual(shown["run"]["run_id"], second["run_id"])
        ended = self.wait_for("its end is told", lambda: (lambda s: s if s["ended"] else None)(self.status()))
        self.compare_with_summary(ended["totals"], ended["hand_off_ns"], second)

    def test_serve_tells_the_end_of_a_run_that_it_slept_through(self):
        run = self.start_run()
        serve = self.start_serve()
        self.wait_for("steps come", lambda: (self.status()["totals"] or {}).get("steps", 0) >= 20)
        serve.send_signal(signal.SIGSTOP)
        summary = self.end_run(run)
        serve.send_signal(signal.SIGCONT)
        ended = self.wait_for("the end is told", lambda: (lambda s: s if s["ended"] and not s["analyzer"]["up"] else None)(self.status()))
        self.assertEqual(ended["last"]["iteration"], summary["iterations"])
        self.compare_with_summary(ended["totals"], ended["hand_off_ns"], summary)

    def test_serve_lists_the_runs_below_a_folder_and_reports_each(self):
        summary = self.ended_run(iterations=200)
        self.start_serve("--runs", self.folder)
        listed = json.loads(self.ask("api/runs"))
        self.assertEqual([run["run_id"] for run in listed["runs"]], [summary["run_id"]])
        run = listed["runs"][0]
        self.assertEqual((run["name"], run["state"], run["iteration"]), ("test.pool", "done", 200))
        self.assertEqual(run["last"], summary["residual_l1"])
        course = json.loads(self.ask(f"api/course?run={run['key']}"))["course"]
        self.assertEqual((len(course), course[-1][0], course[-1][2]), (200, 200, summary["residual_l1"]))
        told = data_of(self.ask(f"report?run={run['key']}"))
        self.assertEqual(told["account"]["steps_committed"], 200)
        self.assertIn("Ringside runs", self.ask(""))
        for path in ("report?run=../../test.pool", "report?run=", f"api/course?run={run['key']}0", "test.pool", "index"):
            with self.subTest(path), self.assertRaises(urllib.error.HTTPError) as refused:
                self.ask(path)
            self.assertEqual(refused.exception.code, 404)
            refused.exception.close()

    def test_serve_shows_a_run_below_the_folder_that_goes_on_as_running(self):
        self.start_serve("--runs", self.folder)
        self.assertEqual(json.loads(self.ask("api/runs"))["runs"], [])
        run = self.start_run()
        states = lambda: [one["state"] for one in json.loads(self.ask("api/runs"))["runs"]]
        self.wait_for("the run is listed", lambda: states() == ["running"])
        self.end_run(run)
        self.wait_for("its end is listed", lambda: states() == ["interrupted"])

    def test_what_cannot_be_served_or_told_is_said_in_one_line(self):
        (self.folder / "other.json").write_text("{}", encoding="utf-8")
        (self.folder / "text").write_text("text", encoding="utf-8")
        token = self.folder / "token"
        token.write_text("0123456789abcdefghij", encoding="utf-8")
        token.chmod(0o644)
        for arguments, code, word in (
                (("serve",), 4, "no analyzer"),
                (("serve", "--listen=0.0.0.0:0", f"--pool={self.pool}"), 2, "--token-file"),
                (("serve", "--listen=somewhere"), 2, "HOST:PORT"),
                (("serve", f"--token-file={token}"), 2, "chmod 600"),
                (("serve", "--socket=/none", f"--pool={self.pool}"), 2, "test.pool"),
                (("serve", "--runs", self.folder / "none"), 2, "--runs"),
                (("serve", "--runs", self.folder, "--pool=x"), 2, "--runs: found with --pool"),
                (("report", self.pool), 2, "test.pool"),
                (("report", self.folder / "nope.pool"), 2, "nope.pool: cannot be opened: No such file"),
                (("serve", f"--token-file={self.folder}/none", f"--pool={self.pool}"), 2, "No such file"),
                (("report", self.folder / "text"), 2, "text"),
                (("report", self.folder / "other.json"), 2, "other.json: this JSON is not a summary")):
            with self.subTest(arguments):
                err = self.call("ringside", *arguments, expected=code).stderr
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(word, err)


if __name__ == "__main__":
    unittest.main()
