"""Results: the fields of the JSON output (docs/fields.md) as attributes with types, arrays as NumPy arrays."""
from __future__ import annotations

import html
import io
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _fields
from ._errors import Status
from ._fields import CertifyFields, ExplainFields, FlowFields, InspectFields, MaxmarginFields, TrainFields, VerifyFields
from ._record import Record as Record
from ._record import plain, table, typed

if TYPE_CHECKING:
    import pandas

    from .networks import Network

MOST_SAVED_NUMBERS = 1_000_000  # of data in memory: about 20 MB of JSON


class Result(Record):
    """What a function returns.

    ``print(result)`` shows the page that the program prints, ``result.plot()`` draws it, ``result.to_frame()`` is its main
    table, ``result.to_latex()`` its main numbers, ``result.save("x.json")`` keeps it; `reluflow.load` brings it back.
    """

    __slots__ = ("_page", "_exit_code", "_status", "_source", "_run", "_asked")
    _page: str
    _exit_code: int
    _status: int
    _source: Any
    _run: Any  # how it was made: its own member, or that of the result it is part of
    _asked: Any  # the call: command, arguments, options, data, network

    _FRAME = ""  # the field of to_frame()

    def __init__(self, fields: dict[str, Any], page: str = "", exit_code: int = 0, status: int = 0, source: Any = None,
                 run: Any = None, asked: Any = None):
        super().__init__(fields)
        run = fields.get("run") if run is None else run
        for name, value in (("_page", page), ("_exit_code", exit_code), ("_status", status), ("_source", source), ("_run", run), ("_asked", asked)):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields, self._page, self._exit_code, self._status, self._source, self._run, self._asked)

    @property
    def exit_code(self) -> int:
        """As the program's: 0 what was asked for holds, 1 it does not, 3 undecided, 130 interrupted."""
        return self._exit_code

    @property
    def library_status(self) -> Status:
        """The status of the C library."""
        return Status(self._status)

    @property
    def page(self) -> str:
        """The page that the program prints."""
        return self._page

    def __str__(self) -> str:
        return self._page or repr(self)

    def _headline(self) -> str:
        """What the result says, in one line."""
        return ", ".join(f"{name} {text}" for name, text in self._numbers())

    def _numbers(self) -> list[tuple[str, str]]:
        """The main numbers: name and text."""
        return []

    def __repr__(self) -> str:
        name = self._fields.get("name")
        size = f", {self._fields['n']} x {self._fields['d']}" if self._fields.get("n") is not None else ""
        return f"<{type(self).__name__} of {name}{size}: {self._headline()}>" if name else f"<{type(self).__name__}: {self._headline()}>"

    def _repr_html_(self) -> str:
        """For notebooks: headline, picture, and everything else folded."""
        name = html.escape(str(self._fields.get("name") or type(self).__name__))
        picture = self._picture()
        page = f"<details><summary>page</summary><pre>{html.escape(self._page)}</pre></details>" if self._page else ""
        return (f"<p><b>{name}</b>: {html.escape(self._headline())}</p>{picture}{page}"
                f"<details><summary>fields</summary>{table(self)}</details>")

    def _picture(self) -> str:
        """The plot as inline SVG; nothing without matplotlib or without the data."""
        try:
            from . import _plots

            figure = _plots.figure(self)
        except (ImportError, ValueError, OSError, TypeError):
            return ""
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight")
        return text.getvalue()[text.getvalue().index("<svg"):]

    def _samples(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """X, class numbers and class names of the data that the result is about; in one class against the rest two."""
        source = self._source
        if source is None:
            raise ValueError("the data are not kept with this result: reluflow.load(path, data=(X, y)) brings them back")
        if not isinstance(source, tuple):
            from . import datasets

            data = datasets.load(*source["path"], **source["options"])
            source = data.X, data.class_of, data.classes
        X, class_of, names = source
        positive = self._fields.get("positive_class")
        if positive is not None and len(names) > 2:
            return X, (np.array(names)[class_of] == positive).astype(np.int32), [f"not {positive}", positive]
        return X, class_of, names

    def explore(self, path: Any = None, *, show: bool = True, page: Any = None) -> Any:
        """The explorer with the data and the start of this result, as reluflow.explore gives it."""
        from . import explorer

        flags = self["run"].flags if "run" in self else {}
        known = {name: flags[name] for name in ("width", "leak", "loss", "init", "scale") if name in flags and flags[name] is not None}
        if "seed" in flags:
            known["seed"] = flags["seed"]
        from .datasets import Dataset

        X, class_of, names = self._samples()
        return explorer.explore(Dataset(X, class_of, names, "data"), path=path, show=show, page=page, **known)

    def plot(self, ax: Any = None, *, kind: str | None = None, width: float | None = None) -> Any:
        """A picture of the result (needs matplotlib), for a column of a paper.

        Parameters
        ----------
        ax : draw into these axes; otherwise a new figure.
        kind : which picture; the default depends on the result, `plot_kinds` lists them.
        width : inches, of a new figure; 3.4 is a column, 7 a page.

        Returns the axes, an array of them for a figure of several. ``ax.figure.savefig("x.pdf")`` is a vector picture.
        """
        from . import _plots

        return _plots.plot(self, ax, kind, width)

    @property
    def plot_kinds(self) -> tuple[str, ...]:
        """What `plot` takes as `kind`."""
        from . import _plots

        return _plots.kinds(self)

    def to_frame(self, field: str | None = None) -> pandas.DataFrame:
        """A list of records as a pandas DataFrame: the trace of a flow, the records of a training, the neurons of an
        optimum, the claims of a ledger; or the field named, such as "events" or "limit.groups"."""
        try:
            import pandas
        except ImportError as error:
            raise ModuleNotFoundError("to_frame needs pandas: pip install 'reluflow[frame]'") from error

        value: Any = self
        for part in (field or self._FRAME).split("."):
            value = value[part] if isinstance(value, Record) and part in value else None
        rows = [row.to_dict() if isinstance(row, Record) else row for row in ([] if value is None else value)]
        return pandas.DataFrame(rows)

    def to_latex(self) -> str:
        """The main numbers as a LaTeX table (booktabs)."""
        rows = "\n".join(f"{_latex(name)} & {_latex(text)} \\\\" for name, text in self._numbers())
        return f"\\begin{{tabular}}{{ll}}\n\\toprule\n{rows}\n\\bottomrule\n\\end{{tabular}}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result as JSON, with how it was made (`run`): what the program writes with -o, so that `reluflow
        rerun` repeats it; `reluflow.load` reads it back. Small data in memory are kept along for pictures."""
        extra: dict[str, Any] = {"page": self._page, "exit_code": self._exit_code, "status": self._status}
        if isinstance(self._source, tuple) and self._source[0].size <= MOST_SAVED_NUMBERS:
            X, class_of, names = self._source
            extra["data"] = {"X": plain(X), "class_of": plain(class_of), "classes": names}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**self.to_dict(), "python": extra}, file, allow_nan=False)
            file.write("\n")


_SPECIAL = str.maketrans({"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", **{c: "\\" + c for c in "&%$#_{}"}})


def _latex(text: str) -> str:
    """A text for LaTeX; numbers as mathematics, with an exponent as powers of ten."""
    try:
        value = float(text)
    except ValueError:
        return text.translate(_SPECIAL)
    if "e" not in text or not math.isfinite(value):
        return f"${text}$"
    mantissa, exponent = text.split("e")
    return f"${mantissa} \\times 10^{{{int(exponent)}}}$"


def _text(value: Any, digits: int = 10) -> str:
    return "not computed" if is_missing(value) else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _named(*pairs: tuple[str, Any]) -> list[tuple[str, str]]:
    """Those that are there."""
    return [(name, _text(value)) for name, value in pairs if not is_missing(value)]


class Provable(Result):
    """A result that can be put into a proof file (docs/proof.md)."""

    __slots__ = ()

    def proof(self, path: Any) -> Any:
        """Asks the same question again, writes its proof to `path`, and checks the file with `reluflow.checker`, which
        shares no code with the library. Returns the record of the file, with the checker's verdict; of an explanation
        `path` is a folder, and a list is returned. The record of a proof asked for in the call itself is
        ``result["proof"]``.
        """
        from . import checker
        from ._call import call

        if self._asked is None:
            raise ValueError("this result does not know what was asked")
        command, arguments, options, data, net = self._asked
        again = call(type(self), command, arguments, {**options, "proof": path}, data, net=net)
        written = again["proofs"] if command == "explain" else [again["proof"], again._fields.get("optimum_proof")]
        records = []
        for record in (item for item in written if item is not None):
            with open(record["file"], "rb") as file:
                status, verdict = checker.check(file)  # type: ignore[no-untyped-call]
            if status:
                raise RuntimeError(f"{record['file']}: {verdict}")
            records.append(Record({**record._fields, "accepted": True, "verdict": verdict}))
        if not records:
            raise ValueError("no proof could be written: the answer is not proved, or the network does not separate the data")
        return records if command == "explain" else records[0]


class Inspection(Result, InspectFields):
    """What the data decide before training."""

    __slots__ = ()
    _FRAME = "theorems"

    def _numbers(self) -> list[tuple[str, str]]:
        if self.per_class:
            return _named(("classes", len(self.per_class)))
        line = self.linear
        theorems = [theorem.id for theorem in self.theorems or [] if theorem.applies]
        return _named(("linearly separable", "yes" if line and line.separable else "no"),
                      ("margin", line.margin if line else None),
                      ("orthogonally separable", "yes" if self.orthogonal and self.orthogonal.separable else "no"),
                      ("theorems that apply", ", ".join(theorems) or "none"))

    @property
    def per_class(self) -> list[Inspection] | _fields.MaybeNone:
        """More than two classes: one object per class against the rest; otherwise None."""
        return self._fields.get("per_class")


class MaxMargin(Provable, MaxmarginFields):
    """Max margins with certificates."""

    __slots__ = ()
    _FRAME = "global.neurons"

    def _numbers(self) -> list[tuple[str, str]]:
        best, line = self.global_, self.linear
        linear = ("linear margin", line.margin if line is not None and line.separable else "not separable" if line is not None else None)
        if best is None:
            return _named(linear)
        return _named(("best margin", best.margin), ("proved", {"optimal": "yes"}.get(best.status, best.status)),
                      ("gap", best.gap), ("neurons", best.width_needed), linear)

    @property
    def network(self) -> Network | None:
        """The best network, |a_j| = |w_j|, at smallest margin 1."""
        from .networks import Network

        best = self._fields["global"]
        if best is None or not best.neurons:
            return None
        U = np.array([neuron.u for neuron in best.neurons]).reshape(len(best.neurons), -1)
        size = np.sqrt(np.linalg.norm(U, axis=1))
        W = np.divide(U, size[:, None], out=np.zeros_like(U), where=size[:, None] > 0)
        return Network(W, size * [neuron.sign for neuron in best.neurons], best.leak)

    @property
    def per_class(self) -> list[MaxMargin] | _fields.MaybeNone:
        """More than two classes: one object per class against the rest; otherwise None."""
        return self._fields.get("per_class")


class Flow(Result, FlowFields):
    """Gradient flow to t = infinity."""

    __slots__ = ()
    _FRAME = "trace"

    def _numbers(self) -> list[tuple[str, str]]:
        if self.per_class:
            return [(f"class {part.positive_class}", part._headline()) for part in self.per_class]
        limit, verdict = self.limit, self.verdict
        if limit is None:
            return []
        return _named(("limit", limit.status), ("margin", limit.margin), ("KKT point", {True: "yes", False: "no"}.get(verdict.kkt) if verdict else None),
                      ("local", verdict.local if verdict else None), ("global", verdict.global_ if verdict else None))

    @property
    def network(self) -> Network | None:
        """The limit, |theta| = 1."""
        from .networks import Network

        limit = self._fields.get("limit")
        return None if limit is None or limit.W is None else Network(limit.W, limit.a, self._fields["leak"])

    @property
    def per_class(self) -> list[Flow] | _fields.MaybeNone:
        """More than two classes: one object per class against the rest; otherwise None."""
        return self._fields.get("per_class")

    @property
    def continuations(self) -> list[Flow] | _fields.MaybeNone:
        """--branches all: the flow along each continuation of a branched start."""
        return self._fields.get("continuations")


class Training(Result, TrainFields):
    """A network trained by gd, sgd or adam."""

    __slots__ = ()
    _FRAME = "records"

    def _numbers(self) -> list[tuple[str, str]]:
        return _named(("steps", self._fields.get("steps")), ("loss", self._fields.get("loss")), ("margin", self._fields.get("margin")),
                      ("training error", self._fields.get("train_error")), ("test error", self._fields.get("test_error")))

    @property
    def network(self) -> Network | None:
        """The trained network; None for a layered one."""
        from .networks import Network

        return None if self._fields.get("W") is None else Network(self.W, self.a, self.leak)


class Certificate(Provable, CertifyFields):
    """What a network is among all networks that fit the data."""

    __slots__ = ()
    _FRAME = "kkt.kinks"

    def _numbers(self) -> list[tuple[str, str]]:
        kkt, local, best = self.kkt, self.local, self.global_
        return _named(("margin", self._fields.get("margin")), ("KKT point", {True: "yes", False: "no"}.get(kkt.holds) if kkt else None),
                      ("local", local.verdict if local else None), ("global", best.verdict if best else None),
                      ("gap", best.gap if best else None))


class Ledger(Result, VerifyFields):
    """The claims of the papers, run."""

    __slots__ = ()
    _FRAME = "claims"

    def _numbers(self) -> list[tuple[str, str]]:
        return _named(("passed", self.passed), ("failed", self.failed), ("skipped", self.skipped))


class Explanation(Provable, ExplainFields):
    """One walk: what the data decide, where the flow goes, what that point is, the best there is."""

    __slots__ = ()
    _FRAME = "flow.trace"

    def _headline(self) -> str:
        lines = [line for line in self._fields["sentences"] or [] if line.startswith("So ")]
        return lines[0] if lines else self._fields["sentences"][-1]

    def _numbers(self) -> list[tuple[str, str]]:
        flow, best = self.flow, self.maxmargin
        found = best.global_.margin if best is not None and best.global_ is not None else None
        predicted = self.predicted.theorem if self.predicted is not None else None
        return [*_named(("theorem", predicted)), *(flow._numbers() if flow is not None else []), *_named(("best margin", found))]

    def __repr__(self) -> str:
        return f"<Explanation of {self.inspect.name}: {self._headline()}>"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self._fields["sentences"])
        return f"<p><b>{html.escape(self._headline())}</b></p>{self._picture()}<ol>{lines}</ol><details><summary>fields</summary>{table(self)}</details>"

    @property
    def inspect(self) -> Inspection | _fields.MaybeNone:
        """What the data decide before training."""
        return self._fields.get("inspect")

    @property
    def flow(self) -> Flow | _fields.MaybeNone:
        """Where gradient flow goes; more than two classes: only per_class."""
        return self._fields.get("flow")

    @property
    def certify(self) -> Certificate | _fields.MaybeNone:
        """What that point is; None when the flow did not converge."""
        return self._fields.get("certify")

    @property
    def maxmargin(self) -> MaxMargin | _fields.MaybeNone:
        """The best margin there is."""
        return self._fields.get("maxmargin")


COMMANDS: dict[str, type[Result]] = {"inspect": Inspection, "maxmargin": MaxMargin, "flow": Flow, "train": Training,
                                     "certify": Certificate, "verify": Ledger, "explain": Explanation}

_CLASSES: dict[str, type[Record]] = {
    **{name: kind for name, kind in vars(_fields).items() if isinstance(kind, type(Record)) and issubclass(kind, Record)},
    **{name.capitalize() + "Fields": kind for name, kind in COMMANDS.items()},
}


def result_from(kind: type[Result], fields: Record, page: str, exit_code: int, status: int, source: Any, asked: Any = None) -> Any:
    """A result from the parsed output of its command."""
    record = typed(kind, fields, _CLASSES, {"_source": source, "_run": fields._fields.get("run")})
    return kind(record._fields, page, exit_code, status, source, asked=asked)


def _saved_source(run: Any, saved: Any, data: Any) -> Any:
    """Where the data of a saved result come from: given now, kept in the file, or named in its command."""
    if data is not None:
        from ._arrays import samples_of

        return samples_of(*data)
    if saved is not None and "data" in saved:
        kept = saved["data"]
        return np.array(kept["X"], dtype=float), np.array(kept["class_of"], dtype=np.int32), list(kept["classes"])
    from ._call import TRANSFORMS, options_of

    words = [word for word in run["words"][1:] if word != "--"]
    named = [word for word in words if word.startswith("gen:") or os.path.exists(word)]
    if not named:
        return None
    flags = {name.replace("-", "_"): value for name, value in run["flags"].items()}
    known = options_of("data info")
    given = {name: flags[name] for name in TRANSFORMS if name in known and flags.get(name) not in (None, False)}
    return {"path": (named[0],), "options": given}


def load(path: str | os.PathLike[str], data: tuple[Any, Any] | None = None) -> Any:
    """A result from a file: of `Result.save`, or what the program wrote with -o or --json.

    `data` is the pair (X, y) the result is about, needed for pictures when they were in memory and are not in the file.

    >>> import os, tempfile
    >>> from reluflow import flow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flow("gen:DS-PL2", width=6).save(os.path.join(folder, "run.json"))
    ...     again = load(os.path.join(folder, "run.json"))
    >>> again.limit.status, type(again).__name__
    ('converged', 'Flow')
    """
    with open(path, encoding="utf-8") as file:
        try:
            fields = json.load(file, object_hook=Record)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: not a result: {error}") from error
    run = fields["run"] if isinstance(fields, Record) and "run" in fields else None
    words = run["words"] if isinstance(run, Record) and "words" in run else []
    if not words or words[0] not in COMMANDS:
        raise ValueError(f"{os.fspath(path)}: not a result of {', '.join(COMMANDS)} (no member run.words)")
    saved = fields._fields.pop("python", None)
    page, code, status = (saved["page"], saved["exit_code"], saved["status"]) if saved is not None else ("", 0, 0)
    return result_from(COMMANDS[words[0]], fields, page, code, status, _saved_source(run, saved, data))


def is_missing(value: Any) -> bool:
    """None or NaN: not computed."""
    return value is None or (isinstance(value, float) and math.isnan(value))
