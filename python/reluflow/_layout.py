"""Where the words of a picture go, and what its ink and paper are: light ink where the style is dark."""
from __future__ import annotations

from typing import Any

INK, LIGHT = "#222222", "#E8E8E8"


def make_room(ax: Any) -> bool:
    """Whether what stands around these axes has room in their figure. Axes of a plain plt.subplots() get matplotlib's own
    layout, since labels and a legend below them would be cut off; axes that were placed by hand stay where they are."""
    from matplotlib import rcParams

    whole = ax.figure.figure
    if whole.get_layout_engine() is not None:
        return True
    settings: dict[Any, Any] = rcParams
    sides = ("left", "right", "bottom", "top", "wspace", "hspace")
    if ax.get_subplotspec() is None or any(getattr(whole.subplotpars, side) != settings[f"figure.subplot.{side}"] for side in sides):
        return False
    whole.set_layout_engine("constrained")
    return True


def dark(ax: Any) -> bool:
    from matplotlib.colors import to_rgba

    paper = to_rgba(ax.get_facecolor())
    if paper[3] < 0.5:
        paper = to_rgba(ax.figure.get_facecolor())
    return paper[3] >= 0.5 and 0.299 * paper[0] + 0.587 * paper[1] + 0.114 * paper[2] < 0.5


def ink(ax: Any) -> str:
    return LIGHT if dark(ax) else INK


def paper_of(ax: Any) -> str:
    return "#000000" if dark(ax) else "#FFFFFF"


def below(ax: Any, columns: int = 2, labelled: bool = True) -> None:
    """The legend under the axes and what is written there: never over the picture nor over its labels."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    if handles:
        points = 0.0
        if labelled:  # ticks, their labels and the name of the axis, of one line each
            texts = [*ax.get_xticklabels()[:1], ax.xaxis.label]
            points = ax.xaxis.get_tick_padding() + rcParams["xtick.major.pad"] + ax.xaxis.labelpad + sum(1.3 * text.get_fontsize() for text in texts)
        letter = 0.6 * FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
        width = letter * (4 + max(map(len, labels)))  # of a column, in points, handle and space included
        columns = max(1, min(columns, int(72 * ax.figure.bbox.width / ax.figure.dpi / width)))
        down = ScaledTranslation(0, -points / 72, ax.figure.dpi_scale_trans)
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=ax.transAxes + down, ncols=columns,
                  handlelength=1.4, columnspacing=1.0, handletextpad=0.5, borderaxespad=0.2, frameon=False)
