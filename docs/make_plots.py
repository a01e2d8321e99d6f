"""Draws the pictures of docs/plots.md again: python docs/make_plots.py [FOLDER]"""
import pathlib
import sys

import matplotlib

matplotlib.use("agg")
matplotlib.rcParams["svg.hashsalt"] = "reluflow"  # the same file for the same picture
import matplotlib.pyplot as plt
import numpy as np

import reluflow

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "pictures" / "plots")
folder.mkdir(parents=True, exist_ok=True)


def save(name, axes):
    figure = np.atleast_1d(axes)[0].figure
    figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close("all")


plane = reluflow.flow("gen:DS-PL2", width=10)
orthant = reluflow.flow("gen:orthant,n=40,d=5", width=12)
save("flow", plane.plot())
save("flow-many", orthant.plot())
save("flow-time", plane.plot(kind="time"))
save("flow-neurons", plane.plot(kind="neurons"))
save("explain", reluflow.explain("gen:xor", width=20).plot())
save("maxmargin", reluflow.maxmargin("gen:xor").plot())
save("maxmargin-multipliers", reluflow.maxmargin("gen:gaussian,n=14,d=3").plot(kind="multipliers"))
save("inspect", reluflow.inspect("gen:DS-PL2").plot())
save("inspect-margins", reluflow.inspect("gen:orthant,n=40,d=5").plot())
save("train", reluflow.train("gen:orthant,n=60,d=5", steps=3000, rate=0.1).plot())
save("certify", reluflow.certify(orthant, "gen:orthant,n=40,d=5").plot())
save("classes", reluflow.flow("gen:multiclass-orthant", width=8).plot())
