"""Takes the pictures of the explorer again: python docs/make_explorer.py [PAGE.html [FOLDER]], with playwright and Chromium (as tests/web)."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "web"))
import kit  # noqa: E402

path = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build-web" / "reluflow.html"
folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs" / "pictures")

for name, fragment, position, view in (
    ("explorer", "data=gen:xor&width=30", 0.33, dict(width=1180, height=790)),
    ("explorer-phone", "data=gen:separated,d=3&width=30", 0.4, dict(width=390, height=844, dark=True, touch=True)),
):
    page = kit.Page(path, fragment, **view)
    page.js(f"reluflow.app.goTo({position})")
    page.page.wait_for_timeout(400)
    page.page.screenshot(path=str(folder / f"{name}.png"))
    assert not page.errors, page.errors
    page.close()
kit.Page.browser.close()
