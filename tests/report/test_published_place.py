"""Published levels in a picture: each at its value, and words that can be read."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from venturi.model.document import parse_data
from venturi.model.output import Better
from venturi.model.published_figure import PublishedFigure
from venturi.report.figure.published_place import figure
from venturi.report.figure.svg import draw
from venturi.report.palette import DARK, INK, MUTED
from venturi.report.published_figure import OwnPoint

_TEXT = re.compile(r"<text[^>]*translate\(([\d.]+),([\d.-]+)\)[^>]*>(level[^<]*)</text>")
_LINE = re.compile(r'<line[^>]*translate\(520,([\d.]+)\)" x2="-520"[^>]*stroke-dasharray="5,4"')


def _svg(levels: list[float]) -> str:
    own = [
        OwnPoint("ours: write", place, 2.0 + place, 1.9 + place, 2.1 + place, 2.2, 6, "GB/s",
                 Better.HIGHER)
        for place in (1, 2, 4)
    ]  # fmt: skip
    published = parse_data(
        PublishedFigure,
        {
            "source": "a paper", "figure": "Figure 1", "read": "text", "how": "h", "run": "r",
            "statistic": "means", "over": "tasks", "unit": "GB/s",
            "series": [
                {"label": f"level {n}", "metric": "write.rate", "points": [{"value": value}]}
                for n, value in enumerate(levels)
            ],
        },
    )  # fmt: skip
    drawn = figure("published-1", published, [(series, own) for series in published.series])
    assert drawn is not None
    text = draw(drawn.spec, "f", "a figure")
    assert text is not None
    return text


@pytest.mark.parametrize(
    "levels",
    [[4.2, 4.29, 4.0, 6.4, 6.35, 0.0], [0.11, 0.1, 0.12, 12.5, 75.0, 70.0], [6.2] * 5],
)
def test_words_of_near_levels_stand_apart_in_the_order_of_their_values(
    levels: list[float],
) -> None:
    drawn = _svg(levels)
    found = {text: float(y) for _, y, text in _TEXT.findall(drawn)}
    assert len(found) == len(levels)
    places = sorted(found.values())
    assert all(b - a >= 13.0 - 0.05 for a, b in pairwise(places))
    above = sorted(found, key=lambda text: found[text])
    values = [levels[int(text.split()[1].rstrip(":"))] for text in above]
    assert values == sorted(levels, reverse=True)
    strokes = drawn.count('stroke-width="0.75"')
    assert strokes == len(levels)


def test_words_of_levels_that_are_apart_stand_at_their_levels() -> None:
    drawn = _svg([2.0, 9.0])
    lines = sorted(float(y) for y in _LINE.findall(drawn))
    words = sorted(float(y) for _, y, _ in _TEXT.findall(drawn))
    assert len(lines) == 2
    assert words == pytest.approx([y + 3 for y in lines], abs=0.05)
    assert 'stroke-width="0.75"' not in drawn


def test_strokes_and_words_have_a_twin_on_a_dark_page() -> None:
    drawn = _svg([4.2, 4.21])
    strokes = re.findall(r'<line[^>]*stroke="([^"]+)"[^>]*stroke-width="0.75"', drawn)
    assert strokes == [MUTED, MUTED]
    words = re.findall(r'<text[^>]*fill="([^"]+)"[^>]*>level', drawn)
    assert words == [INK, INK]
    assert {MUTED, INK} <= set(DARK)
