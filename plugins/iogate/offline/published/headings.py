"""What a heading says is measured below it: which kind of figure, which part of it, of how many."""

from __future__ import annotations

import re

from iogate.offline.published.cells import LATENCIES

_LATENCY_ELSEWHERE = (
    r"延[迟遲]|[时時]延|遅延|レイテンシー?|지연(?: ?시간)?|задержк\w|отклик\w?|响应时间"
    r"|應答時間|応答時間|độ trễ"
    r"|latênci\w|latencia\b|latentie\b|latens\b|opóźnieni\w|gecikme|temps de réponse"
    r"|tiempo de respuesta|tempo di risposta|tempo de resposta"
)
_BANDWIDTH_ELSEWHERE = (
    r"带宽|頻寬|吞吐量?|帯域幅?|スループット|대역폭|처리량|пропускн\w+ способност\w|durchsatz"
)
"""The words of other languages than those with Latin roots, which are names of waiting as well."""
_KINDS: tuple[tuple[str, str], ...] = (
    ("slat", r"\bslat(?:ency)?[\d.]*\b|\bsub(?:m(?:it)?)?\.? ?lat(?:ency)?\b|submission(?! *(?:time|rate))"),
    (
        "clat",
        r"\bclat(?:ency)?[\d.]*\b|(?<!to )(?<!job )completion(?! *(?:time|rate|%|[\[(]s(?:ec\w*)?[\])]))",
    ),
    ("iops", r"\b[km]?iops\b|\b(?:i/?os?|i/?o op(?:eration)?s|ops)(?: ?/ ?| per )s(?:ec(?:ond)?)?\b"),
    ("bandwidth", rf"\bbw\b|bandwidth|throughput|{_BANDWIDTH_ELSEWHERE}"),
    ("lat", rf"\bt?lat[\d.]*\b|latency|{_LATENCY_ELSEWHERE}"),
    (
        "depth",
        r"(queue|io|i/o)[ _-]*(depth|length)|\bqd\b|\boio\b"
        r"|\b(?:outstanding|in[ -]flight|concurrent)[ _-]*(?:i/?os?|requests|commands)\b(?! ?(?:/|per) ?s)",
    ),
    (
        "block",  # the recordsize of ZFS, in one word, is none of I/O
        r"(?<![a-z])(?:(?:i/?o)?(?:block|access|i/?o|request)[ _-]*|(?:ior )?(?:transfer|xfer)[ _-]*"
        r"|record[ _-]+)(?:size|length)|\bbs\b|^block$",
    ),
    ("size", r"size of file|file[ _-]*size|^(?:read|write)s?[ _-]*size"),  # of each, or of all: none says
    ("jobs", r"\bjobs\b|numjobs|threads|processes"),
    (
        "copies",
        r"(?<!\d )\b(?:drives|disks|ssds|hdds|nvmes|nodes|hosts|clients|servers|vms|os[dt]s|devices|volumes"
        r"|luns|namespaces|instances|replicas|containers|pods|gpus|targets|controllers|ports|ranks|initiators)\b"
        r"|\b(?:drive|disk|ssd|hdd|nvme|node|host|client|server|vm|os[dt]|device|volume|lun|gpu)[ -]count\b",
    ),
)
MEASURED = frozenset({"iops", "bandwidth", *LATENCIES})
COUNTED = frozenset({"iops", "block", "size", "depth", "copies"})
"""What has no unit, or that of a size: its heading may say of how many, or of what."""
_PERCENTILE = re.compile(
    r"(?<!\d)(\d+(?:\.\d+)?)\s*(?:th|st|nd|rd)?[ -]*(?:percentile|%-?ile|pctl?\b)|\bp(\d+(?:\.\d+)?)\b"
)
_PARTS = (("min", r"(?<!\d)(?<!\d )\bmin"), ("max", r"\bmax"))
_OF_LATENCY = r"(?= *(?:$|[)\](,]|[csn]?lat|latency|completion|submission|[num]s\b))"
_TAIL = re.compile(
    rf"lat(9\d(?:\.\d+)?)\b|\b([5-9]\d(?:\.\d+)?) ?(?:th\b|%{_OF_LATENCY})"
    r"|\b(9[059](?:\.9+)?)(?= *(?:$|[)(\[\]]))"
    r"|\b[cs]?lat(?:ency)? ?(50|75|9[059]9*(?:\.9+)?)(?= *(?:$|[mnuµμ]s\b))"
)
_TAILS = (("max", rf"\bworst(?:[ -]case)?{_OF_LATENCY}"), ("tail", rf"\btail{_OF_LATENCY}"))
_MEAN = re.compile(r"\bavg|\baverage|\bmean")
"""Of latencies alone: of IOPS it says how full the drive was, or which of several runs they are of."""
_READS = r"reads?|чтен\w+|lecture|lesen|lectura|leitura|lettura"
_WRITES = r"writes?|запис\w+|[ée]criture|schreiben|escritura|escrita|scrittura"
_DIRECTION = re.compile(
    rf"\b(?:(?P<pattern>seq|rand)(?:uential|om)?[ _-]*)?(?:(?P<read>{_READS})|{_WRITES})\b"
    r"|(?P<reads>读(?!取?[写/])取?|讀(?!取?[寫/])取?|読(?!み?(?:込み|取り)?[書/])み?(?:込み|取り)?|읽기)"
    r"|(?<![读取/])写入?|(?<![讀取/])寫入?|(?<![読み取り/])書き(?:込み?)?|쓰기"
)
_LETTER = re.compile(r"(?<![/\w])(?:(?P<reads>rd?)|wr?)(?! ?/|\w)")
"""The same of a figure: `r_iops`, `IOPS (W)`; a W beside no figure is a watt."""
_PATTERNS = {"seq": "sequential ", "rand": "random "}
_RATE = re.compile(r"\b([kmgt])(i?)b( s| sec|ps|/s|$)")  # as in read_mb_s, and in bw_mib, where it is no size
_THOUSANDS = re.compile(  # a K behind a number is of a block size
    r"(?<!\d)(?<!\d[ ‐‑–-])\b([km])[ -]?iops\b|[(\[]([km])(?:iops)?(?:/s)?[)\]]"
    r"|(?<!\d)(?<!\d[ ‐‑–-])\b(k)(?:ops|ios?)?\b(?! ?=|-\w)"
    r"|\bkilo[ -]?iops\b|[(\[][x×]? ?(?:['’ʼ]|1[ ,.]?)?000(?:['’]?s)?[)\]]"
    r"|\bthousands?\b|\bтыс(?:яч\w?)?\b|\bтис\b|\btsd\b|[x×] ?1000\b|\b1e3\b|10³|10\^3(?!\d)"
)
_OTHERWISE = re.compile(  # of IOPS: what is not understood
    r"[(\[/][^)\]]*(?:million|000|10\^|kilo)|\bkilo|\bmillion|\bмлн\b|\bmio\b|\b1e\d|10[⁰¹²⁴-⁹]"
)
_PREFIX = re.compile(r"(?<!\d)[(\[ ]([kmg])(?:i?b)?[)\]]?$")  # as in Size [KiB], bs_kb
_CONDITIONS = (
    (
        re.compile(
            r"[(\[]?\b(?:at |with )?(?:(?:i/?o ?|queue ?)?depth(?: of)?[ =:]*|qd[ =:]+)"
            r"(\d{1,4})(?![\w.-])[)\]]?"
        ),
        "qd",
    ),
    (
        re.compile(
            r"[(\[]?\b(?:at |with )?(?:(?:numjobs|jobs|threads)[ =:]+(\d{1,4})(?![\w.-])"
            r"|(\d{1,4}) ?(?:jobs?|threads?|processes)\b)[)\]]?"
        ),
        "t",
    ),
    (re.compile(r"[(\[]?\b(?:bs|block ?size)[ =:]+(\d+[km]i?b?)\b[)\]]?"), ""),
)
"""Words of how many were in flight, of how many jobs, in blocks of what size; with what is put for them."""
_DISKS = re.compile(r"\b(?:drives|disks|ssds|hdds|nvmes|devices|(?:drive|disk|ssd|hdd|nvme|device) count)\b")
_SHARED = re.compile(
    r"(?:total|aggregate|overall|global|outstanding|effective|all jobs)(?!.* per (?:job|thread|proc))"
)
SAYS_WHAT = (
    _PERCENTILE,
    _TAIL,
    _RATE,
    _THOUSANDS,
    _DIRECTION,
    _LETTER,
    *(re.compile(pattern) for _, pattern in _KINDS),
)
"""All that says of figures what they are, and not whose."""
BLOCK = re.compile(dict(_KINDS)["block"])


def kind_in(text: str) -> str:
    """Return the kind of figure that a text in small letters names; empty if none."""
    return next((kind for kind, pattern in _KINDS if re.search(pattern, text)), "")


def with_conditions(text: str) -> str:
    """Return a heading in small letters in which under what conditions figures were taken is a short word:
    `iops (queue depth 32)` is `iops qd32`, and no heading of depths.
    """
    for pattern, short in _CONDITIONS:
        for found in reversed([*pattern.finditer(text)]):
            text = f"{text[: found.start()]} {short}{found[found.lastindex or 1]} {text[found.end() :]}"
    return " ".join(text.split())


def part_in(text: str, kind: str) -> str:
    """Return the statistic that a heading names; empty for a mean, or if it names none."""
    found, parts = _PERCENTILE.search(text), list(_PARTS)
    if kind in LATENCIES and not _MEAN.search(text):
        found = found or _TAIL.search(text)
        parts += _TAILS
    if found:
        rank = next(filter(None, found.groups()))
        return (
            f"p{rank[:2]}.{rank[2:]}" if rank.isdecimal() and len(rank) > 2 and rank[0] == "9" else f"p{rank}"
        )
    return next((name for name, pattern in parts if re.search(pattern, text)), "")


def direction_in(text: str, kind: str) -> str:
    """Return the direction that a heading of a kind of figures names: `read`, `random write`; empty if
    none.
    """
    if found := _DIRECTION.search(text):
        what = "read" if found["read"] or found["reads"] else "write"
        return f"{_PATTERNS.get(found['pattern'], '')}{what}"
    letter = _LETTER.search(text) if kind in MEASURED else None
    return ("read" if letter["reads"] else "write") if letter else ""


def counted_in(text: str, kind: str) -> str:
    """Return of how many, or of what, the numbers of a kind below a heading are: k, M, G of what has no unit;
    `total` of depths, if they are of all jobs; `disks` of copies. Empty: one, or it is not said. What is not
    understood is no unit, and such numbers are not read.
    """
    if kind == "depth":
        return "total" if _SHARED.search(text) else ""
    if kind == "copies":
        return "disks" if _DISKS.search(text) else ""
    if kind == "iops":
        found = _THOUSANDS.search(text)
        if not found:
            return "?" if _OTHERWISE.search(text) else ""
        return (found[1] or found[2] or "k").replace("m", "M")
    prefix = _PREFIX.search(text)
    return prefix[1].upper() if prefix else ""


def rate_in(header: str, kind: str) -> str:
    """Return the rate that the name of a variable ends with (`bw_mb_s`: MB/s; `bw_gbps`, as it is written of
    bits: Gbps); empty if none.
    """
    found = _RATE.search(header.lower().replace("_", " ")) if "_" in header else None
    if not found or not (found[3] or kind == "bandwidth"):
        return ""
    as_bits = found[3] == "ps" and not found[2] and "Bps" not in header
    return f"{found[1].upper()}bps" if as_bits else f"{found[1].upper()}{found[2]}B/s"
