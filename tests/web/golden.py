"""Golden cases in the engine of the page: the same limits, directions and events as the program, to 1e-12; directions
to 1e-11 where the program itself says that it does not know them better (direction_error).

golden.py ENGINE_FOLDER [PAGE.html]: with a page in Chromium, otherwise under node. RELUFLOW names the program."""

import json
import sys

import kit

CLOSE = 1e-12  # both run the same code; rounding differs by the order of sums in the linear algebra
APART = 1e-11  # shares of merged neurons are integrated, and the length of a step hangs on the last bit of its error


def distance(a, b):
    if isinstance(a, list):
        return max((distance(x, y) for x, y in zip(a, b)), default=0.0) if len(a) == len(b) else float("inf")
    if a is None or b is None:
        return 0.0 if a is b else float("inf")
    return abs(a - b)


def compare(name, here, there):
    """What differs, as text; and the largest difference of numbers."""
    mine, theirs = here["limit"], there["limit"]
    numbers = {key: distance(mine[key], theirs[key]) for key in ("margin", "W", "a")}
    known = max(CLOSE, min(APART, theirs["direction_error"] or 0))
    allowed = {"margin": CLOSE, "W": known, "a": known}
    wrong = [f"{name}: {key} differs by {value:.3g}" for key, value in numbers.items() if not value <= allowed[key]]
    for key in ("status", "support", "dead", "vanishing"):
        if mine[key] != theirs[key]:
            wrong.append(f"{name}: {key} is {mine[key]}, the program says {theirs[key]}")
    order = [[(e["neuron"], e["sample"], e["kind"]) for e in result["events"]] for result in (here, there)]
    if order[0] != order[1]:
        wrong.append(f"{name}: the events come in another order ({len(order[0])} and {len(order[1])})")
    return wrong, max(numbers.values())


def main(folder, page=None):
    engine = kit.Page(page) if page else kit.Node(folder)
    failures, worst, slow = [], 0.0, []
    for name, words, files, start, net in kit.golden_cases():
        status, expected, err, seconds = kit.native(words, files, net)
        answer = engine.ask([*words, "--weights", "(network)"], files, start)
        if answer["status"] != status or not answer["text"] or not expected:
            failures.append(f"{name}: status {answer['status']} ({answer['error']}), the program's {status} ({err.strip()})")
            continue
        wrong, largest = compare(name, json.loads(answer["text"]), expected)
        failures += wrong
        worst = max(worst, largest)
        slow.append(answer["ms"] / 1000 / seconds)
    engine.close()
    if page:
        failures += [f"console: {line}" for line in engine.errors]
    print("\n".join(failures) or f"{len(slow)} golden cases {'in Chromium' if page else 'under node'}, largest difference {worst:.2g}")
    return 1 if failures or len(slow) < 13 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
