"""The pages as a site: whole, with links that lead somewhere, and readable without network."""

import re
import subprocess
import sys

import pytest

from places import ROOT

LOADS = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    r"""|@import\s[^;]*//[^;]*;|url\(["']?(?:https?:)?//[^)]*\)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html"]
    done = subprocess.run(
        [*build, "-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # a page that is in no toctree belongs into docs/index.md
    return folder / "html"


def test_every_page_is_there(site):
    assert {page.stem for page in ROOT.glob("docs/*.md")} <= {page.stem for page in site.glob("*.html")}


def test_nothing_is_loaded_from_the_network(site):
    texts = {
        path: path.read_text(encoding="utf-8") for path in site.rglob("*") if path.suffix in (".html", ".css")
    }
    assert len(texts) > 20
    assert {path.name: LOADS.findall(text) for path, text in texts.items() if LOADS.search(text)} == {}


def test_the_search_needs_no_server(site):
    assert 'src="searchindex.js"' in (site / "search.html").read_text(encoding="utf-8")
    assert (site / "searchindex.js").read_text(encoding="utf-8").startswith("Search.setIndex(")


def test_what_would_be_loaded_is_seen():
    assert LOADS.search('<script defer src="https://cdn.example/x.js"></script>')
    assert LOADS.search("@import url(//fonts.example/css)") and LOADS.search(
        "src: url('https://f.example/a')"
    )
    assert not LOADS.search(
        '<a href="https://fio.readthedocs.io/">fio</a><script src="_static/x.js"></script>'
    )


def anchors(text):
    """The anchors of headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_links_of_pages_beside_the_site_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = ROOT / (path or page)
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), target
