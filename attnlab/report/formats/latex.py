"""A table for LaTeX with booktabs."""

from collections.abc import Iterable

from attnlab.report.sheet import Entry, Sheet

SPECIAL = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "±": r"$\pm$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "×": r"$\times$",
        "τ": r"$\tau$",
        "Δ": r"$\Delta$",
        "−": r"$-$",
        "–": "--",
        "…": r"\ldots{}",
    }
)


def to_latex(sheet: Sheet) -> str:
    """A table environment; it needs the package booktabs."""
    spec = "".join("r" if column.right else "l" for column in sheet.columns)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape(sheet.title)}}}", rf"\begin{{tabular}}{{{spec}}}"]
    lines += [r"\toprule", _line(_escape(column.name) for column in sheet.columns), r"\midrule"]
    for position, row in enumerate(sheet.rows):
        if position in sheet.sections:
            lines.append(r"\midrule")
        lines.append(_line(map(_entry, row)))
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip\footnotesize {_escape(note)}" for note in sheet.notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _line(parts: Iterable[str]) -> str:
    return " & ".join(parts) + r" \\"


def _entry(entry: Entry) -> str:
    if entry.text is None:
        return "--"
    # A row that starts with a bracket would be read as the length after the line before it.
    escaped = _escape(entry.text).replace("[", "{[}")
    return rf"\textbf{{{escaped}}}" if entry.bold else escaped


def _escape(text: str) -> str:
    return text.translate(SPECIAL)
