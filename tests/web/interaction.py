"""The explorer as people use it, in Chromium: interaction.py PAGE.html. Every check names itself when it fails."""

import json
import pathlib
import re
import sys
import tempfile

import kit

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def margin(page):
    return page.js("reluflow.app.film.flow.limit.margin")


def best(page):
    return page.js("reluflow.app.best && reluflow.app.best.margin")


def text(page, selector):
    return page.page.text_content(selector)


def at(page, x):
    """Where a point of the plane is on the screen."""
    return page.js("""([x, y]) => { const p = reluflow.app.plane, b = p.svg.getBoundingClientRect(), s = p.toScreen([x, y]);
      return [b.left + s[0] / 400 * b.width, b.top + s[1] / 400 * b.height]; }""", x)


def drag_a_point(page):
    before, old = page.js("reluflow.app.state.X[0]"), margin(page)
    x, y = at(page, before)
    mouse = page.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20, y + 12, steps=4)
    mouse.up()
    page.wait()
    after = page.js("reluflow.app.state.X[0]")
    check(after != before, "drag: the point did not move")
    check(margin(page) != old and margin(page) > 0, "drag: the limit did not change")
    check(best(page) >= margin(page) * (1 - 1e-7), "drag: the optimum is below the limit")
    check("points=" in page.page.url, "drag: the link still names the catalogue")
    check(page.js("reluflow.app.times.answer") < 20000, "drag: no answer")


def add_flip_delete(page):
    n = page.js("reluflow.app.state.X.length")
    box = page.page.locator("#plane svg").bounding_box()
    page.page.mouse.click(box["x"] + box["width"] * 0.82, box["y"] + box["height"] * 0.62)
    page.wait()
    check(page.js("reluflow.app.state.X.length") == n + 1, "click: no point was added")
    label = page.js("reluflow.app.state.y.at(-1)")
    page.page.click("#flip")
    page.wait()
    check(page.js("reluflow.app.state.y.at(-1)") == -label, "flip: the class is the same")
    page.page.click("#remove")
    page.wait()
    check(page.js("reluflow.app.state.X.length") == n, "delete: the point is still there")


def play(page):
    page.js("reluflow.app.goTo(0)")
    check(text(page, "#moment b") == "t = 0", "play: does not begin at t = 0")
    page.page.click("#play")
    page.page.wait_for_timeout(700)
    check(0 < page.js("reluflow.app.position") < 1, "play: time does not pass")
    page.page.click("#play")
    stopped = page.js("reluflow.app.position")
    page.page.wait_for_timeout(200)
    check(page.js("reluflow.app.position") == stopped, "pause: time goes on")
    page.js("reluflow.app.goTo(1)")
    check(text(page, "#moment b") == "t = ∞", "the end is not t = ∞")


def change_scale(page):
    for scale in ("1e-300", "limit", "1"):
        page.js("""(scale) => { const s = document.getElementById("scale"), list = [...Array(+s.max + 1).keys()];
          const want = {"1e-300": s.max - 1, limit: s.max, 1: 0}[scale]; s.value = want; s.dispatchEvent(new Event("input")); }""", scale)
        page.wait()
        check(page.js("reluflow.app.state.scale") == scale, f"scale {scale}: not taken")
        check(page.js("reluflow.app.flow.log_scale") == (None if scale == "limit" else page.js("Math.log(Number(reluflow.app.state.scale))")) or abs(page.js("reluflow.app.flow.log_scale || 0") - page.js("Math.log(Number(reluflow.app.state.scale)) || 0")) < 1e-9, f"scale {scale}: the engine used another")


def share_round_trip(page, path):
    before, last = page.page.url, None
    page.js("reluflow.app.goTo(0.37)")
    for _ in range(50):  # the address follows after a while, longer on a busy machine
        page.page.wait_for_timeout(400)
        if page.page.url != before and page.page.url == last:
            break
        last = page.page.url
    url, old = page.page.url, margin(page)
    other = kit.Page(path, url.split("#", 1)[1])
    check(margin(other) == old, f"link: margin {margin(other)} instead of {old}")
    check(abs(other.js("reluflow.app.position") - 0.37) < 1e-3, "link: another moment")
    check(other.js("JSON.stringify(reluflow.app.state)") == page.js("JSON.stringify(reluflow.app.state)"), "link: another state")
    failures.extend("link, console: " + line for line in other.errors)
    other.close()


def same_as_the_program(page):
    """The command line that the page hands out gives the same margin, to rounding."""
    with tempfile.TemporaryDirectory() as folder:
        import os
        import subprocess

        line = page.js("reluflow.commandLine(reluflow.app.state)")
        script = line.replace("reluflow explain", f"'{os.environ['RELUFLOW']}' explain") + " --json\n"
        run = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
        found = json.loads(run.stdout)["flow"]["limit"]["margin"] if run.stdout else None
        check(found is not None and abs(found - margin(page)) <= 1e-12, f"command line: margin {found}, the page has {margin(page)} ({run.stderr})")


def bad_csv(page):
    before = page.js("JSON.stringify(reluflow.app.state)")
    for content in ("1,2,1\n3,x,-1\n", "1,2,1\n3,-1\n", "", "a\n1\n", "1,2,0\n2,1,1\n3,3,2\n"):
        page.page.click("#paste")
        page.page.fill("#csv", content)
        page.page.click("#take-csv")
        page.page.wait_for_function("document.getElementById('csv-error').textContent.length > 5")
        said = text(page, "#csv-error")
        check(page.page.is_visible("#csv"), f"bad CSV {content!r}: the dialog closed")
        check(page.page.input_value("#csv") == content, "bad CSV: the text is lost")
        check(page.js("JSON.stringify(reluflow.app.state)") == before, f"bad CSV {content!r}: the points are lost ({said})")
        page.page.click("#close")
    page.page.click("#paste")
    page.page.fill("#csv", "1,2,b\n-1,0.5,a\n0.5,-1,a\n")
    page.page.click("#take-csv")
    page.page.wait_for_function("reluflow.app.state.X.length === 3")
    page.wait()
    check(page.js("JSON.stringify(reluflow.app.state.y)") == "[1,-1,-1]", "CSV: other classes")


def proof(page):
    page.page.click("#share")
    page.page.click("#prove")
    page.page.wait_for_function("/accepted|rejected|malformed|proof could/.test(document.getElementById('proof-verdict').textContent)", timeout=60000)
    said = text(page, "#proof-verdict")
    check("accepted optimum" in said, f"proof: {said}")
    for name in ("svg", "csv", "points", "json"):
        with page.page.expect_download(timeout=60000) as download:
            page.page.click(f"#save-{name}")
        content = pathlib.Path(download.value.path()).read_text()
        check(len(content) > 50, f"export {name}: empty")
        if name == "json":
            check(json.loads(content)["limit"]["margin"] == margin(page), "export json: another margin")
    page.page.click("#close")


def lessons(page):
    for k in range(page.js("reluflow.lessons.length")):
        page.page.click("#lessons")
        page.page.click(f"[data-lesson='{k}']")
        page.page.wait_for_selector("[data-choice]")
        page.wait()
        title = page.js("k => reluflow.lessons[k].title", k)
        for part in ("#limit-margin", "#sentences", "#slider", "#charts svg"):
            check(not page.page.locator(part).first.is_visible(), f"lesson {title}: {part} tells the answer before it is asked")
        check(page.js("k => reluflow.lessons[k].holds(reluflow.facts())", k), f"lesson {title}: the run does not show it")
        right = page.js("k => reluflow.lessons[k].right", k)
        page.page.click(f"[data-choice='{right}']")
        check(page.page.locator("#limit-margin").is_visible() and page.page.locator("#slider").is_enabled(), f"lesson {title}: the result stays hidden")
        check(text(page, "#lesson-answer").startswith("Right."), f"lesson {title}: {text(page, '#lesson-answer')}")
        page.js("reluflow.app.timeline.stop()")
    page.page.click("#end-lesson")


def branching(page):
    page.js("reluflow.app.open('points=0,1,+;1,-0.5,+&start=1,0,1&scale=1e-6')")
    page.page.wait_for_function("reluflow.app.state.X.length === 2 && (reluflow.app.flow.continuations || []).length > 1")
    page.wait()
    check(page.page.locator("#branches button").count() >= 2, "branching: the ways are not shown")
    page.page.locator("#branches button").nth(1).click()
    check(page.js("reluflow.app.branch") == 1, "branching: the second way is not taken")


def move_a_neuron(page):
    page.js("reluflow.app.open('data=gen:planar&width=6')")
    page.page.wait_for_function("reluflow.app.state.source === 'gen:planar' && reluflow.app.film && reluflow.app.film.m === 6")
    page.wait()
    page.page.click("#loose")
    page.page.wait_for_timeout(50)
    disc = page.page.locator("#circle .neuron circle").first.bounding_box()
    mouse = page.page.mouse
    mouse.move(disc["x"] + disc["width"] / 2, disc["y"] + disc["height"] / 2)
    mouse.down()
    box = page.page.locator("#circle svg").bounding_box()
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.2, steps=3)
    mouse.up()
    page.wait()
    check(page.js("!!reluflow.app.state.start"), "neuron: the start is not the page's own")
    check("start=" in page.js("reluflow.toFragment(reluflow.app.state)"), "neuron: not in the link")
    said = text(page, "#sentences")
    check("From 6 neurons (given start" in said and f"{margin(page):.12g}" in said, f"neuron: the words are not about the moved start: {said}")
    check(page.page.locator("#by-hand").count() == 1, "neuron: nothing says that the start is the user's")
    check("--weights start.json" in page.js("reluflow.commandLine(reluflow.app.state)") and "weights=net" in page.js("reluflow.python(reluflow.app.state)"), "neuron: the command does not take the start")
    same_as_the_program(page)
    page.page.click("#loose")
    page.page.click("#undo-start")
    page.wait()
    check("(balanced start" in text(page, "#sentences") and page.page.locator("#by-hand").count() == 0, "neuron: the words still speak of the moved start")


def far_away(page, path):
    """A point far away stands at the edge and leaves the others their size; wheel, buttons, keys, fingers; in the link."""
    page.js("reluflow.app.open('points=1,0.4,%2B;0.5,1.2,%2B;-0.9,0.3,-;-0.6,-1,-;300,50,%2B&width=8')")
    page.page.wait_for_function("reluflow.app.state.X.length === 5")
    page.wait()
    near = "() => Math.abs(reluflow.app.plane.toScreen([1, 0])[0] - 200)"
    view = "() => JSON.stringify(reluflow.app.state.view)"
    check(page.js(near) > 100, f"far point: the others are specks, 1 is {page.js(near):.1f} of 200 long")
    check(page.page.locator(".point.out").count() == 1, "far point: not at the edge")
    check("outside" in text(page, "#plane-note"), "far point: nothing says that it is outside")
    page.page.click("#fit")
    check(page.page.locator(".point.out").count() == 0 and page.js(near) < 2, "Fit does not show all points")
    page.page.click("#fit")
    check(page.js(near) > 100 and page.js(view) == "null", "Fit again does not go back to the many")
    box = page.page.locator("#plane svg").bounding_box()
    place = [box["x"] + 0.7 * box["width"], box["y"] + 0.3 * box["height"]]
    under = "() => reluflow.app.plane.toData(280, 120)"
    before = page.js(under)
    page.page.mouse.move(*place)
    page.page.mouse.wheel(0, -300)
    page.page.wait_for_function("reluflow.app.state.view")
    check(max(abs(a - b) for a, b in zip(page.js(under), before)) < 5e-3, "wheel: the place under the pointer moves")
    wide = page.js("reluflow.app.plane.reach")
    page.page.locator(".point").first.focus()
    for key, way in (("+", -1), ("-", 1)):
        old = page.js("reluflow.app.plane.reach")
        page.page.keyboard.press(key)
        check((page.js("reluflow.app.plane.reach") - old) * way > 0, f"key {key} does not zoom")
    page.page.click("#closer")
    check(page.js("reluflow.app.plane.reach") < wide, "the button + does not zoom")
    count, old = page.js("reluflow.app.state.X.length"), page.js(view)
    page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.15 * box["height"])
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"], steps=3)
    page.page.mouse.up()
    check(page.js(view) != old and page.js("reluflow.app.state.X.length") == count, "a drag of the ground does not move the picture, or adds a point")
    link = page.js("reluflow.toFragment(reluflow.app.state, 1)")
    other = kit.Page(path, link)
    check(other.js(view) == page.js(view), "zoom: not in the link")
    other.close()
    page.page.keyboard.press("0")


def two_fingers(path):
    """Touch: a tap adds a point, two fingers zoom and add nothing, one finger leaves the page its scrolling."""
    page = kit.Page(path, "data=gen:planar&width=6", width=390, height=844, touch=True)
    box = page.page.locator("#plane svg").bounding_box()
    n, wide = page.js("reluflow.app.state.X.length"), page.js("reluflow.app.plane.reach")
    fingers = lambda a, b: [{"x": box["x"] + a * box["width"], "y": box["y"] + 0.5 * box["height"], "id": 1}, {"x": box["x"] + b * box["width"], "y": box["y"] + 0.52 * box["height"], "id": 2}]
    client = page.context.new_cdp_session(page.page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(0.45, 0.55)})
    for k in range(1, 6):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(0.45 - 0.05 * k, 0.55 + 0.05 * k)})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.page.wait_for_timeout(100)
    check(page.js("reluflow.app.plane.reach") < 0.5 * wide, f"two fingers: {page.js('reluflow.app.plane.reach')} of {wide}")
    check(page.js("reluflow.app.state.X.length") == n, "two fingers: a point was added")
    page.page.touchscreen.tap(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"])
    page.wait()
    check(page.js("reluflow.app.state.X.length") == n + 1, "tap: no point was added")
    check(page.js("getComputedStyle(reluflow.app.plane.svg).touchAction") == "pan-y", "one finger on the picture cannot scroll the page")
    failures.extend("two fingers, console: " + line for line in page.errors)
    page.close()


def doubtful(page):
    """What the quick run calls a limit is being confirmed until the two runs of the words agree, and undecided where they do not."""
    page.js("reluflow.app.open('data=gen:planar&width=6')")
    page.page.wait_for_function("reluflow.app.state.source === 'gen:planar' && reluflow.app.film && reluflow.app.film.m === 6")
    page.wait()
    check(page.js("reluflow.app.checked.status") == "converged" and text(page, "#status") == "converges", "a limit that two runs agree on is not called so")
    page.js("reluflow.app.checked = null; reluflow.app.wordsBusy = true; reluflow.app.show()")
    check(text(page, "#status") == "confirming…" and "The flow" not in text(page, "#verdict"), f"one run is said to be the limit: {text(page, '#verdict')}")
    page.js("reluflow.app.wordsBusy = false; reluflow.app.show()")
    check(text(page, "#status") == "one run", "a limit that nothing confirmed is not called so")
    page.js("reluflow.app.checked = {status: 'undecided', why: 'runs at different settings end 0.4 apart'}; reluflow.app.show()")
    check(text(page, "#status") == "undecided" and "0.4 apart" in text(page, "#verdict") and text(page, "#limit-margin") == "–", f"a doubtful limit is shown as one: {text(page, '#verdict')}")


def strange_words(page):
    """Names that every object has are no claims, no data and no settings."""
    for name in ("toString", "__proto__", "constructor", "hasOwnProperty", "valueOf"):
        proof = f"reluflow-proof 1\nclaim {name}\n"
        line = page.js("text => reluflow.engine.ask({check: new TextEncoder().encode(text)}).then((r) => r.line)", proof)
        check(line.startswith("malformed") or line.startswith("rejected"), f"claim {name}: {line}")
        for part in ("loss", "init"):
            said = page.js("link => { try { reluflow.fromFragment(link); return ''; } catch (error) { return error.message; } }", f"data=gen:xor&{part}={name}")
            check(name in said, f"link with the {part} {name}: {said!r}")
        page.page.click("#paste")
        page.page.fill("#csv", f"{name},constructor,label\n1,2,{name}\n-1,0.5,__proto__x\n")
        page.page.click("#take-csv")
        page.page.wait_for_function("!document.getElementById('dialog').open || document.getElementById('csv-error').textContent.length > 5")
        check(not page.js("document.getElementById('dialog').open"), f"class {name}: {text(page, '#csv-error')}")
        page.wait()
        check(page.js("reluflow.app.state.X.length") == 2 and margin(page) > 0, f"class {name}: not taken")


def space(page):
    for source, kind in (("gen:separated,d=3", "ball"), ("gen:orthant,n=12,d=5", "shadow")):
        page.js("s => reluflow.app.open('data=' + s + '&width=10')", source)
        page.page.wait_for_function("s => reluflow.app.state.source === s && reluflow.app.film && reluflow.app.film.d > 2", arg=source)
        page.wait()
        check(page.js("reluflow.app.plane.kind") == kind, f"{source}: shown as {page.js('reluflow.app.plane.kind')}")
        if kind == "ball":
            before = page.js("JSON.stringify(reluflow.app.plane.toScreen(reluflow.app.state.X[0]))")
            box = page.page.locator("#circle svg").bounding_box()
            page.page.mouse.move(box["x"] + 60, box["y"] + 60)
            page.page.mouse.down()
            page.page.mouse.move(box["x"] + 120, box["y"] + 90, steps=3)
            page.page.mouse.up()
            place = "JSON.stringify(reluflow.app.plane.toScreen(reluflow.app.state.X[0]))"
            check(page.js(place) != before, "the sphere does not turn")
            for part in ("#circle svg", "#plane .point"):
                before = page.js(place)
                page.page.locator(part).first.focus()
                page.page.keyboard.press("ArrowLeft")
                check(page.js(place) != before, f"arrow keys do not turn the sphere at {part}")
        else:
            check("%" in text(page, "#plane-note"), "projection: nothing is said about what is lost")


def keyboard(path):
    """Without a mouse: every control is reached by Tab, a point is moved, flipped, deleted, time moves."""
    page = kit.Page(path, "data=gen:xor&width=12")
    reached = set()
    for _ in range(60):
        page.page.keyboard.press("Tab")
        reached.add(page.js("document.activeElement.id || document.activeElement.getAttribute('class') || document.activeElement.tagName"))
    for name in ("catalogue", "paste", "lessons", "share", "point", "play", "slider", "scale", "width", "leak", "loss", "init", "seed", "bias"):
        check(any(name in item for item in reached), f"keyboard: {name} is not reached")
    page.js("document.querySelector('.point').focus()")
    before = page.js("reluflow.app.state.X[0]")
    page.page.keyboard.press("ArrowRight")
    page.wait()
    check(page.js("reluflow.app.state.X[0][0]") > before[0], "keyboard: the arrow does not move the point")
    label = page.js("reluflow.app.state.y[0]")
    page.page.keyboard.press("Enter")
    page.wait()
    check(page.js("reluflow.app.state.y[0]") == -label, "keyboard: Enter does not flip")
    page.page.keyboard.press("Delete")
    page.wait()
    check(page.js("reluflow.app.state.X.length") == 3, "keyboard: Delete does not delete")
    page.page.keyboard.press("0")
    page.js("document.getElementById('loose').click(); document.querySelector('#circle .neuron').focus()")
    page.page.keyboard.press("ArrowLeft")
    page.wait()
    check(page.js("!!reluflow.app.state.start"), "keyboard: the arrow does not move the neuron")
    page.js("document.getElementById('loose').click()")
    page.js("document.getElementById('slider').focus()")
    page.page.keyboard.press("Home")
    check(page.js("reluflow.app.position") == 0, "keyboard: Home is not t = 0")
    page.page.keyboard.press("ArrowRight")
    check(page.js("reluflow.app.position") > 0, "keyboard: the slider does not move")
    failures.extend("keyboard, console: " + line for line in page.errors)
    page.close()


def widths(path, pictures):
    for width in (390, 1280):
        for dark in (False, True):
            page = kit.Page(path, "data=gen:xor&width=30", width=width, height=844 if width < 500 else 900, dark=dark, touch=width < 500)
            where = f"{width} px, {'dark' if dark else 'light'}"
            check(page.js("document.documentElement.scrollWidth") <= width, f"{where}: the page is wider than the screen")
            sticks = page.js("""() => [...document.querySelectorAll("main *")].filter((e) => { const r = e.getBoundingClientRect();
              return r.width && !e.closest("svg") && (r.right > innerWidth + 1 || r.left < -1); }).map((e) => e.id || e.className || e.tagName)""")
            check(not sticks, f"{where}: sticks out: {sticks[:5]}")
            covered = page.js("""() => [...document.querySelectorAll("#plane .point")].filter((e) => { const r = e.getBoundingClientRect();
              return !document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).closest("#plane svg"); }).length""")
            check(covered == 0, f"{where}: {covered} points are under buttons")
            ground = page.js("getComputedStyle(document.body).backgroundColor")
            light = sum(map(int, re.findall(r"\d+", ground)[:3])) > 380
            check(light != dark, f"{where}: the page is {ground}")
            failures.extend(f"{where}, console: {line}" for line in page.errors)
            if pictures:
                page.page.screenshot(path=f"{pictures}/explorer-{width}-{'dark' if dark else 'light'}.png", full_page=True)
            page.close()


def main(path, pictures=None):
    page = kit.Page(path, "data=gen:planar&width=20")
    drag_a_point(page)
    add_flip_delete(page)
    play(page)
    change_scale(page)
    share_round_trip(page, path)
    same_as_the_program(page)
    proof(page)
    bad_csv(page)
    lessons(page)
    branching(page)
    move_a_neuron(page)
    far_away(page, path)
    strange_words(page)
    doubtful(page)
    space(page)
    failures.extend("console: " + line for line in page.errors)
    page.close()
    keyboard(path)
    two_fingers(path)
    widths(path, pictures)
    print("\n".join(failures) or "dragged, flipped, played, shared, proved, learned; by mouse and by keyboard, wide and narrow, light and dark")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
