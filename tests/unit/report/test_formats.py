"""One table in every format, word for word."""

import csv
import io

import pytest

from attnlab.errors import ConfigError
from attnlab.report.cells import read_cells
from attnlab.report.estimates import estimate
from attnlab.report.formats import ENDINGS, FORMATS, to_terminal
from attnlab.report.grid import make_grid
from attnlab.report.paper import paper_names, paper_sheet, read_paper
from attnlab.report.resampling import Resampling
from attnlab.report.sheet import Column, Entry, Sheet, number, span, text
from attnlab.report.sheets import numbers_sheet
from attnlab.report.spec import Statistic
from tests.unit.inspect.conftest import add_result
from tests.unit.report.conftest import add_records

SHEET = Sheet(
    "means & more",
    [
        Column("data", ("data",)),
        Column("F1 ↑", ("f1",), right=True),
        Column("interval", ("low", "high"), right=True),
    ],
    [
        [text("a_b|c"), number(0.123456, ".3f", bold=True), span(0.1, 0.2)],
        [text("x"), number(float("nan")), span(None, 0.2)],
    ],
    frozenset({1}),
    ["1 of 2 < 5 %"],
)

GOLDEN = {
    "terminal": """\
means & more

 data     F1 ↑        interval
 ─────────────────────────────
 a_b|c  *0.123  [0.100, 0.200]

 x           –               –
1 of 2 < 5 %
""",
    "markdown": """\
**means & more**

| data | F1 ↑ | interval |
| --- | --: | --: |
| a\\_b\\|c | **0.123** | [0.100, 0.200] |
| x | – | – |

- 1 of 2 \\< 5 %
""",
    "csv": """\
data,f1,low,high
a_b|c,0.123456,0.1,0.2
x,,,
""",
    "latex": r"""\begin{table}
\centering
\caption{means \& more}
\begin{tabular}{lrr}
\toprule
data & F1 $\uparrow$ & interval \\
\midrule
a\_b|c & \textbf{0.123} & {[}0.100, 0.200] \\
\midrule
x & -- & -- \\
\bottomrule
\end{tabular}
\par\smallskip\footnotesize 1 of 2 \textless{} 5 \%
\end{table}
""",
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_the_same_in_its_own_way(form):
    assert FORMATS[form](SHEET) == GOLDEN[form]
    assert form in ENDINGS.values()


def test_terminals_show_bold_and_long_tables_need_no_rich():
    assert "\x1b[1m0.123" in to_terminal(SHEET, colour=True)
    many = Sheet("long", SHEET.columns, [SHEET.rows[0]] * 300, notes=["end"])
    lines = to_terminal(many).splitlines()
    assert lines[:3] == ["long", "data     F1 ↑        interval", "a_b|c  *0.123  [0.100, 0.200]"]
    assert lines[-1] == "end"


def test_the_correlation_table_shows_published_numbers_beside_ours(outputs, make_job, records):
    statistics = [Statistic("tau", "tau"), Statistic("tau_std", "tau", how="std")]
    statistics.append(Statistic("significant", "tau", how="share", at_most=0.05))
    for seed in (0, 1):
        job = make_job("data=sst", "protocol=[gradient_correlation]", f"seed={seed}")
        add_records(add_result(job), records, statistics)
    sheet = paper_sheet(read_paper("jain_wallace/correlation"), make_grid(read_cells()))
    assert [column.name for column in sheet.columns[:4]] == ["data", "class", "gradient, BiLSTM", "published"]
    kept = records.to_pandas().query("excluded.isna() and prediction == 1").tau
    ours, published = sheet.rows[1][2:4]
    assert ours.values == pytest.approx((kept.mean(), kept.std(ddof=0), (kept <= 0.05).mean()))
    assert published == Entry("0.39 ± 0.19 (0.58)", (0.385, 0.192, 0.58))
    assert sheet.rows[1][4].text is None
    assert {"no result here is by leave_one_out", "means over 2 seeds"} <= set(sheet.notes)
    header, *rows = csv.reader(io.StringIO(FORMATS["csv"](sheet)))
    assert float(rows[0][header.index("gradient, BiLSTM: tau, published")]) == 0.395


def test_a_paper_table_keeps_splits_apart_and_publishes_beside_the_test_split_alone(outputs, make_job, records):
    statistics = [Statistic("tau", "tau"), Statistic("tau_std", "tau", how="std")]
    statistics.append(Statistic("significant", "tau", how="share", at_most=0.05))
    for split, rows in (("test", records), ("validation", records.slice(0, 100))):
        job = make_job("data=sst", "protocol=[gradient_correlation]", f"split={split}")
        add_records(add_result(job), rows, statistics)
    sheet = paper_sheet(read_paper("jain_wallace/correlation"), make_grid(read_cells()))
    assert [column.name for column in sheet.columns[:5]] == ["data", "split", "class", "gradient, BiLSTM", "published"]
    kept = records.to_pandas().query("excluded.isna() and prediction == 1").tau
    found = {(row[1].text, row[2].text): row[3:5] for row in sheet.rows}
    assert found["test", "b"][0].values[0] == pytest.approx(kept.mean())
    assert found["validation", "b"][0].values[0] == pytest.approx(kept[kept.index < 100].mean())
    assert found["test", "b"][1].text is not None
    assert found["validation", "b"][1].text is None


def test_numbers_name_the_split_unless_all_are_of_the_test_split(outputs, make_job, records):
    statistics = [Statistic("tau", "tau")]
    shown = []
    for split in ("test", "validation"):
        add_records(add_result(make_job("protocol=[gradient_correlation]", f"split={split}")), records, statistics)
        numbers = estimate(make_grid(read_cells()), Resampling(20), []).numbers
        shown.append(numbers_sheet(numbers, 0.95))
    assert [column.name for column in shown[0].columns[2:4]] == ["protocol", "statistic"]
    assert [row[3].text for row in shown[1].rows] == ["test", "validation"]
    assert [len(row) for sheet in shown for row in sheet.rows] == [10, 11, 11]


def test_every_paper_table_is_well_formed():
    for name in paper_names():
        paper = read_paper(name)
        assert paper.source or not paper.published
        for rows in paper.published.values():
            for row in rows:
                sizes = [len(column.statistics) for column in paper.columns]
                assert [s if entry is None else len(entry) for entry, s in zip(row, sizes, strict=True)] == sizes
    with pytest.raises(ConfigError, match="--table nobody/x: choose one of jain_wallace/c"):
        read_paper("nobody/x")
