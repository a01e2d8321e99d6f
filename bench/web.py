"""The explorer in Chromium: size, first picture, answer after a drag, and the golden cases against the program.

python bench/web.py PAGE.html; RELUFLOW names the program. Wall-clock times of a machine that is otherwise idle."""

import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/web"))
import kit  # noqa: E402

DRAG = """async (step) => {
  const {app} = reluflow, x = app.state.X[3];
  app.movePoint(3, [x[0] + step, x[1] + step / 2]);
  const round = app.round, answered = app.times.answer;
  while (app.times.answer === answered || round !== app.round) await new Promise((r) => setTimeout(r, 1));
  return [app.times.answer, app.times.flow, app.times.best];
}"""


def main(path):
    size = pathlib.Path(path).stat().st_size
    first = []
    for _ in range(5):
        page = kit.Page(path, "data=gen:planar&width=50")
        first.append(page.js("reluflow.app.times.first"))
        page.close()
    print(f"size of the page               {size / 1e6:.2f} MB (limit 1.5)")
    print(f"first picture after opening    {statistics.median(first):.0f} ms (median of 5: {min(first):.0f} to {max(first):.0f}; aim 1000)")
    for source in ("gen:orthant,n=20,d=2", "gen:teacher,n=20,d=2", "gen:gaussian,n=8,d=2,seed=1"):
        page = kit.Page(path, f"data={source}&width=50")
        times = [page.js(DRAG, 0.01 * (k + 1)) for k in range(12)]
        middle = [statistics.median(column) for column in zip(*times)]
        print(f"after a drag, {source:28} limit and optimum {middle[0]:.0f} ms (the limit alone {middle[1]:.0f}, optimum {middle[2]:.0f}; aim 100)")
        page.close()
    node = kit.Node(pathlib.Path(path).parent / "engine")
    for source in ("gen:orthant,n=20,d=2", "gen:teacher,n=20,d=2", "gen:gaussian,n=8,d=2,seed=1"):
        fast = ["--width", "50", "--verdict", "0", "--no-audit", "--trace", "0", "--branches", "all", "--once", "--detail", "full"]
        words = {"limit": ["flow", source, *fast], "optimum": ["maxmargin", source], "film": ["flow", source, *fast, "--frames", "160"]}
        cpu = {name: min(node.ask(list(line))["cpu"] for _ in range(8)) for name, line in words.items()}
        print(f"the same as CPU time, {source:28} limit {cpu['limit']:.0f} ms + optimum {cpu['optimum']:.0f} ms; then the frames {cpu['film']:.0f} ms")
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
