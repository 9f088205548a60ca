# SPDX-License-Identifier: BSD-3-Clause
"""The rows that bench/releases.py reports, and their table as plain text or in Markdown.

A row has the figure of both builds and their ratio, or the reason why a build has none. A timed figure is a spread of
medians; a size is a number. Less is better in every row."""

from measuring import ratio, spread

SIDES = ("before", "after")


def timed_rows(measurement, pairs):
    """Returns the rows of a measurement from its pairs, [{side: {(what, unit): value}}]."""
    rows = []
    for what, unit in dict.fromkeys(key for side in SIDES for key in pairs[0][side]):
        row = {"part": measurement.part, "what": what, "unit": unit}
        lacking = [side for side in SIDES if (what, unit) not in pairs[0][side]]
        for side in SIDES:
            row[side] = None if side in lacking else spread([pair[side][what, unit] for pair in pairs])
        if lacking:
            row["absent"] = absent_in(lacking)
        elif row["before"]["min"] > 0:  # a time may be 0, and has no ratio then
            row["after_over_before"] = ratio(pairs, "after", "before", lambda figures: figures[what, unit])
        rows.append(row)
    return rows


def exact_rows(part, figures):
    """Returns the rows of {side: {(what, unit): number}}."""
    rows = []
    for what, unit in dict.fromkeys(key for side in SIDES for key in figures[side]):
        row = {"part": part, "what": what, "unit": unit, **{side: figures[side].get((what, unit)) for side in SIDES}}
        lacking = [side for side in SIDES if row[side] is None]
        if lacking:
            row["absent"] = absent_in(lacking)
        elif row["before"] > 0:
            row["after_over_before"] = row["after"] / row["before"]
        rows.append(row)
    return rows


def absent_row(measurement, reasons):
    """Returns the row of a measurement that was not made, with {side: reason}."""
    return {"part": measurement.part, "what": measurement.name, "unit": "", "before": None, "after": None,
            "absent": absent_in(reasons, "; ".join(dict.fromkeys(reasons.values())))}


def absent_in(sides, reason=""):
    return "not in " + " or ".join(side.upper() for side in SIDES if side in sides) + (f": {reason}" if reason else "")


def mark(row):
    """Returns 'less' or 'more' if the confidence interval of the ratio excludes 1, else ''."""
    found = row.get("after_over_before")
    low, high = found.get("median_95", (0, 2)) if isinstance(found, dict) else (0, 2)
    return "less" if high < 1 else "more" if low > 1 else ""


def cells(row):
    """Returns the texts of a row's columns after the first."""
    found = row.get("after_over_before")
    if row.get("absent"):
        last = row["absent"]
    elif found is None:
        last = "n/a"
    elif isinstance(found, dict):
        kind = "" if "median_95" in found else "range "
        low, high = found.get("median_95", (found["min"], found["max"]))
        last = f"{found['median']:.3f} ({kind}{low:.3f} to {high:.3f})"
    else:
        last = f"{found:.4f}"
    return [figure(row["before"]), figure(row["after"]), row["unit"], last, mark(row)]


def figure(found):
    if found is None:
        return "-"
    return f"{found['median']:.4g}" if isinstance(found, dict) else f"{found:,}"


HEADS = ["BEFORE", "AFTER", "", "AFTER ÷ BEFORE (95 % interval)", ""]


def text(rows):
    """Returns the table as aligned plain text."""
    lines = [["", *HEADS]]
    for number, row in enumerate(rows):
        if number == 0 or row["part"] != rows[number - 1]["part"]:
            lines.append([row["part"]])
        lines.append(["  " + row["what"], *cells(row)])
    what, before, after, unit = (max(len(line[column]) for line in lines if len(line) > 1) for column in range(4))
    form = f"{{:<{what}}}  {{:>{before}}}  {{:>{after}}} {{:<{unit}}}  {{:<29}}  {{}}"
    return "\n".join((form.format(*line) if len(line) > 1 else line[0]).rstrip() for line in lines)


def markdown(rows):
    lines = [["", *HEADS], ["---"] * 6, *([f"{row['part']}: {row['what']}", *cells(row)] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(rows):
    """Returns a line about the rows with a mark. Even if nothing changed, one interval in twenty excludes 1."""
    ratios = [row["after_over_before"] for row in rows if isinstance(row.get("after_over_before"), dict)]
    intervals = sum("median_95" in found for found in ratios)
    marked = sum(bool(mark(row)) for row in rows)
    return (f"{marked} of {intervals} intervals exclude 1 (less: AFTER takes less); between equal builds, chance makes "
            f"up to {intervals / 20:.0f} do so")
