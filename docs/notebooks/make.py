"""Writes the notebooks of this folder: cells below, outputs from running them. python docs/notebooks/make.py [FOLDER]"""
import ast
import contextlib
import io
import json
import pathlib
import sys

NOTEBOOKS = {
    "where-will-my-network-end": [
        "# Where will my network end?\nA half-trained network, and what gradient flow makes of it at t = ∞.",
        "import numpy as np\nimport reluflow\nfrom reluflow.torch import limit_of\nX, y = reluflow.datasets.orthant(n=30, d=4, seed=2)",
        "Train for a while, as one does (here with `reluflow.train`; an `nn.Sequential` or its state dict does as well).",
        "half = reluflow.train(X, y, width=16, steps=1000, rate=0.05)\nhalf",
        "Where does it go from here?",
        "will = limit_of(half, X, y)\nprint(will)",
        "From a small start instead, everything is decided by the data: two groups of neurons.",
        "run = reluflow.flow(X, y, width=16)\nrun.limit.status, len(run.limit.groups), round(run.limit.margin, 10)",
        "`run` alone in a cell shows headline, picture and fields; `run.plot()` is the picture.",
        "run.to_frame('limit.groups')[['sign', 'members']]",
    ],
    "is-it-the-best-margin": [
        "# Is it the best margin?\nThe limit of gradient flow is a KKT point of the max-margin problem. Is it the best network there is?",
        "import reluflow\nX, y = reluflow.datasets.xor()",
        "answer = reluflow.explain(X, y, width=20)\nprint(answer.sentences[-1])",
        "The best margin of any two-layer network, with a proved bound:",
        "best = reluflow.maxmargin(X, y).global_\nround(best.margin, 12), best.status, best.gap < 1e-8, best.width_needed",
        "A network with too few neurons cannot have it, and the certificate says so:",
        "stuck = reluflow.certify(([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], [1.0, -2.0, -1.0, 1.0]), X, y)\nstuck.kkt.holds, stuck.global_.verdict",
        "print(reluflow.maxmargin(X, y).to_latex())",
    ],
    "a-hundred-seeds": [
        "# A hundred seeds\nOne command for every combination of values, one table.",
        "import reluflow\ncells = reluflow.sweep('flow', 'gen:xor', width=[2, 4, 8], seed=range(33), verdict=0, no_audit=True)\nlen(cells['id'])",
        "How often does a network of this width fit XOR at all?",
        "import numpy as np\nwidth, status = np.array(cells['width']), np.array(cells['limit.status'])\n"
        "{int(w): round(float(np.mean(status[width == w] == 'converged')), 2) for w in (2, 4, 8)}",
        "And which margins do those have that do?",
        "margin = np.array(cells['limit.margin'], dtype=float)\nsorted({round(float(m), 6) for m in margin[status == 'converged']})[-1]",
    ],
}


def run(cells):
    """The cells with their outputs, as a notebook."""
    names, made, count = {}, [], 0
    for source in cells:
        if source.startswith("#") or not _is_code(source):
            made.append({"cell_type": "markdown", "metadata": {}, "source": source.splitlines(True)})
            continue
        count += 1
        out, value = io.StringIO(), None
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(out):
            exec(compile(tree, "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        outputs = [{"output_type": "stream", "name": "stdout", "text": out.getvalue().splitlines(True)}] if out.getvalue() else []
        if value is not None:
            outputs.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": {"text/plain": repr(value).splitlines(True)}})
        made.append({"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs, "source": source.splitlines(True)})
    return {"cells": made, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 4}


def _is_code(source):
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, cells in NOTEBOOKS.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(run(cells), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
