"""The explorer in Chromium: size, first picture, answer after a drag, and the golden cases against the program.

python bench/web.py PAGE.html; RELUFLOW names the program. Wall-clock times of a machine that is otherwise idle."""

import json
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/web"))
import kit  # noqa: E402

SOURCES = ("gen:orthant,n=20,d=2", "gen:teacher,n=20,d=2", "gen:gaussian,n=8,d=2,seed=1", "gen:planar")
DRAGS = 100
DRAG = """async ([i, dx, dy]) => {
  const {app} = reluflow, x = app.state.X[i], reach = app.plane.reach;
  app.movePoint(i, [x[0] + dx * reach, x[1] + dy * reach]);
  const until = performance.now() + 20000; // a drag without an answer is told, not waited for
  while (app.times.round !== app.round) {
    if (performance.now() > until) throw new Error("no answer in 20 s: " + location.href);
    await new Promise((r) => setTimeout(r, 1));
  }
  return [app.times.answer, app.times.flow, app.times.best];
}"""


def dragged(node, source):
    """The points of a source, one of them a little elsewhere each time."""
    made = node.ask(["data", "make", source, "-o", "made.csv"], read=["made.csv"])["files"]["made.csv"]
    rows, draw = [list(map(float, line.split(","))) for line in made.strip().split("\n")[1:]], random.Random(1)
    reach = max(abs(v) for row in rows for v in row[:-1])
    for _ in range(DRAGS):
        row = rows[draw.randrange(len(rows))]
        row[0] += draw.gauss(0, 0.05) * reach
        row[1] += draw.gauss(0, 0.05) * reach
        yield rows


def drag_under_node(node, rows):
    """CPU milliseconds of the limit and of the optimum, asked for as the page does."""
    files = {"points.csv": "x1,x2,label\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)}
    fast = ["--width", "50", "--verdict", "0", "--no-audit", "--trace", "0", "--branches", "all", "--once", "--detail", "full", "--time", "20"]
    return [node.ask(words, files)["cpu"] for words in (["flow", "points.csv", *fast], ["maxmargin", "points.csv", "--time", "5"])]


def main(path):
    size = pathlib.Path(path).stat().st_size
    first = []
    for _ in range(5):
        page = kit.Page(path, "data=gen:planar&width=50")
        first.append(page.js("reluflow.app.times.first"))
        page.close()
    print(f"size of the page               {size / 1e6:.2f} MB (limit 1.5)")
    print(f"first picture after opening    {statistics.median(first):.0f} ms (median of 5: {min(first):.0f} to {max(first):.0f}; aim 1000)")
    for source in SOURCES:
        page = kit.Page(path, f"data={source}&width=50")
        draw, n = random.Random(1), page.js("reluflow.app.state.X.length")
        times = [page.js(DRAG, [draw.randrange(n), draw.gauss(0, 0.05), draw.gauss(0, 0.05)]) for _ in range(DRAGS)]
        whole, flow, best = ((statistics.median(column), max(column)) for column in zip(*times))
        print(f"after a drag, {source:28} limit and optimum {whole[0]:.0f} ms, worst of {DRAGS} {whole[1]:.0f} (the limit alone {flow[0]:.0f} and {flow[1]:.0f}, optimum {best[0]:.0f} and {best[1]:.0f}; aim 100)")
        page.close()
    node = kit.Node(pathlib.Path(path).parent / "engine")
    for source in SOURCES:
        cpu = [drag_under_node(node, rows) for rows in dragged(node, source)]
        flow, best, both = (sorted(column) for column in zip(*((a, b, a + b) for a, b in cpu)))
        print(f"the same as CPU time, {source:28} limit and optimum {both[DRAGS // 2]:.0f} ms, worst of {DRAGS} {both[-1]:.0f} (the limit alone {flow[DRAGS // 2]:.0f}, optimum {best[DRAGS // 2]:.0f})")
    node.close()
    page = kit.Page(path)
    here, there, ratios = 0.0, 0.0, []
    for name, words, files, start, net in kit.golden_cases():
        _, expected, _, _ = kit.native(words, files, net)
        runs = [json.loads(page.ask([*words, "--weights", "(network)"], files, start)["text"])["run"]["seconds"] for _ in range(3)]
        again = [expected["run"]["seconds"]] + [kit.native(words, files, net)[1]["run"]["seconds"] for _ in range(2)]
        ratios.append((min(runs) / min(again), name))
        here += min(runs)
        there += min(again)
    page.close()
    print(f"golden cases, browser/program  {here / there:.2f} in all (best {min(ratios)[0]:.2f} {min(ratios)[1]}, worst {max(ratios)[0]:.2f} {max(ratios)[1]})")


if __name__ == "__main__":
    main(*sys.argv[1:])
