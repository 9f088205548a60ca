# SPDX-License-Identifier: BSD-3-Clause
"""The process that runs a user's analyses: `ringside analyze` starts it as `python3 -m ringside.analyze FILE POOL
RESULTS COMMANDS`, and exchanges lines of JSON with it over two descriptors (docs/use/questions.md). This process reads
the pool like any other reader. What the user's functions print goes to standard error, with their names."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import io
import json
import os
import pathlib
import select
import struct
import sys
import threading
import traceback
from types import FrameType, TracebackType
from typing import Any, NoReturn

import numpy as np

from .analyses import MOST_FUNCTIONS, MOST_RESULTS, Reduction, is_name, registered
from .errors import Error, NotKeptError, OverwrittenError, UsageError
from .held_step import HeldStep
from .reading import Pool
from .records import StepInfo

_LOOK_S = 0.05  # how long it waits for a step between two checks for a command
_MOST_LINE_BYTES = 65536  # the longest line that is printed whole; a longer one is printed in parts
_MOST_WHY_CHARACTERS = 4096


class _MarkedLines(io.RawIOBase):
    """Standard error. Each line begins with the name of the function that runs."""

    def __init__(self) -> None:
        self.name = ""
        self._partial = b""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, data: Any) -> int:
        text = bytes(data)
        *lines, self._partial = (self._partial + text).split(b"\n")
        for line in lines:
            self._put(line)
        while len(self._partial) > _MOST_LINE_BYTES:
            end = _MOST_LINE_BYTES
            while end > _MOST_LINE_BYTES - 4 and self._partial[end] & 0xC0 == 0x80:
                end -= 1  # does not cut a character
            self._put(self._partial[:end])
            self._partial = self._partial[end:]
        return len(text)

    def end_line(self) -> None:
        """Writes the last line, if it does not end with a newline."""
        if self._partial:
            self._put(self._partial)
            self._partial = b""

    def _put(self, line: bytes) -> None:
        data = (f"{self.name}: " if self.name else "").encode() + line + b"\n"
        while data:
            data = data[os.write(2, data):]


class _Marked(io.TextIOBase):
    """Standard output and error of the user's functions, as text. `buffer` takes bytes, like sys.stdout.buffer."""

    def __init__(self, buffer: _MarkedLines) -> None:
        self.buffer = buffer

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.buffer.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "backslashreplace"

    def write(self, text: str) -> int:
        self.buffer.write(str(text).encode(self.encoding, self.errors))
        return len(text)


class _Copies:
    """Handles copies of this process that os.fork makes. If the user's function returns in a copy, the copy ends there."""

    def __init__(self, descriptors: list[int]) -> None:
        self.is_copy = False
        self.is_first = True  # this process is not a copy, or is the first one
        self._descriptors = descriptors
        os.register_at_fork(after_in_parent=self._forked, after_in_child=self._copied)

    def _forked(self) -> None:
        self.is_first = False

    def _copied(self) -> None:
        if self.is_copy:
            return  # a copy of a copy: the numbers may now belong to its own files
        self.is_copy = True
        for descriptor in self._descriptors:
            os.close(descriptor)


class Worker:
    """One file of analyses and the pool that it reads."""

    def __init__(self, file: str, pool: str, results: int, commands: int) -> None:
        self._file = file
        self._pool_path = pool
        self._results = results
        self._commands = commands
        self._unread = b""
        self._is_over = False
        for descriptor in (results, commands):
            os.set_inheritable(descriptor, False)
        self._output = _MarkedLines()
        self._said = sys.stdout = sys.stderr = _Marked(self._output)
        self._copies = _Copies([results, commands])
        self._reductions: list[Reduction] = []
        self._skipped: list[int] = []
        self._has_failed: set[str] = set()
        self._last = (0, 0)  # commit_seq and iteration of the last step that was processed

    def run(self) -> int:
        self._tell("hello")
        refusal = self._load()
        if refusal is not None:
            self._tell("refused", why=refusal)
            return 2
        self._reductions = registered()
        self._skipped = [0] * len(self._reductions)
        self._tell("ready", analyses=[[one.name, one.every] for one in self._reductions])
        begin = self._command(wait=True)
        if begin is None or "run" not in begin:  # the run has ended before the analyses began
            self._tell("end", commit_seq=0, skipped=self._skipped)
            return 0
        try:
            pool = Pool(self._pool_path)
            if begin["run"] is None:
                self._look_at_kept(pool, begin["from"], begin["to"])
            else:
                self._follow(pool, begin["run"], begin["after"], begin["iteration"])
        except BrokenPipeError:
            return 0  # the reader of the results has ended
        except Error as error:
            self._tell("stopped", why=str(error))
            return error.status if error.status > 0 else 3
        self._tell("end", commit_seq=self._last[0], skipped=self._skipped)
        return 0

    def _load(self) -> str | None:
        """Imports the file. Returns why it cannot be used, in one line."""
        path = pathlib.Path(self._file).resolve()
        sys.path.insert(0, str(path.parent))
        sys.argv = [str(path)]
        name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"ringside_analysis_{os.getpid()}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            return f"{self._file}: cannot be imported; expected a file whose name ends with .py"
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        sys.dont_write_bytecode = True  # leave no files beside a user's file
        try:
            spec.loader.exec_module(module)
            if self._copies.is_copy:
                os._exit(0)
        except SyntaxError as error:
            where = self._file if error.filename in (None, str(path)) else f"{self._file}: {error.filename}"
            return f"{where}, line {error.lineno}: {error.msg}"
        except BaseException as error:  # includes sys.exit
            where = self._file
            line = _line_in(error.__traceback__, str(path))
            text = str(error) if isinstance(error, Error) else "".join(traceback.format_exception_only(type(error), error))
            return f"{where}{f', line {line}' if line else ''}: {' '.join(text.split())}"
        if not registered():
            return f"{self._file}: found no function with @ringside.reduction; expected at least one"
        if len(registered()) > MOST_FUNCTIONS:
            return (f"{self._file}: found {len(registered())} functions with @ringside.reduction; expected at most {MOST_FUNCTIONS} in a "
                    "file: --analyze may be given several times")
        return None

    def _look_at_kept(self, pool: Pool, first: int, last: int) -> None:
        for info in pool.steps:
            if first <= info.iteration <= last:
                self._look_at(pool, info.commit_seq, kept=info)

    def _follow(self, pool: Pool, run: str, after: int, iteration: int) -> None:
        self._last = (after, iteration)
        last = after
        while True:
            command = self._command(wait=False)
            self._is_over = self._is_over or (command is not None and "end" in command)
            found = pool._live.next(last, 0 if self._is_over else _LOOK_S, True)
            if found is None:
                if self._is_over:
                    return
                continue
            last = found[0]
            if found[3].hex() == run:
                self._look_at(pool, last)
            elif self._is_over:
                return  # the step belongs to the next run

    def _look_at(self, pool: Pool, commit_seq: int, *, kept: StepInfo | None = None) -> None:
        """Calls the functions that are due, and sends what they return. kept: the step, if the kept steps of a pool are
        analyzed. None: a run is followed, and the steps that are missing before this one are counted."""
        try:
            step = pool.hold(commit_seq)
        except NotKeptError:  # overwritten; with the next step, the gap is counted
            for index in self._due(kept) if kept else []:
                self._skipped[index] += 1
            return
        info = step.info
        if not kept:
            self._count_gap(info)
        self._last = (info.commit_seq, info.iteration)
        due = self._due(info)
        try:
            with step:
                while due:
                    line = self._called(self._reductions[due[0]], step)
                    index = due.pop(0)
                    # The results are sent at once, because the next function may end the process.
                    self._tell(**line, analysis=index, run=info.run_id, step=info.step, iteration=info.iteration,
                               commit_seq=info.commit_seq, skipped=self._skipped[index])
        except OverwrittenError:
            for index in due:
                self._skipped[index] += 1

    def _due(self, info: StepInfo) -> list[int]:
        return [index for index, one in enumerate(self._reductions) if info.iteration % one.every == 0]

    def _called(self, one: Reduction, step: HeldStep) -> dict[str, Any]:
        self._output.name = one.name
        try:
            names, values = _results_of(one.name, one.function(step))
            step.check()
        except OverwrittenError:
            raise
        except Exception as error:
            if self._copies.is_copy:
                self._end_copy()
            if one.name not in self._has_failed:
                self._has_failed.add(one.name)
                lines = traceback.format_exception(type(error), error, _own_part(error.__traceback__))
                print(f"failed at iteration {step.iteration}; later failures are only counted\n" + "".join(lines), end="", file=self._said)
            return {"kind": "failed"}
        except BaseException as error:
            if self._copies.is_copy:
                self._end_copy()
            self._stop(f"{one.name} {_end_in_words(error)} at iteration {step.iteration}")
        finally:
            self._output.end_line()
            if self._copies.is_copy:
                self._end_copy()  # a copy cannot use the handle of the step, and its descriptors are closed
            self._output.name = ""
        return {"kind": "result", "names": names, "values": values} if names else {"kind": "nothing"}

    def _end_copy(self) -> NoReturn:
        """Ends a copy of this process (made by os.fork) in which the user's function has returned."""
        if self._copies.is_first:
            print("called os.fork; a copy of the process in which the function returns ends at that point", file=self._said)
        os._exit(0)

    def _stop(self, why: str) -> NoReturn:
        self._tell("stopped", why=why)
        os._exit(0)

    def _count_gap(self, info: StepInfo) -> None:
        """Counts as skipped the steps between the last one and this one: they were overwritten before their turn."""
        before, iteration = self._last
        missed = info.commit_seq - before - 1
        if missed <= 0:
            return
        stride, rest = divmod(info.iteration - iteration, missed + 1)  # due_steps.hpp counts in the same way
        if rest or stride < 1:
            stride = 1
        first = info.iteration - stride * missed
        for index, one in enumerate(self._reductions):
            self._skipped[index] += sum(1 for k in range(missed) if (first + stride * k) % one.every == 0) if one.every > 1 else missed

    def _tell(self, kind: str, **fields: Any) -> None:
        if "why" in fields:  # a path may contain bytes that are not UTF-8
            fields["why"] = fields["why"][:_MOST_WHY_CHARACTERS].encode(errors="backslashreplace").decode()
        data = json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._results, data):]

    def _command(self, *, wait: bool) -> dict[str, Any] | None:
        """Returns the next command, or None if there is none yet; {"end": 1} if the process that gives commands has ended."""
        while b"\n" not in self._unread:
            if not select.select([self._commands], [], [], None if wait else 0)[0]:
                return None
            data = os.read(self._commands, 4096)
            if not data:
                return {"end": 1}
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        command = json.loads(line)
        return command if isinstance(command, dict) else None


def _results_of(name: str, returned: Any) -> tuple[list[str], list[str]]:
    """The results' full names, and each double as 16 hexadecimal digits: JSON has no NaN, and decimal digits lose bits."""
    if returned is None:
        return [], []
    if not isinstance(returned, dict):
        return [f"analysis.{name}"], [_digits(returned)]
    if len(returned) > MOST_RESULTS:
        raise UsageError(f"{len(returned)} results; expected at most {MOST_RESULTS}")
    for key in returned:
        if not is_name(key):
            raise UsageError(f"a result: found the name {key!r}, expected 1 to 63 letters, digits, _, . or -, "
                             "beginning with a letter or _")
    return [f"analysis.{name}.{key}" for key in returned], [_digits(value) for value in returned.values()]


def _digits(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, (str, bytes, np.ndarray, complex, np.complexfloating)) or not hasattr(value, "__float__"):
        if not hasattr(value, "__index__") or isinstance(value, np.ndarray):
            raise UsageError(f"found {_shown(value)}, expected a number, a dict of numbers, or None")
    return struct.pack(">d", float(value)).hex()


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"a {type(value).__name__}"


def _line_in(found: TracebackType | None, path: str) -> int | None:
    """The last line of the file `path` in a traceback."""
    line = None
    while found is not None:
        frame: FrameType = found.tb_frame
        if frame.f_code.co_filename == path:
            line = found.tb_lineno
        found = found.tb_next
    return line


def _own_part(found: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this file at its top."""
    while found is not None and found.tb_next is not None and found.tb_frame.f_code.co_filename == __file__:
        found = found.tb_next
    return found


def _end_in_words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else repr(error.code)})"
    return f"raised {type(error).__name__}"


def main() -> int:
    if len(sys.argv) != 5 or not (sys.argv[3] + sys.argv[4]).isdigit():
        sys.exit("python3 -m ringside.analyze: expected the arguments FILE POOL RESULTS COMMANDS (the last two: descriptors); "
                 "run `ringside analyze POOL FILE.py`, which starts this module")
    os.environ.pop("PYTHONSAFEPATH", None)  # the variable was meant for this process only
    worker = Worker(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    try:
        status = worker.run()
    except BrokenPipeError:
        status = 0
    _leave_threads(status)
    return status


def _leave_threads(status: int) -> None:
    """Ends the process if Python would wait for threads that the user's functions have started, because a thread may never end.
    Otherwise returns, and Python ends as usual. In both cases, functions of atexit are called, and open files are flushed."""
    if all(one.daemon or one is threading.main_thread() for one in threading.enumerate()):
        return
    atexit._run_exitfuncs()
    for one in gc.get_objects():
        if issubclass(type(one), io.IOBase):
            try:
                one.flush()
            except Exception:  # the file is closed, or its disk is full; ignored, as at any end of Python
                pass
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
