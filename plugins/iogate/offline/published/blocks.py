"""Block sizes in words: in the title above a table, and in a row's name of its test."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iogate.offline.published.cells import size_of
from iogate.offline.published.columns import Column

_LEADING_SIZE = re.compile(  # of a block: of disks, memory and files there are sizes, too
    r"(\d+ ?(?:[km]?i?b|k))(?:[ -]*(?:blocks?|bs|i/?os?|io|access\w*|records?)(?: *sizes?)?)?[ ,:-]*"
    r"(?:$|[(@]|(?:100% *)?(?:seq|rand|rnd|read|write|mix|exec|transfer|direct|sync|libaio|aligned|iodepth"
    r"|q(?:d|ueue)?\b|qd?\d|iops\b|t\d))",
    re.IGNORECASE,
)
_PARALLEL = (  # as `, QD32, 4 jobs`
    r"(?:[ ,;_-]*(?:(?:q(?:d|ueue(?: ?depth)?)?|t|threads?|jobs?|numjobs|iodepth)[ =:]?\d+(?!\d)"
    r"|(?<!\d)\d+ ?(?:jobs|threads)\b))*"
)
_SIZE_OF_A_TEST = re.compile(  # before the kind of access, or behind it
    r"(\d+ ?[km](?:i?b)?)(?:[ -]*(?:blocks?|bs|i/?os?|records?))?[ ,:_-]+(?:(?:100%|\d{1,2} ?/ ?\d{1,2}) *)?"
    r"(?:(?:aligned|direct|sync) +)?(?:seq|rand|rnd|read|write|mix|rw).*"
    r"|(?:[a-z0-9%/]+[ ,_-]+)*(?:seq\w*?|rand\w*?|rnd|reads?|writes?|rw|mix\w*?)[ ,_-]*"
    rf"(?:\((\d+ ?[km](?:i?b)?){_PARALLEL}\)|(\d+ ?[km](?:i?b)?)(?:[_-]\d{{1,3}}(?!\w))?)"  # of which number
    r"(?:[ ,_-]+(?:seq\w*?|rand\w*?|rnd|reads?|writes?|rw|mix\w*?))?"  # or between its words
    rf"{_PARALLEL}(?:[ ,:_-]+(?:iops|results?|performance|throughput|bandwidth|latency))*",
    re.IGNORECASE,
)
_SIZE_AND_DEPTH = re.compile(  # as `4k QD1`, and as CrystalDiskMark has it
    rf"(\d+ ?[km](?:i?b)?)(?=[ ,;_-]*(?:q|io ?depth)){_PARALLEL}", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?<![\w-])(?:--)?(?:bs|block[ _-]?size)(?: ?[=:] ?| )(\d+(?:[km](?:i?b)?)?)"
    r"(?![\w.:/-]|,(?! ?(?:i/?o ?depth|q(?:d|ueue)|num ?jobs|jobs|threads|\d+ (?:jobs|threads))))",
    re.I,
)
_A_SIZE = re.compile(r"(?<![\d.])\d+ ?[km](?:i?b)?(?![^\W_])", re.IGNORECASE)
_OF_TESTS = re.compile(
    r"(?:tests?|workloads?|jobs?|names?|patterns?|benchmarks?|cases?|access\w*|operations?|types?|mode|rw"
    r"|i/?o(?: *(?:type|pattern))?)?",
    re.IGNORECASE,
)
_NO_BLOCK = re.compile(
    r"cache|buffer|stripe|chunk|files?\b|journal|extent|object|read-?ahead|rpm", re.IGNORECASE
)
_COUNTED = re.compile(r"reads\b|writes\b", re.IGNORECASE)
_ANOTHER_SIZE = re.compile(r"\b\d+ ?[km]i?b?\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\A(?:(?:test|table|figure|fig\.?|run|case|step|part) ?)?\d+(?:\.\d+)*(?:[.:)]| [-–—]) +", re.I
)
_AROUND = " \t#*_=/<>!-:.`|"  # how a heading, or what stands out, is written
_LARGEST_BLOCK = 128 * 2**20
_LARGEST_OF_A_TEST = 16 * 2**20  # more is what is read or written in all


def block_of_title(title: str) -> int | None:
    """Return the block size that a title says: it begins with it, is the name of a test with one, or calls it
    so (`bs=4k`). None if it is the size of something else, or none, or if there are several.
    """
    title = _NUMBER.sub("", title.strip(_AROUND))
    if _NAMED.search(title):
        return _called(title)
    found = _LEADING_SIZE.match(title)
    if found:
        return _block(found[1]) if not _ANOTHER_SIZE.search(title[found.end(1) :]) else None
    return _of_name(title)


def names_test(heading: str) -> bool:
    """Return whether what is below a heading are names of tests."""
    return _OF_TESTS.fullmatch(heading.strip()) is not None


def _sized(cells: Sequence[str], columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Return the cells of a row that are no figures and have a size, with their headings."""
    words = [(cell, one.header) for cell, one in zip(cells, columns, strict=False) if not one.kind]
    return [(cell, header) for cell, header in words if _A_SIZE.search(cell)]


def may_have_own_block(cells: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether a row's name of its test has a size, which may be its block whatever the title says."""
    return any(
        (names_test(header) or _of_name(cell)) and not _NO_BLOCK.search(cell)
        for cell, header in _sized(cells, columns)
    )


def block_of_test(cells: Sequence[str], columns: Sequence[Column]) -> int | None:
    """Return the block size that a row's name of its test has, as `4k randread`, `Random read (64k)` and
    `4k QD1` do; None if it has none, or the row more than one size.
    """
    sized = _sized(cells, columns)
    if len(sized) != 1:
        return None
    ((cell, header),) = sized
    if not names_test(header):
        return None
    return _called(cell) if _NAMED.search(cell) else _of_name(cell)


def _called(text: str) -> int | None:
    """Return the size that words call the block's (`bs=4k`); None if there is another one beside it."""
    named, sizes = _NAMED.findall(text), {size_of(size) for size in _A_SIZE.findall(text)}
    return _block(named[0]) if len(named) == 1 and len(sizes) <= 1 else None


def _of_name(name: str) -> int | None:
    """Return the block size in the name of a test; None if it has none, or several sizes."""
    if found := _SIZE_AND_DEPTH.fullmatch(name):
        return _block(found[1], _LARGEST_OF_A_TEST)
    found = _SIZE_OF_A_TEST.fullmatch(name)
    if found is None or _NO_BLOCK.search(name) or len(_A_SIZE.findall(name)) > 1:
        return None
    text = next(filter(None, found.groups()))
    size = _block(text, _LARGEST_OF_A_TEST)
    counts = text[-1] in "kKmM" and (
        _COUNTED.search(name) or (text[-1] in "mM" and "seq" not in name.lower())
    )
    return size if size and not size & (size - 1) and not counts else None


def _block(text: str, most: int = _LARGEST_BLOCK) -> int | None:
    size = size_of(text)
    return size if size and size <= most else None
