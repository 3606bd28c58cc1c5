"""The matrix of all measurements."""

from collections.abc import Sequence
from typing import Any

from attnlab.report.headline import Headline, headline
from attnlab.report.site.layout import Group


def overview(groups: Sequence[Group], problems: list[str]) -> dict[str, Any]:
    """Rows of groups, columns of protocols.

    Returns:
        ``protocols``: names in the order of the alphabet; ``legend``: the statistic that each is coloured by, where one
        is declared; ``rows``: a group and, by protocol, the measurements with their headlines.
    """
    found: list[dict[str, Any]] = []
    legend: dict[str, Headline] = {}
    for group in groups:
        cells: dict[str, list[dict[str, Any]]] = {}
        for measurement in group.measurements:
            results = list(measurement.cells.values())
            name = results[0].protocol
            glance = headline(results, problems)
            if glance is not None and glance.ends is not None:
                legend.setdefault(name, glance)
            cells.setdefault(name, []).append({"measurement": measurement, "headline": glance})
        found.append({"group": group, "cells": cells})
    return {"protocols": sorted({name for row in found for name in row["cells"]}), "legend": legend, "rows": found}
