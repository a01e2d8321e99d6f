"""Pictures of results with matplotlib."""
from __future__ import annotations

from typing import Any

import numpy as np

from .results import Certificate, Explanation, Flow, Inspection, Ledger, MaxMargin, Result, Training

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"  # told apart by every eye


def plot(result: Result, ax: Any = None) -> Any:
    """Draws a result into the axes given, or into new ones."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(5.2, 4.2))
    for kind, draw in _DRAW.items():
        if isinstance(result, kind):
            draw(ax, result)
            return ax
    raise TypeError(f"no picture for {type(result).__name__}")


def _plane(ax: Any, result: Result) -> bool:
    """The samples, when they lie in the plane and have two classes."""
    if result.d != 2:
        return False
    X, class_of, names = result._samples()
    for k, (colour, mark) in enumerate(zip((ORANGE, BLUE, GREEN, GREY), "so^D")):
        if k < len(names):
            rows = X[class_of == k]
            ax.plot(rows[:, 0], rows[:, 1], mark, color=colour, label=f"class {names[k]}")
    ax.axhline(0, color=GREY, lw=0.5)
    ax.axvline(0, color=GREY, lw=0.5)
    ax.set_aspect("equal", "datalim")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    return True


def _arrow(ax: Any, v: np.ndarray, colour: str, label: str | None = None) -> None:
    ax.annotate("", xy=v, xytext=(0, 0), arrowprops=dict(arrowstyle="->", color=colour, lw=1.5))
    ax.plot([], [], "-", color=colour, label=label)


def _radius(result: Result) -> float:
    return float(np.max(np.linalg.norm(result._samples()[0], axis=1)))


def _bars(ax: Any, values: np.ndarray, label: str) -> None:
    ax.bar(np.arange(len(values)), values, color=BLUE, width=0.9)
    ax.set_xlabel("sample")
    ax.set_ylabel(label)


def _inspection(ax: Any, result: Inspection) -> None:
    """Samples and the separator; in higher dimensions the margins of the samples."""
    linear = result.linear
    separable = linear is not None and linear.separable
    if _plane(ax, result):
        size = _radius(result)
        if separable:
            w = linear.w
            ax.plot([-size * -w[1], size * -w[1]], [-size * w[0], size * w[0]], "--", color=GREY, label="max-margin separator")
        for side, colour in (("positive", BLUE), ("negative", ORANGE)):
            for k, e in enumerate((result.extremal[side] or []) if result.extremal else []):
                _arrow(ax, size * e.direction, colour, f"extremal, {side}" if k == 0 else None)
        ax.legend(fontsize="small")
        ax.set_title("what the data decide")
    elif separable:
        X, class_of, _ = result._samples()
        _bars(ax, np.sort((2 * class_of - 1) * (X @ linear.w) / linear.margin), "margin / smallest margin")
        ax.set_title("linear margins, sorted")
    else:
        X, _, _ = result._samples()
        _bars(ax, np.sort(np.linalg.norm(X, axis=1)), "|x|")
        ax.set_title("norms of the samples, sorted")


def _first(result: Result) -> Any:
    """The result itself, or its first class."""
    return result.per_class[0] if "per_class" in result and result.per_class else result


def _maxmargin(ax: Any, result: MaxMargin) -> None:
    part = _first(result)
    best = part["global"]
    if best is not None and best.neurons and _plane(ax, result):
        size = _radius(result)
        longest = max(float(np.linalg.norm(neuron.u)) for neuron in best.neurons)
        for neuron in best.neurons:
            _arrow(ax, size * neuron.u / longest, BLUE if neuron.sign > 0 else ORANGE)
        ax.set_title(f"neurons of the best network, margin {best.margin:.6g}")
    elif best is not None and best["lambda"] is not None:
        _bars(ax, best["lambda"], "multiplier $\\lambda_i$")
        ax.set_title("multipliers of the global optimum")
    elif part.linear is not None and part.linear.multipliers is not None:
        _bars(ax, part.linear.multipliers, "multiplier")
        ax.set_title("multipliers of the linear separator")
    else:
        ax.set_title("no network fits")


def _flow(ax: Any, result: Flow) -> None:
    part = _first(result)
    rows = [row for row in part.trace or [] if row.log_t is not None and row.log_loss is not None]
    if len(rows) >= 2:
        t = np.array([row.log_t for row in rows]) / np.log(10)
        ax.plot(t, [row.log_loss / np.log(10) for row in rows], color=BLUE, label="$\\log_{10}$ loss")
        other = ax.twinx()
        other.plot(t, [np.nan if row.margin is None else row.margin for row in rows], color=ORANGE, label="normalised margin")
        if part.limit is not None and part.limit.margin is not None:
            other.axhline(part.limit.margin, ls="--", color=GREY, label="margin at $t=\\infty$")
        other.set_ylabel("margin")
        ax.set_xlabel("$\\log_{10} t$")
        ax.set_ylabel("$\\log_{10}$ loss")
        lines = [*ax.get_lines(), *other.get_lines()]
        ax.legend(lines, [line.get_label() for line in lines], fontsize="small")
        ax.set_title("gradient flow")
    elif part.limit is not None and part.limit.margins is not None:
        _bars(ax, np.sort(part.limit.margins), "margin / smallest margin")
        ax.set_title("margins at $t=\\infty$, sorted")


def _training(ax: Any, result: Training) -> None:
    records = (_first(result) if "per_class" in result and result.per_class else result).records
    ax.semilogy([r.step for r in records], [r.loss for r in records], color=BLUE, label="loss")
    other = ax.twinx()
    other.plot([r.step for r in records], [np.nan if r.margin is None else r.margin for r in records], color=ORANGE, label="margin")
    ax.set_xlabel("step")
    ax.set_ylabel("loss")
    other.set_ylabel("normalised margin")
    lines = [*ax.get_lines(), *other.get_lines()]
    ax.legend(lines, [line.get_label() for line in lines], fontsize="small")


def _certificate(ax: Any, result: Certificate) -> None:
    _bars(ax, np.sort(result.margins), "margin / smallest margin")
    ax.set_title(f"margins, sorted; KKT point: {'yes' if result.kkt.holds else 'no'}")


def _ledger(ax: Any, result: Ledger) -> None:
    counts = [result.passed, result.failed, result.skipped]
    ax.bar(["passed", "failed", "skipped"], counts, color=[GREEN, ORANGE, GREY])
    ax.set_ylabel("claims")


def _explanation(ax: Any, result: Explanation) -> None:
    _flow(ax, result.flow)


_DRAW: dict[type, Any] = {Inspection: _inspection, MaxMargin: _maxmargin, Flow: _flow, Training: _training,
                          Certificate: _certificate, Ledger: _ledger, Explanation: _explanation}
