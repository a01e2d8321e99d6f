"""Pictures: nothing that is drawn is cut off, in figures of ours and of others, and what is ink can be seen on dark paper."""
import numpy as np
import pytest

import reluflow

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

ASK = {
    "flow": lambda: reluflow.flow("gen:DS-PL2", width=4),
    "best": lambda: reluflow.maxmargin("gen:xor"),
    "space": lambda: reluflow.maxmargin("gen:gaussian,n=8,d=3"),
    "data": lambda: reluflow.inspect("gen:DS-PL2"),
    "training": lambda: reluflow.train("gen:DS-PL2", steps=200),
    "network": lambda: reluflow.certify(reluflow.flow("gen:DS-PL2", width=4), "gen:DS-PL2"),
    "classes": lambda: reluflow.flow("gen:multiclass-orthant", width=3),
}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def inside(figure):
    figure.canvas.draw()
    drawn, (width, height) = figure.get_tightbbox(figure.canvas.get_renderer()), figure.get_size_inches()
    return min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= 0


def legend_is_apart(ax):
    """The legend is not over the name of the axis."""
    legend, renderer = ax.get_legend(), ax.figure.canvas.get_renderer()
    return legend is None or not ax.axison or legend.get_window_extent(renderer).y1 <= ax.xaxis.label.get_window_extent(renderer).y0 + 2


@pytest.mark.parametrize("name", ASK)
def test_nothing_is_cut_off(name):
    result = ASK[name]()
    figure = np.atleast_1d(result.plot())[0].figure
    assert inside(figure) and all(legend_is_apart(ax) for ax in figure.axes)
    for kind in result.plot_kinds:
        figure, ax = plt.subplots()  # as everybody makes them, without a layout
        assert result.plot(ax=ax, kind=kind) is ax
        assert inside(figure) and legend_is_apart(ax), kind


def test_axes_placed_by_hand_stay():
    result = ASK["best"]()
    figure = plt.figure()
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    result.plot(ax=ax, kind="multipliers")
    assert inside(figure) and np.allclose(ax.get_position().bounds, (0.1, 0.1, 0.8, 0.8)) and figure.get_layout_engine() is None
    figure, (left, right) = plt.subplots(1, 2)
    figure.subplots_adjust(bottom=0.3)
    result.plot(ax=left, kind="multipliers")
    assert figure.get_layout_engine() is None and inside(figure)
    whole = plt.figure()
    part, _ = whole.subfigures(1, 2)
    result.plot(ax=part.subplots(), kind="multipliers")
    assert inside(whole)


def test_dark_style():
    with plt.style.context("dark_background"):
        ax = ASK["training"]().plot()
        assert min(matplotlib.colors.to_rgb(ax.lines[0].get_color())) > 0.5
        ASK["best"]().plot().figure.canvas.draw()
    assert max(matplotlib.colors.to_rgb(ASK["training"]().plot().lines[0].get_color())) < 0.5
