"""Cells that a cluster's queue has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attnlab.inspect.cells import CellState
from attnlab.launch.cell import State
from attnlab.launch.slurm.queue import Queued, queue

OPEN = (State.WAITING, State.DEAD)


def with_queue(cells: Sequence[CellState]) -> tuple[list[CellState], str]:
    """Tell cells that wait in SLURM's queue, or that start, from cells that nobody will run.

    Returns:
        The cells, and a line about the queue; empty where no cell was submitted.
    """
    open_cells = [cell for cell in cells if cell.state is not State.DONE and "slurm.json" in cell.files]
    notes = {id(cell): cell.read("slurm.json") for cell in open_cells}
    if not notes:
        return list(cells), ""
    known = queue()
    if known is None:
        return list(cells), "SLURM does not answer, so that what it runs is unknown"
    jobs = {key: str(note.get("job")) for key, note in notes.items()}
    trainings = {str(job) for note in notes.values() for job in note.get("trainings", ())}
    found = [_placed(cell, known.get(jobs.get(id(cell), ""))) for cell in cells]
    return found, _line([job for job in (*jobs.values(), *trainings) if job in known], known)


def _placed(cell: CellState, job: Queued | None) -> CellState:
    if job is None or cell.state not in OPEN:
        return cell
    return replace(cell, state=State.ALIVE if job.runs else State.QUEUED)


def _line(jobs: Sequence[str], known: Mapping[str, Queued]) -> str:
    if not jobs:
        return "SLURM has none of the unfinished cells in its queue"
    reasons = Counter(known[job].reason if known[job].state == "PENDING" else known[job].state.lower() for job in jobs)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    numbers = " ".join(sorted({job.partition("_")[0] for job in jobs}, key=int))
    return f"SLURM: {told}; jobs {numbers} (scancel {numbers} ends them)"
