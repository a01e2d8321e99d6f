"""Hook of the site (mkdocs.yml): the explorer on the first page, where `./bootstrap web` has built it; otherwise its picture
stays there, with a link."""
import pathlib
import re
import shutil

PAGE = "explorer.html"


def built(config):
    """The page of the explorer; None where it was not built."""
    page = pathlib.Path(config["config_file_path"]).parent / "build-web" / "reluflow.html"
    return page if page.exists() else None


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri != "index.md" or built(config) is None:
        return markdown
    frame = f'<iframe class="explorer" src="{PAGE}" title="The explorer" loading="lazy"></iframe>\n\n[The explorer on a page of its own]({PAGE}){{target=_blank}}'
    changed, count = re.subn(r"^\[!\[.*\{#explorer\}$", frame, markdown, flags=re.M)
    assert count == 1, "index.md has lost the picture of the explorer"
    return changed


def on_post_build(config):
    page = built(config)
    if page is not None:
        shutil.copy(page, pathlib.Path(config["site_dir"]) / PAGE)
