"""Pictures of results with matplotlib, for a column or a page of a paper.

One rule of colours: blue is the positive class and neurons with a > 0, vermilion the negative one, grey what has no share
in the answer, green what the theory or the limit says, ink everything measured. Told apart by every eye, and in print.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._layout import below, dark, ink, make_room, paper_of
from .results import Certificate, Explanation, Flow, Inspection, Ledger, MaxMargin, Result, Training

BLUE, VERMILION, GREEN, GREY, FAINT = "#0072B2", "#D55E00", "#009E73", "#8A8A8A", "#D0D0D0"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"  # third class and further ones
CLASSES = ((VERMILION, "s"), (BLUE, "o"), (PURPLE, "^"), (ORANGE, "D"), (SKY, "v"), (GREY, "P"))
COLUMN, PAGE = 3.4, 7.0  # inches
MOST_POINTS = 3000  # of a scatter: more only make the file large
MOST_PATHS = 40
RATE_OF_REST = -23.0  # ln of the loss from which only the margin still changes

STYLE: Any = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "lines.linewidth": 1.3, "lines.markersize": 3.5,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "figure.dpi": 150,
}


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ModuleNotFoundError("pictures need matplotlib: pip install 'reluflow[plot]'") from error
    return matplotlib


def kinds(result: Result) -> tuple[str, ...]:
    """The pictures that there are of a result, the first one for a single pair of axes."""
    result = _whole(result)
    flat = result._fields.get("d") == 2
    if isinstance(result, Flow):
        if result.per_class:
            return ("time", "margins")
        neurons = result.limit is not None and result.limit.W is not None
        return (*(["time"] if _rows(result) else []), *(["neurons"] if neurons and (result.d or 0) > 1 else []),
                *(["boundary"] if neurons and flat else []), "margins")
    if isinstance(result, MaxMargin):
        return (*(["boundary"] if flat and not result.per_class else []), "margins", "multipliers")
    if isinstance(result, Inspection):
        return (*(["plane"] if flat else []), "margins", "norms")
    return {Training: ("time",), Certificate: ("margins",), Ledger: ("counts",)}[type(result)]


def _whole(result: Result) -> Result:
    return result.flow if isinstance(result, Explanation) else result


def _panels(result: Result) -> tuple[str, ...]:
    """What a figure of its own shows."""
    all_kinds, result = kinds(result), _whole(result)
    if not isinstance(result, Flow):
        return all_kinds[:1]
    order = [kind for kind in ("neurons", "boundary", "time") if kind in all_kinds]
    return tuple(order if "boundary" in order else [*order, "margins"])


def _fill(figure: Any, result: Result, names: tuple[str, ...]) -> Any:
    axes = figure.subplots(1, len(names), squeeze=False, width_ratios=[1.35 if name == "time" and len(names) > 1 else 1 for name in names])[0]
    for ax, name in zip(axes, names):
        _draw(ax, result, name)
    return axes


def _size(names: tuple[str, ...], width: float | None) -> tuple[float, float]:
    width = width or (COLUMN if len(names) == 1 else PAGE)
    return width, {1: 0.85, 2: 0.46}.get(len(names), 0.36) * width


def figure(result: Result) -> Any:
    """A figure that no window knows of, for notebooks."""
    _matplotlib()
    import matplotlib.figure
    import matplotlib.pyplot as plt

    names = _panels(result)
    with plt.rc_context(STYLE):
        made = matplotlib.figure.Figure(figsize=_size(names, None), layout="constrained")
        _fill(made, result, names)
    return made


def plot(result: Result, ax: Any = None, kind: str | None = None, width: float | None = None) -> Any:
    """Draws a result into the axes given, or into a new figure."""
    _matplotlib()
    import matplotlib.pyplot as plt

    if kind is not None and kind not in kinds(result):
        raise ValueError(f"no picture '{kind}' of this {type(result).__name__}; there are: {', '.join(kinds(result))}")
    if ax is not None:
        room = make_room(ax)
        _draw(ax, result, kind or kinds(result)[0])
        if not room and ax.get_legend() is not None:
            ax.legend(loc="best")
        return ax
    names = _panels(result) if kind is None else (kind,)
    with plt.rc_context(STYLE):
        made = plt.figure(figsize=_size(names, width), layout="constrained")
        axes = _fill(made, result, names)
    return axes[0] if len(names) == 1 else axes


def _draw(ax: Any, result: Result, kind: str) -> None:
    result = _whole(result)
    if kind == "margins" and isinstance(result, (Flow, MaxMargin)) and result.per_class:
        _margins_of_classes(ax, result)
    elif kind == "time" and isinstance(result, Training):
        _training(ax, result)
    else:
        {"time": _time, "neurons": _neurons, "boundary": _boundary, "margins": _margins, "multipliers": _multipliers, "plane": _plane,
         "norms": _norms, "counts": _counts}[kind](ax, result)  # type: ignore[operator]
    ax.title.set_wrap(True)  # in a narrow figure


# ---- what several pictures share --------------------------------------------------------------------------------------


def _thin(count: int) -> slice:
    return slice(None, None, count // MOST_POINTS + 1)


def _scatter(ax: Any, X: np.ndarray, class_of: np.ndarray, names: list[str], scale: float = 1.0, label: bool = True, size: float = 12) -> None:
    size = size if len(X) <= 200 else size / 3
    for k, name in enumerate(names):
        colour, mark = CLASSES[min(k, len(CLASSES) - 1)]
        rows = scale * X[class_of == k][_thin(len(X))]
        ax.scatter(rows[:, 0], rows[:, 1], s=size, marker=mark, color=colour, linewidths=0, zorder=3, label=f"class {name}" if label else None)


def _signs(class_of: np.ndarray, names: list[str]) -> np.ndarray:
    return np.where(class_of == len(names) - 1, 1.0, -1.0)


def _frame(ax: Any, X: np.ndarray) -> float:
    """Square axes around the data and the origin; the half width."""
    size = 1.2 * float(np.max(np.abs(X), initial=1e-300))
    ax.set(xlim=(-size, size), ylim=(-size, size), xlabel="$x_1$", ylabel="$x_2$")
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(True)
    return size


# ---- the plane --------------------------------------------------------------------------------------------------------


def _regions(ax: Any, f: Any, size: float, level: float) -> None:
    """Where f is positive and negative, its zero line, and the lines through the support samples."""
    from matplotlib.lines import Line2D

    grid = np.linspace(-size, size, 401)
    A, B = np.meshgrid(grid, grid)
    F = f(np.column_stack([A.ravel(), B.ravel()])).reshape(A.shape)
    top = float(np.max(np.abs(F), initial=0.0)) or 1.0
    ax.contourf(A, B, F, levels=[-top * 1.01, -1e-12 * top, 1e-12 * top, top * 1.01], colors=[VERMILION, paper_of(ax), BLUE], alpha=0.3 if dark(ax) else 0.13, zorder=0)
    if F.min() < 0 < F.max():
        ax.contour(A, B, F, levels=[0.0], colors=[ink(ax)], linewidths=1.2, zorder=2)
    if level > 0:
        ax.contour(A, B, F, levels=[-level, level], colors=[VERMILION, BLUE], linewidths=0.8, linestyles="dashed", zorder=2)
    ax.add_line(Line2D([], [], color=ink(ax), lw=1.2, label="$f=0$"))
    ax.add_line(Line2D([], [], color=GREY, lw=0.8, ls="--", label="$f=\\pm$ margin"))


def _ring(ax: Any, X: np.ndarray, support: Any) -> None:
    if support is not None and len(support):
        ax.scatter(X[support, 0], X[support, 1], s=38, facecolors="none", edgecolors=ink(ax), linewidths=0.8, zorder=4, label="support")


def _boundary(ax: Any, result: Flow | MaxMargin) -> None:
    X, class_of, names = result._samples()
    network, size = result.network, _frame(ax, X)
    line = result._fields.get("linear")
    if network is not None:
        margins = _signs(class_of, names) * network(X)
        least = float(margins.min())
        _regions(ax, network, size, least)
        _arrows(ax, network, size)
        support = np.flatnonzero(margins <= least * (1 + 1e-6)) if least > 0 else None
        ax.set_title("the limit's decision boundary" if isinstance(result, Flow) else f"the best network, margin {_g(_best(result))}")
    elif line is not None and line.separable:
        _regions(ax, lambda Z: Z @ line.w + (line.b or 0.0), size, line.margin)
        support = line.support
        ax.set_title(f"the best line, margin {_g(line.margin)}")
    else:
        support = None
        ax.set_title("no network fits" if isinstance(result, MaxMargin) else "no limit")
    _scatter(ax, X, class_of, names)
    _ring(ax, X, support)
    below(ax, 3)


def _best(result: MaxMargin) -> float:
    return float(result.global_.margin)


def _g(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}"


def _arrows(ax: Any, network: Any, size: float) -> None:
    """The neurons |a| w, those of one direction together, all tips inside the axes."""
    U = np.abs(network.a)[:, None] * network.W
    groups: list[list[Any]] = []
    for k in np.argsort(-np.linalg.norm(U, axis=1)):
        for group in groups:
            if group[1] == np.sign(network.a[k]) and group[0] @ U[k] > (1 - 1e-6) * np.linalg.norm(group[0]) * np.linalg.norm(U[k]):
                group[0] = group[0] + U[k]
                break
        else:
            groups.append([U[k], np.sign(network.a[k])])
    longest = max((float(np.linalg.norm(u)) for u, _ in groups), default=0.0)
    for u, sign in groups[:MOST_PATHS]:
        if longest > 0 and np.linalg.norm(u) >= 1e-3 * longest:
            _arrow(ax, u / longest * 0.8 * size, BLUE if sign > 0 else VERMILION)


def _arrow(ax: Any, tip: np.ndarray, colour: str) -> None:
    ax.annotate("", xy=tip, xytext=(0, 0), zorder=5,
                arrowprops=dict(arrowstyle="-|>,head_width=0.15,head_length=0.3", color=colour, lw=1.1, shrinkA=0, shrinkB=0))


def _plane(ax: Any, result: Inspection) -> None:
    """Samples, the separator, and the extremal directions that small neurons turn to."""
    X, class_of, names = result._samples()
    size = _frame(ax, X)
    line = result.linear
    if line is not None and line.separable:
        ax.axline((0, 0), (-line.w[1], line.w[0]), color=ink(ax), lw=1.0, label="best line")
    for side, colour in (("positive", BLUE), ("negative", VERMILION)):
        for e in (result.extremal[side] or []) if result.extremal is not None else []:
            _arrow(ax, 0.85 * size * np.asarray(e.direction), colour)
        if result.extremal is not None and result.extremal[side]:
            ax.plot([], [], "-", color=colour, label=f"extremal, a {'> 0' if side == 'positive' else '< 0'}")
    _scatter(ax, X, class_of, names)
    ax.set_title("what the data decide")
    below(ax, 3)


# ---- margins and multipliers ------------------------------------------------------------------------------------------


def _sorted_margins(ax: Any, margins: np.ndarray, signs: np.ndarray, title: str) -> None:
    order = np.argsort(margins)
    rank = np.arange(len(order))
    for sign, (colour, mark), name in ((-1, CLASSES[0], "$y=-1$"), (1, CLASSES[1], "$y=+1$")):
        rows = signs[order] == sign
        if rows.any():
            ax.plot(rank[rows][_thin(len(order))], margins[order][rows][_thin(len(order))], mark, color=colour, ms=3 if len(order) <= 200 else 1.5,
                    mec="none", label=name)
    ax.axhline(1, color=GREEN, lw=0.9, ls="--", label="smallest")
    ax.set(xlabel="samples, sorted", ylabel="margin / smallest margin")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylim(bottom=min(0.0, float(np.min(margins, initial=0.0))))
    ax.set_title(title)
    below(ax, 3)


def _margins(ax: Any, result: Result) -> None:
    if isinstance(result, Inspection):
        line = result.linear
        if line is None or not line.separable:
            return _norms(ax, result)
        X, class_of, names = result._samples()
        signs = _signs(class_of, names)
        return _sorted_margins(ax, signs * (X @ line.w) / line.margin, signs, f"margins of the best line, {_g(line.margin)}")
    if isinstance(result, MaxMargin) and result.network is None:
        ax.set_title("no network" if result.global_ is not None else "only the line was asked for")
        return
    X, class_of, names = result._samples()
    signs = _signs(class_of, names)
    if isinstance(result, MaxMargin):
        margins, title = signs * result.network(X), f"margins of the best network, {_g(_best(result))}"  # type: ignore[misc]
        margins = margins / margins.min()
    elif isinstance(result, Flow):
        margins = None if result.limit is None else result.limit.margins
        title = f"margins at $t=\\infty$, {_g(result.limit.margin if result.limit is not None else None)}"
    else:
        margins, title = result["margins"], f"KKT point: {'yes' if result['kkt'].holds else 'no'}"
    if margins is None:
        ax.set_title("no limit to show")
        return
    _sorted_margins(ax, np.asarray(margins, dtype=float), signs, title)


def _margins_of_classes(ax: Any, result: Flow | MaxMargin) -> None:
    """One bar per class against the rest."""
    parts = result.per_class
    values = [(part.limit.margin if isinstance(part, Flow) else part.global_.margin) or 0.0 for part in parts]
    ax.barh([f"class {part.positive_class}" for part in parts], values, color=[CLASSES[min(k + 2, 5)][0] for k in range(len(parts))], height=0.6)
    ax.invert_yaxis()
    ax.set(xlabel="normalised margin", title="each class against the rest")


def _multipliers(ax: Any, result: MaxMargin) -> None:
    if result.per_class:
        return _margins_of_classes(ax, result)
    best, line = result.global_, result.linear
    values = best.lambda_ if best is not None else line.multipliers if line is not None else None
    if values is None:
        ax.set_title("no multipliers")
        return
    _, class_of, names = result._samples()
    signs, rank = _signs(class_of, names), np.arange(len(values))
    for sign, (colour, mark), name in ((-1, CLASSES[0], "$y=-1$"), (1, CLASSES[1], "$y=+1$")):
        rows = signs == sign
        if rows.any():
            ax.vlines(rank[rows], 0, values[rows], color=colour, lw=1.2)
            ax.plot(rank[rows], values[rows], mark, color=colour, ms=3, mec="none", label=name)
    ax.set(xlabel="sample", ylabel="multiplier $\\lambda_i$", title="which samples hold the margin")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylim(bottom=0)
    below(ax, 2)


def _norms(ax: Any, result: Inspection) -> None:
    X, class_of, names = result._samples()
    norms = np.linalg.norm(X, axis=1)
    order = np.argsort(norms)
    for k, name in enumerate(names):
        colour, mark = CLASSES[min(k, len(CLASSES) - 1)]
        rows = np.flatnonzero(class_of[order] == k)
        ax.plot(rows[_thin(len(X))], norms[order][rows][_thin(len(X))], mark, color=colour, ms=3 if len(X) <= 200 else 1.5, mec="none", label=f"class {name}")
    ax.set(xlabel="samples, sorted", ylabel="$|x_i|$", title="sizes of the samples")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylim(bottom=0)
    below(ax, 3)


# ---- time -------------------------------------------------------------------------------------------------------------


def _rows(result: Flow) -> list[Any]:
    return [row for row in result.trace or [] if row.log_t is not None and row.log_loss is not None]


class _Clock:
    """Time from 0 to infinity on one axis: alignment linear in t, fitting in ln t, what follows in ln ln t."""

    def __init__(self, result: Flow, rows: list[Any]):
        u = np.array([row.log_t for row in rows])
        align = result.phases.t_align if result.phases is not None else None
        self.aligned = bool(align and align > 0 and np.log(align) < u[-1])
        self.first = float(np.log(align)) if align and self.aligned else float(u[0])
        at_rest = [row.log_t for row in rows if row.log_loss < RATE_OF_REST]
        self.rest = float(max(at_rest[0], self.first + 1e-9)) if at_rest and u[-1] > at_rest[0] + 3 else float(u[-1])
        self.end = float(u[-1])
        self.far = self.end > self.rest
        self.widths = (0.7 if self.aligned else 0.0, 1.2, 1.0 if self.far else 0.0)

    def __call__(self, log_t: Any) -> np.ndarray:
        u = np.asarray(log_t, dtype=float)
        a, b, c = self.widths
        early = a * np.exp(np.minimum(u - self.first, 0.0))
        fit = b * np.clip((u - self.first) / max(self.rest - self.first, 1e-12), 0 if self.aligned else -9, 1)
        late = c * np.log1p(np.clip(u - self.rest, 0, None)) / np.log1p(max(self.end - self.rest, 1e-12)) if self.far else 0.0
        return np.asarray(early + fit + late)

    @property
    def infinity(self) -> float:
        return sum(self.widths) + 0.18

    def ticks(self) -> tuple[list[float], list[str]]:
        places, texts = [], []
        if self.aligned:
            places, texts = [0.0], ["0"]
        low, high = self.first / np.log(10), self.rest / np.log(10)
        step = max(1, int(np.ceil((high - low) / 2.5)))
        powers: list[float] = list(range(int(np.ceil(low + 0.1)), int(np.floor(high + 1e-9)) + 1, step))
        if self.far:
            powers += [10.0**k for k in range(1, 9) if 10.0**k < self.end / np.log(10)]
        for p in powers:
            place, last = float(self(p * np.log(10))), places[-1] if places else -np.inf
            if place - last < 0.36 or self.infinity - place < 0.3:
                continue
            places.append(place)
            texts.append(f"$10^{{{p:.0f}}}$" if p < 1000 else f"$10^{{10^{{{np.log10(p):.0f}}}}}$")
        places.append(self.infinity)
        texts.append("$\\infty$")
        return places, texts


def _time(ax: Any, result: Flow) -> None:
    """Loss and margin, each between 0 and 1, with the phases; at the right edge t = infinity."""
    if result.per_class:
        for k, part in enumerate(result.per_class):
            _time_curve(ax, part, CLASSES[min(k + 2, 5)][0], f"class {part.positive_class}")
        ax.set(ylabel="margin / margin at $t=\\infty$", xlabel="progress of each flow", title="each class against the rest")
        ax.set_xticks([])
        below(ax, 3)
        return
    rows = _rows(result)
    if len(rows) < 2:
        ax.set_title("no trace was kept")
        return
    clock = _Clock(result, rows)
    edges = np.cumsum((0.0, *clock.widths))
    named = [(name, edges[k], edges[k + 1]) for k, name in enumerate(("alignment", "fitting", "growth")) if edges[k + 1] > edges[k]]
    for k, (name, low, high) in enumerate(named):
        if k % 2 == 0:
            ax.axvspan(low, high, color=GREY, alpha=0.11, zorder=0, lw=0)
        ax.text((low + high) / 2, 1.02, name, ha="center", va="bottom", fontsize=6.5, color=GREY, transform=ax.get_xaxis_transform())
    x = clock([row.log_t for row in rows])
    loss = np.exp(np.array([row.log_loss for row in rows]) - rows[0].log_loss)
    before = [0.0] if clock.aligned and x[0] > 0 else []  # near zero nothing moves the loss
    ax.plot([*before, *x, clock.infinity], [*(1.0 for _ in before), *loss, 0.0 if clock.far else loss[-1]], color=ink(ax), label="loss / loss at start")
    _time_curve(ax, result, GREEN, "margin / margin at $t=\\infty$", clock)
    times = [event.log_t for event in result.events or [] if event.log_t is not None and event.log_t <= clock.end]
    if times:
        ax.plot(clock(times), np.full(len(times), -0.03), "|", color=GREY, ms=4, mew=0.5, label=f"changes of activation ({result.n_events})", clip_on=False)
    places, texts = clock.ticks()
    ax.set_xticks(places, texts)
    ax.set(xlim=(float(min(x[0], 0.0)), clock.infinity + 0.06), ylim=(-0.08, 1.08), xlabel="time $t$")
    below(ax, 1)


def _time_curve(ax: Any, result: Flow, colour: str, label: str, clock: _Clock | None = None) -> None:
    rows = _rows(result)
    if len(rows) < 2:
        return
    clock = clock or _Clock(result, rows)
    margin = np.array([np.nan if row.margin is None else row.margin for row in rows], dtype=float)
    limit = result.limit.margin if result.limit is not None else None
    top = limit if limit is not None and limit > 0 else float(np.nanmax(np.abs(margin), initial=0.0)) or 1.0
    x = clock([row.log_t for row in rows])
    shown = np.where(margin / top < -0.08, np.nan, margin / top)
    ax.plot(x, shown, color=colour, label=label)
    if limit is not None and limit > 0 and result.limit.status == "converged":
        ax.plot([x[-1], clock.infinity], [shown[-1], 1.0], color=colour, ls=":", lw=0.9)
        ax.plot([clock.infinity], [1.0], "o", color=colour, ms=4, clip_on=False, zorder=5)


def _training(ax: Any, result: Training) -> None:
    parts = result.per_class or [result]
    records = parts[0].records or []
    steps = np.array([r.step for r in records], dtype=float)
    ax.semilogy(steps, [r.loss for r in records], color=ink(ax), label="loss")
    other = ax.twinx()
    other.plot(steps, [np.nan if r.margin is None else r.margin for r in records], color=GREEN)
    ax.plot([], [], color=GREEN, label="normalised margin")
    if records and records[-1].get("test_error") is not None:
        ax.plot([], [], " ", label=f"test error {100 * records[-1].test_error:.3g}%")
    other.spines["right"].set_visible(True)
    other.tick_params(axis="y", colors=GREEN)
    other.set_ylabel("normalised margin", color=GREEN)
    ax.set(xlabel="step", ylabel="loss", title=f"{result._fields.get('optimizer') or 'training'}")
    below(ax, 3)


# ---- neurons on the circle --------------------------------------------------------------------------------------------


def _paths(result: Flow) -> Any:
    """The ways of the neurons through alignment; None where they cannot be had (a layered start, data that are gone)."""
    if result.paths is not None:
        return result.paths
    from ._call import again

    quick: dict[str, Any] = dict(paths=MOST_PATHS, verdict=0.0, no_audit=True, trace=0)
    if result.log_scale is not None:  # in the limit of small scale there is no time to stop at
        quick["until"] = "time=1e-12"
    try:
        return again(result, "flow", **quick).paths
    except (ValueError, TypeError, OSError):
        return None


def _neurons(ax: Any, result: Flow) -> None:
    """Directions of the neurons from their start to the limit. In the plane the radius is time, in more dimensions they
    are seen along the plane of w+ and w-, inside the outline of the sphere."""
    X, class_of, names = result._samples()
    network, paths = result.network, _paths(result)
    assert network is not None
    flat = X.shape[1] == 2
    plane = np.asarray(paths.plane) if paths is not None and paths.plane is not None else _two_axes(X, _signs(class_of, names))
    angle = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(angle), np.sin(angle), color=ink(ax), lw=0.8)
    if flat:
        for x in X[:: len(X) // 80 + 1]:
            n = np.linalg.norm(x)
            if n > 0:
                ax.plot([-x[1] / n, x[1] / n], [x[0] / n, -x[0] / n], color=GREY if dark(ax) else FAINT, lw=0.5, zorder=0)
    size = np.linalg.norm(network.W, axis=1) * np.abs(network.a)
    lost = size < 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
    ends = network.W @ plane.T / np.maximum(np.linalg.norm(network.W, axis=1), 1e-300)[:, None]
    colours = np.where(lost, GREY, np.where(network.a > 0, BLUE, VERMILION))
    if paths is not None:
        radius = np.linspace(0.36, 0.92, np.asarray(paths.x).shape[1]) if flat else 1.0
        for row, k in enumerate(paths.neurons):
            x, y = radius * np.asarray(paths.x)[row], radius * np.asarray(paths.y)[row]
            ax.plot(x, y, color=colours[k], lw=0.7, alpha=0.75)
            ax.plot(x[:1], y[:1], "o", color=colours[k], ms=2.4, mfc=paper_of(ax), mew=0.6)
            if lost[k]:
                ax.plot(x[-1:], y[-1:], "x", color=GREY, ms=3, mew=0.7)
            else:
                ax.plot([x[-1], ends[k, 0]], [y[-1], ends[k, 1]], color=colours[k], lw=0.6, ls=":")
    share = size / max(float(size.sum()), 1e-300)
    ax.scatter(ends[~lost, 0], ends[~lost, 1], s=8 + 70 * share[~lost], color=colours[~lost], linewidths=0.5, edgecolors=paper_of(ax), zorder=5)
    within = 0.3 / max(float(np.max(np.linalg.norm(X @ plane.T, axis=1), initial=0.0)), 1e-300)
    _scatter(ax, X @ plane.T, class_of, names, within, label=False, size=7)
    for colour, name in ((BLUE, "$a>0$"), (VERMILION, "$a<0$"), (GREY, "vanishes")):
        if np.any(colours == colour):
            ax.plot([], [], "o-", color=colour, ms=3.5, lw=0.7, label=name)
    ax.plot([], [], "o", color=ink(ax), mfc=paper_of(ax), mew=0.6, ms=2.6, label="start")
    ax.set_aspect("equal")
    ax.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), title="neurons" if flat else "neurons, seen along $w_+, w_-$")
    ax.axis("off")
    below(ax, 4, labelled=False)


def _two_axes(X: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Orthonormal directions of the two class sums, completed where they are parallel."""
    if X.shape[1] == 2:
        return np.eye(2)
    rows = np.vstack([X[signs > 0].sum(axis=0), -X[signs < 0].sum(axis=0), np.eye(X.shape[1])[:2]])
    Q, R = np.linalg.qr(rows.T)
    return np.asarray(Q.T[:2] * np.where(np.diag(R)[:2] < 0, -1.0, 1.0)[:, None])


# ---- the ledger -------------------------------------------------------------------------------------------------------


def _counts(ax: Any, result: Ledger) -> None:
    """Claims of each paper: passed, failed, skipped."""
    papers: dict[str, dict[str, int]] = {}
    for claim in result.claims or []:
        count = papers.setdefault(claim.id.rsplit("-", 1)[0], {})
        count[claim.verdict or "listed"] = count.get(claim.verdict or "listed", 0) + 1
    left = np.zeros(len(papers))
    order = [status for status in ("passed", "pass", "failed", "fail", "skipped", "skip", "listed") if any(status in c for c in papers.values())]
    order += sorted({status for count in papers.values() for status in count} - set(order))
    for status in order:
        values = np.array([count.get(status, 0) for count in papers.values()])
        colour = GREEN if status.startswith("pass") else VERMILION if status.startswith("fail") else FAINT
        ax.barh(list(papers), values, left=left, color=colour, height=0.6, label=status)
        left = left + values
    ax.invert_yaxis()
    ax.set(xlabel="claims", title="claims of the papers")
    ax.locator_params(axis="x", integer=True)
    below(ax, 3)
