"""What a terminal shows of a sweep while it runs."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from attnlab.inspect.text import seconds_text
from attnlab.launch.cell import Cell, cell_id
from attnlab.launch.plan import Entry
from attnlab.launch.scheduler import Outcome

SHOWN = 8
"""Running cells that are named."""


class Board:
    """A live view on a terminal, plain lines elsewhere; a failure is a line at once on both.

    Args:
        console: Where to show.
        entries: The cells that are to run.
        cells: The sweep's folder of cells.
    """

    def __init__(self, console: Console, entries: Sequence[Entry], cells: Path) -> None:
        self.console = console
        self.open = {cell_id(entry.job): entry for entry in entries}
        self.cells = cells
        self.total = len(entries)
        self.counts: Counter[Outcome] = Counter()
        self.start = time.monotonic()
        self.live = Live(console=console, get_renderable=self._render, refresh_per_second=2, transient=True)

    def __enter__(self) -> "Board":
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def tell(self, entry: Entry, cell: Cell, outcome: Outcome) -> None:
        """Show how a cell ended."""
        self.counts[outcome] += 1
        if outcome != "retried":
            self.open.pop(cell.id, None)
        if outcome == "done":
            if not self.console.is_terminal:
                self.console.print(f"done {self._ended()}/{self.total}: {entry.label}", markup=False)
            return
        error = cell.error or {"type": "killed", "message": "the process was ended from outside"}
        line = f"{outcome}: {entry.label}: {error['type']}: {error['message']} (log: {cell.log})"
        self.console.print(line, style="red", markup=False)

    def _ended(self) -> int:
        return self.counts["done"] + self.counts["failed"]

    def _render(self) -> Group:
        """Counts, time left, and the cells that run, which their heartbeats tell."""
        running = [e for name, e in list(self.open.items()) if (self.cells / name / "heartbeat.json").exists()]
        ended, elapsed = self._ended(), time.monotonic() - self.start
        left = f"about {seconds_text(elapsed / ended * (self.total - ended))} left" if ended else "time left unknown"
        waiting = self.total - ended - len(running)
        line = (
            f"{self.counts['done']} done  {len(running)} running  {self.counts['failed']} failed  {waiting} waiting"
            f"  {seconds_text(elapsed)} so far, {left}"
        )
        table = Table.grid(padding=(0, 2))
        for entry in running[:SHOWN]:
            table.add_row(Text(f"  {entry.label}", overflow="ellipsis", no_wrap=True))
        more = [Text(f"  and {len(running) - SHOWN} more")] if len(running) > SHOWN else []
        bar = ProgressBar(total=max(self.total, 1), completed=ended, width=min(self.console.width, 80))
        return Group(Text(line), bar, table, *more)
