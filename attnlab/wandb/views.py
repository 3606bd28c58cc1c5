"""A W&B workspace and report as code, made with ``wandb-workspaces``."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attnlab.report.formats import FORMATS
from attnlab.report.sheet import Sheet
from attnlab.wandb.aggregate import Aggregate
from attnlab.wandb.content import STEP
from attnlab.wandb.logged import Logged, LoggedProtocol
from attnlab.wandb.start import Destination

if TYPE_CHECKING:
    from wandb_workspaces.reports.v2 import Block, PanelGrid, Report
    from wandb_workspaces.workspaces import FilterExpr, Section, Workspace

LONGEST = 200
"""Rows of a table that a report has as text; longer ones are shown as W&B's own tables, which have pages."""

TITLE_LENGTH = 128
"""W&B refuses longer titles."""

OVER_SEEDS: Mapping[str, str] = {"groupby": "Group", "groupby_aggfunc": "mean", "groupby_rangefunc": "minmax"}
"""How panels draw the runs of a group, which are the seeds of a job: their mean, and from the least to the greatest."""


def make_workspace(name: str, destination: Destination, logged: Logged, aggregate: Aggregate) -> "Workspace":
    """A section for the report's run, one for training curves, and one per protocol; only runs of this place.

    Args:
        name: Of the sweep or store.
        destination: Whose entity and project it is of.
        logged: What there is to draw.
        aggregate: The report's run.
    """
    from wandb_workspaces import workspaces as ws

    sections = [_section("report", _aggregate_panels(aggregate), is_open=True)]
    if logged.curves:
        sections.append(_section("train", _curve_panels(logged.curves)))
    sections += [_section(protocol, _protocol_panels(own)) for protocol, own in logged.protocols.items()]
    return ws.Workspace(
        entity=destination.entity or "",
        project=destination.project,
        name=_title(name),
        sections=sections,
        runset_settings=ws.RunsetSettings(
            filters=_only([*logged.runs, str(aggregate.identity.id)]),
            groupby=[ws.Metric("Group")],
        ),
    )


def make_report(name: str, destination: Destination, logged: Logged, aggregate: Aggregate) -> "Report":
    """The tables as text, then the pooled figures, and panels of each protocol and of the training.

    Args:
        name: Of the sweep or store.
        destination: Whose entity and project it is of.
        logged: What there is to draw.
        aggregate: The report's run.
    """
    from wandb_workspaces.reports import v2 as wr

    blocks: list[Block] = [wr.TableOfContents()]
    for key, sheet in aggregate.sheets.items():
        blocks += [wr.H2(key.partition("/")[2]), *_as_text(sheet)]
    grids = {"figures and tables": _grid("report", [str(aggregate.identity.id)], _aggregate_panels(aggregate))}
    for protocol, own in logged.protocols.items():
        grids[protocol] = _grid(protocol, own.runs, _protocol_panels(own), grouped=True)
    if logged.curves:
        grids["training"] = _grid("train", logged.trainings, _curve_panels(logged.curves), grouped=True)
    for title, grid in grids.items():
        blocks += [wr.H2(title), grid]
    counts = ", ".join(f"{count} {key.partition('/')[2]}" for key, count in aggregate.counts.items())
    return wr.Report(
        entity=destination.entity or "",
        project=destination.project,
        title=_title(name),
        description=f"{counts}; made by attnlab wandb dashboard",
        blocks=blocks,
        width="fluid",
    )


def as_plain(workspace: "Workspace", report: "Report") -> dict[str, Any]:
    """Both as W&B's server gets them, in plain values."""
    view, document = workspace._to_model(), report._to_model()
    plain: Mapping[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
    return {
        "workspace": {"name": view.display_name, "spec": view.spec.model_dump(**plain)},
        "report": {
            "title": document.display_name,
            "description": document.description,
            "spec": document.spec.model_dump(**plain),
        },
    }


def save(workspace: "Workspace", report: "Report", saved: Mapping[str, str]) -> dict[str, str]:
    """Save both, in the place of what was saved before.

    Args:
        workspace: The workspace.
        report: The report.
        saved: Their addresses where they were saved before.

    Returns:
        Their addresses. What W&B raises is passed on.
    """
    kept = (workspace, ("name", "sections", "runset_settings")), (report, ("title", "description", "blocks", "width"))
    addresses = {}
    for kind, (view, attributes) in zip(("workspace", "report"), kept, strict=True):
        known = _earlier(type(view), saved[kind]) if kind in saved else None
        if known is not None:
            for name in attributes:
                setattr(known, name, getattr(view, name))
        addresses[kind] = str((known or view).save().url)
    return addresses


def _earlier(kind: type["Workspace | Report"], address: str) -> "Workspace | Report | None":
    """What was saved before; what is no longer there is made again."""
    try:
        return kind.from_url(address)
    except Exception as error:  # W&B raises many kinds
        print(f"attnlab: {address} cannot be read ({error}); made anew", file=sys.stderr)
        return None


def _title(name: str) -> str:
    return f"attnlab {name}"[:TITLE_LENGTH]


def _only(runs: Iterable[str]) -> "FilterExpr":
    from wandb_workspaces import workspaces as ws

    return ws.And(ws.Metric("ID").isin(list(runs)))


def _section(name: str, panels: Sequence[object], is_open: bool = False) -> "Section":
    from wandb_workspaces import workspaces as ws

    return ws.Section(name=name, panels=list(panels), is_open=is_open)


def _grid(name: str, runs: Sequence[str], panels: Sequence[object], grouped: bool = False) -> "PanelGrid":
    """Panels of some runs of the report's own project."""
    from wandb_workspaces.reports import v2 as wr

    runset = wr.Runset(name=name, filters=_only(runs), groupby=["Group"] if grouped else [])
    return wr.PanelGrid(runsets=[runset], panels=list(panels))


def _aggregate_panels(aggregate: Aggregate) -> list[object]:
    from wandb_workspaces.reports import v2 as wr

    panels: list[object] = [wr.WeavePanelSummaryTable(table_name=key) for key in aggregate.sheets]
    if aggregate.figures:
        panels.append(wr.MediaBrowser(title="figures of all seeds", media_keys=list(aggregate.figures)))
    return panels


def _curve_panels(curves: Sequence[str]) -> list[object]:
    from wandb_workspaces.reports import v2 as wr

    return [wr.LinePlot(title=name, x=STEP, y=[name], **OVER_SEEDS) for name in curves]


def _protocol_panels(protocol: LoggedProtocol) -> list[object]:
    from wandb_workspaces.reports import v2 as wr

    panels: list[object] = [wr.BarPlot(title=name, metrics=[name], **OVER_SEEDS) for name in protocol.statistics]
    if protocol.figures:
        panels.append(wr.MediaBrowser(title="figures of each seed", media_keys=list(protocol.figures)))
    return panels


def _as_text(sheet: Sheet) -> "list[Block]":
    from wandb_workspaces.reports import v2 as wr

    if len(sheet.rows) > LONGEST:
        return [wr.P(f"{sheet.title}: {len(sheet.rows)} rows, in the table below.")]
    return [wr.MarkdownBlock(text=FORMATS["markdown"](sheet))]
