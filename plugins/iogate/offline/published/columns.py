"""The columns of a table of figures: what each holds, by its heading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from iogate.offline.published.cells import LATENCIES, starts_number, unit_in
from iogate.offline.published.fio_fields import in_words

_LATENCY_ELSEWHERE = (
    r"延[迟遲]|[时時]延|遅延|レイテンシー?|지연(?: ?시간)?|задержк\w|响应时间|應答時間|応答時間|độ trễ"
    r"|latênci\w|latencia\b|latentie\b|latens\b|opóźnieni\w|gecikme|temps de réponse"
    r"|tiempo de respuesta|tempo di risposta|tempo de resposta"
)
_BANDWIDTH_ELSEWHERE = (
    r"带宽|頻寬|吞吐量?|帯域幅?|スループット|대역폭|처리량|пропускн\w+ способност\w|durchsatz"
)
"""The words of other languages than those with Latin roots, which `_WAITED` knows."""
_KINDS: tuple[tuple[str, str], ...] = (
    ("slat", r"\bslat(?:ency)?[\d.]*\b|submission(?! *(?:time|rate))"),
    (
        "clat",
        r"\bclat(?:ency)?[\d.]*\b|(?<!to )(?<!job )completion(?! *(?:time|rate|%|[\[(]s(?:ec\w*)?[\])]))",
    ),
    ("iops", r"\b[km]?iops\b|\b(?:i/?os?|i/?o op(?:eration)?s|ops)(?: ?/ ?| per )s(?:ec(?:ond)?)?\b"),
    ("bandwidth", rf"\bbw\b|bandwidth|throughput|{_BANDWIDTH_ELSEWHERE}"),
    ("lat", rf"\bt?lat[\d.]*\b|latency|{_LATENCY_ELSEWHERE}"),
    ("depth", r"(queue|io|i/o)[ _-]*(depth|length)|\bqd\b"),
    (
        "block",  # the recordsize of ZFS, in one word, is none of I/O
        r"(?<![a-z])(?:(?:i/?o)?(?:block|access|i/?o|request)[ _-]*|(?:ior )?(?:transfer|xfer)[ _-]*"
        r"|record[ _-]+)(?:size|length)|\bbs\b|^block$",
    ),
    ("size", r"size of file|file[ _-]*size"),
    ("jobs", r"\bjobs\b|numjobs|threads|processes"),
    (
        "copies",
        r"(?<!\d )\b(?:drives|disks|ssds|hdds|nvmes|nodes|hosts|clients|servers|vms|os[dt]s|devices|volumes"
        r"|luns|namespaces|instances|replicas|containers|pods|gpus|targets|controllers|ports|ranks|initiators)\b"
        r"|\b(?:drive|disk|ssd|hdd|nvme|node|host|client|server|vm|os[dt]|device|volume|lun|gpu)[ -]count\b",
    ),
)
MEASURED = frozenset({"iops", "bandwidth", *LATENCIES})
_COUNTED = frozenset({"iops", "block", "size"})
"""What has no unit, or that of a size: its heading may say of how many."""
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
_DIRECTION = re.compile(r"\b(?:(seq|rand)(?:uential|om)?[ _-]*)?(read|write)s?\b")
_SPREAD = re.compile(r"\bstd|stdev|deviation|variance")
_RATE = re.compile(r"\b([kmgt])(i?)b( s| sec|ps|/s|$)")  # as in read_mb_s, and in bw_mib, where it is no size
_THOUSANDS = re.compile(  # a K behind a number is of a block size
    r"(?<!\d)(?<!\d[ ‐‑–-])\b([km])[ -]?iops\b|[(\[]([km])(?:iops)?(?:/s)?[)\]]"
    r"|(?<!\d)(?<!\d[ ‐‑–-])\b(k)(?:ops|ios?)?\b(?! ?=|-\w)"
    r"|\bthousands?\b|[x×] ?1000\b|\b1e3\b|10³|10\^3(?!\d)"
)
_OTHERWISE = re.compile(  # of IOPS: what is not understood
    r"[(\[/][^)\]]*(?:million|000|10\^|kilo)|\bkilo|\bmillion|\b1e\d|10[⁰¹²⁴-⁹]"
)
_PREFIX = re.compile(r"(?<!\d)[(\[ ]([kmg])(?:i?b)?[)\]]?$")  # as in Size [KiB], bs_kb
_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_UNCERTAINTY = re.compile(
    r"(?<=\w) ?(?:±|\+/-|\+-) ?(?:std|sd|s\.d|stdev|sigma|σ|ci|err|dev|min|max)\w*\.?", re.I
)
_WIDE = str.maketrans("（）［］【】：／，", "()[][]:/,")
_SHORT = re.compile(r"[(\[]?\b(?:qd?\d+(?:t\d+)?|t\d+)\b[)\]]?", re.IGNORECASE)
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
_NUMBERED = re.compile(  # of which percentile, of which run, of which block
    r"\d+(?:\.\d+)?(?:th|st|nd|rd)\b|9\d(?:\.\d+)? ?%.*[a-z]|(?:4|8|16|32|64|128|256|512) ?k(?:i?b)? .*iops"
    r"|1 ?m(?:i?b)? .*(?:[kmg]i?b/s|bandwidth|throughput)",
    re.IGNORECASE,
)
_STATISTIC = re.compile(r"\bavg\b|\baverage\b|\bmean\b|\b(?:min|max)(?:imum)?\b")
_OF_LATENCIES = re.compile(r"\bworst\b|\btail\b|\bcase\b")
_WORD = re.compile(r"\w[^\s()\[\],;:/=#.+-]*")
_TIME = re.compile(r"(?<= )[mnuµμ]s(?:ec)?(?= )")  # amid the name of a variable: lat_us_p99
_NEUTRAL = frozenset(
    {"of", "in", "the", "at", "by", "and", "for", "all", "total", "aggregate", "overall", "combined", "sum"}
    | {"mixed", "mix", "measured", "actual", "result", "results", "rate", "speed"}
    | {"time", "response", "service", "io", "ios", "ops", "op", "test"}
    | {"number", "num", "no", "nr", "count"}
    | {"平均", "平均値", "평균", "средняя", "среднее", "média", "médio", "media", "moyenne", "mittlere"}
    | {"s", "sec", "ms", "msec", "us", "usec", "ns", "nsec", "µs", "μs"}
)
"""Words that say nothing of whose figures they are."""
_NEUTRAL_OF_FIGURES = frozenset(
    {
        "operations",
        "per",
        "second",
        "data",
        "transfer",
        "disk",
        "drive",
        "storage",
        "device",
        "host",
        "client",
    }
    | {"achieved", "effective", "sustained", "steady", "observed", "request", "requests"}
    | {"end", "to", "round", "trip", "higher", "lower", "is", "better"}
)
"""The same, of what is measured."""
_OF_ACCESS = re.compile(
    r"\b(?:seq|rand|rnd)\w*|\b(?:read|write|mix|test|transfer|request|access|job)\w*|\br/?w\b"
)
_NEUTRAL_OF_BLOCKS = frozenset(
    {
        "i",
        "o",
        "io",
        "ios",
        "data",
        "workload",
        "fio",
        "iozone",
        "iometer",
        "vdbench",
        "dd",
        "xfer",
        "operation",
    }
    | {"avg", "average", "mean", "min", "max", "the", "of", "in", "by", "with", "and", "for", "no", "used"}
    | {"application", "app", "host", "client", "elbencho", "param", "parameter", "option", "config", "header"}
    | {
        "cold",
        "warm",
        "small",
        "large",
        "measured",
        "fixed",
        "setting",
        "value",
        "direct",
        "buffered",
        "dio",
        "aligned",
    }
    | {"k", "kb", "kib", "m", "mb", "mib", "b", "byte", "bytes", "per"}
)
"""Words beside `block size` that leave it that of the I/O. IOR's and a device's own are none of it."""
_NAMED_ASIDE = re.compile(r"[,;:/(\[]|\bon\b")
_FOOTNOTE = re.compile(r"[⁰-⁹¹²³*†‡]+(?!\w)|\[\d\]")
_OF_ANOTHER: Mapping[str, re.Pattern[str]] = {
    "jobs": re.compile(
        r"\bcores?\b|system|hyper|physical|logical|socket|\bsmt\b"
        r"|nfsd|\bcpu|server|kernel|background|io ?threads"
    ),
    **dict.fromkeys(
        MEASURED,
        re.compile(
            r"\bcv\b|^\W*%|% of|\b(?:link|pcie|network|nic|wire|memory|d?ram) (?:bw\b|bandwidth|throughput)"
            r"|^(?:link|pcie|network|net|nics?|lan|wire)(?: (?:speed|rate))? ?[(\[]"
        ),
    ),
}
"""What a heading may name beside the I/O itself, and its workload: such columns are passed over."""
_APART = re.compile(
    r"\bspec|\brated\b|nominal|theoretical|advertised|provisioned|\blimit|\bcap\b|\bnetwork\b|\beach\b"
    r"|\bper (?!s\b|sec|i/?os?\b|op|request)|(?:iops|bw|bandwidth) ?/ ?(?!s\b|\d|[kmgt]i?(?:b|bytes?)\b)\S"
)
"""What is said, or of a part alone, and no other column is a measure of."""
_NAMES_FIGURES = re.compile(
    r"(?:\b|(?<=[rw]))[kmgt]?i?(?:b|o|bits?|bytes?)s?(?: ?/ ?s| ?per s|ps\b|[ ·]s(?:ec)?\b)|\b[kmgt]i?bs\b"
    r"|\b\w+/s(?:ec)?\b|\bper s(?:ec(?:ond)?)?\b|\b(?:ops|tps|qps|tput|d[ée]bit|latence|m?await)\b|iops"
    r"|\b(?:i/?os?|data|transfer) rate|^(?:(?:avg|average|mean|read|write) )?speed$|\bbw\b|bandwidth"
    r"|throughput|\b\w*lat(?:ency)?\b|(?:response|service|wait) time|\b[mnuµμ]s/\w|^(?:[mnuµμ]s|[mu]sec)$"
)
_NO_FIGURES = re.compile(
    r"%|\b(?:vs|versus|per ?cent|ratio|speed-?up|gain|change|delta|diff(?:erence)?|loss|overhead|improvement"
    r"|p-value|factor|target|sla|slo|score|samples?|count|id|name|type|test|engine|bound|limit(?:ed)?|notes?)\b"
)
"""Words beside them of what is no figure of the storage, or none of a rate and a time."""
_WAITED = re.compile(  # other names of latencies
    r"\b\w*(?:await|laten[cz]|antwort|zugriff)\w*|\b(?:resp|wait|delay|access time|turnaround|rt)\b|ø"
)
_OF_WORKLOAD = re.compile(r"\d+[kmg]?i?b?|qd?\d+(?:t\d+)?|t\d+|(?:rnd|seq|rand)\w*")
_DISKS = re.compile(r"\b(?:drives|disks|ssds|hdds|nvmes|devices|(?:drive|disk|ssd|hdd|nvme|device) count)\b")
_SHARED = re.compile(
    r"(?:total|aggregate|overall|global|outstanding|effective|all jobs)(?!.* per (?:job|thread|proc))"
)
_CAMEL = re.compile(  # TotalIOPS, readIops, AvgLat: names of variables, too
    r"(?<=[a-z\d])(?=(?:Avg|Average|Bandwidth|Bw|BW|Iops|IOPS|Lat|Latency|Max|Mean|Min|MBps|Ms|Ns|Read|Std|Throughput|Us"
    r"|Write|P\d+)(?![a-z]))|(?<=IOPS)(?=[A-Z][a-z])|(?<=BW)(?=[A-Z][a-z])"
)
_KIND_OF_UNIT = {"bandwidth": "bandwidth", **dict.fromkeys(LATENCIES, "lat")}
_KIND_PATTERNS = tuple(re.compile(pattern) for _, pattern in _KINDS)
_BLOCK = re.compile(dict(_KINDS)["block"])
_PATTERNS = {"seq": "sequential ", "rand": "random "}


@dataclass(frozen=True)
class Column:
    """What a column holds: a kind, a part of it (min, max, p99; empty: mean), its unit, and the direction
    that its heading names (`read`, `random write`; empty: none). `subject` is what else it says: of which
    system, or run; `apart` if it is held against no other column: a limit, or a part of the whole.

    What is `unknown` names a figure, and it is not understood which.
    The unit is k or M of IOPS and sizes whose numbers are of so many; of depths `total` if they are those of
    all jobs; of copies `disks` if each has a link of its own.
    """

    header: str
    kind: str = ""
    part: str = ""
    unit: str = ""
    direction: str = ""
    subject: str = ""
    apart: bool = False
    unknown: bool = False


def column_of(header: str, legend: Mapping[str, str]) -> Column:
    """Return what a heading says; `legend` has units by the words that stand for them."""
    header = " ".join(header.translate(_WIDE).split())
    header = _UNCERTAINTY.sub("", in_words(header)).strip()
    words = _CAMEL.sub(" ", header)
    text = _with_conditions(words.lower().replace("_", " "))
    named = unit_in(header) or unit_in(_SHORT.sub(" ", header))
    kind = kind_in(text)
    found = _DIRECTION.search(text)
    direction = f"{_PATTERNS.get(found[1], '')}{found[2]}" if found else ""
    if not named and (direction or kind in MEASURED):
        last = unit_in(_rate_in(header, kind) or words.replace("_", " ").rpartition(" ")[2])
        last = last or (unit_in(header.partition(" ")[0]) if direction else None)
        last = last or next(filter(None, map(unit_in, _TIME.findall(text))), None)
        last = last or (unit_in(header.rpartition("/")[2]) if kind in LATENCIES else None)
        named = last if last and (not kind or _KIND_OF_UNIT.get(kind) == last[0]) else None
    alone = named == ("bandwidth", header.strip())  # of a time nobody knows what it is of
    if not (named or kind or direction) and (beside := _unit_beside(header.replace("_", " "))):
        named, alone = beside, True
    subject = _subject_in(text, kind, named[1] if named else "")
    if not kind and named and (direction or "(" in header or "[" in header or alone):
        kind = "time" if named[0] == "lat" and not _is_latency(text, named[1], subject) else named[0]
    unknown = not (kind or _SPREAD.search(text) or _NO_FIGURES.search(text)) and (
        named is not None or _NAMES_FIGURES.search(text) is not None
    )
    if _is_of_what(text) if kind == "block" else kind in _OF_ANOTHER and _OF_ANOTHER[kind].search(text):
        kind = "copies" if kind == "jobs" else ""
        direction = ""
    if _SPREAD.search(text):
        kind = direction = ""
    unit = named[1] if named else next((legend[word] for word in text.split() if word in legend), "")
    if kind in _COUNTED:
        unit = _counted_in(text, kind)
    elif kind == "depth":
        unit = "total" if _SHARED.search(text) else ""
    elif kind == "copies":
        unit = "disks" if _DISKS.search(text) else ""
    told = direction if kind in MEASURED or not kind else ""
    apart = kind in MEASURED and _APART.search(text) is not None
    return Column(header, kind, _part_in(text, kind), unit, told, subject, apart, unknown)


def _with_conditions(text: str) -> str:
    """Return a heading in small letters in which under what conditions figures were taken is a short word:
    `iops (queue depth 32)` is `iops qd32`, and no heading of depths.
    """
    for pattern, short in _CONDITIONS:
        for found in reversed([*pattern.finditer(text)]):
            text = f"{text[: found.start()]} {short}{found[found.lastindex or 1]} {text[found.end() :]}"
    return " ".join(text.split())


def _is_of_what(text: str) -> bool:
    """Return whether a heading says beside its block size of what it is, and not of the I/O: who knows what
    has that size. What is behind a comma, or `on`, says how the I/O was done.
    """
    before, *repeated = _BLOCK.split(text)
    behind = " ".join(repeated)
    beside = [before, _NAMED_ASIDE.split(behind, maxsplit=1)[0], *_BRACKETED.findall(behind)]
    words = re.findall(r"[a-z]+", _OF_ACCESS.sub(" ", " ".join(beside)))
    return any(word not in _NEUTRAL_OF_BLOCKS for word in words)


def _unit_beside(header: str) -> tuple[str, str] | None:
    """Return the kind and unit that a heading begins or ends with whose other words say how, and not of what:
    `Avg MB/s`, `MBps Achieved`, `p99 us`.
    """
    words = [word.rstrip(",;:") for word in header.split()]
    for word in (words[-1:] + words[:1]) if len(words) > 1 else ():
        named = unit_in(word) if word != "s" else None
        if named and not _subject_in(header.lower().replace("_", " "), "", named[1]):
            return named
    return None


def _subject_in(text: str, kind: str, unit: str) -> str:
    """Return the words of a heading that say neither what is measured, nor how, nor in which unit."""
    text = _FOOTNOTE.sub(" ", text)
    text = _without(_BRACKETED.sub(r" \1 ", text), unit.replace("_", " "))
    statistics = () if kind in ("iops", "bandwidth") else (_OF_LATENCIES, _WAITED)
    for pattern in (
        _PERCENTILE,
        _TAIL,
        _RATE,
        _THOUSANDS,
        _DIRECTION,
        _STATISTIC,
        *statistics,
        *_KIND_PATTERNS,
    ):
        text = pattern.sub(" ", text)
    neutral = _NEUTRAL | _NEUTRAL_OF_FIGURES if kind in MEASURED or not kind else _NEUTRAL
    text = re.sub(r"\bi/o\b", " ", text)
    return " ".join(word for word in _WORD.findall(text) if word not in neutral)


def _without(text: str, unit: str) -> str:
    """Return a text in small letters without a unit in it."""
    return re.sub(rf"(?<!\w){re.escape(unit.lower())}(?!\w)", " ", text) if unit else text


def _is_latency(text: str, unit: str, subject: str) -> bool:
    """Return whether a time that is not said to be a latency is one: it says no more than a statistic, or a
    direction. Of a run, or of processors, there are times as well, and those are most often in seconds.
    """
    if unit.lower() not in ("s", "sec", "seconds") and _WAITED.search(text):
        return True
    said = re.sub(r"[^a-z0-9]", "", _without(text, unit))
    others = [word for word in subject.split() if not _OF_WORKLOAD.fullmatch(word)]
    return not others and said not in ("", "time", "total", "totaltime", "testtime")


def _part_in(text: str, kind: str) -> str:
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


def _counted_in(text: str, kind: str) -> str:
    """Return of how many the numbers below a heading are: k, M, G; empty: one, or it is not said. What is not
    understood is no unit, and such numbers are not read.
    """
    if kind == "iops":
        found = _THOUSANDS.search(text)
        if not found:
            return "?" if _OTHERWISE.search(text) else ""
        return (found[1] or found[2] or "k").replace("m", "M")
    prefix = _PREFIX.search(text)
    return prefix[1].upper() if prefix else ""


def _rate_in(header: str, kind: str) -> str:
    """Return the rate that the name of a variable ends with (`bw_mb_s`: MB/s; `bw_gbps`, as it is written of
    bits: Gbps); empty if none.
    """
    found = _RATE.search(header.lower().replace("_", " ")) if "_" in header else None
    if not found or not (found[3] or kind == "bandwidth"):
        return ""
    as_bits = found[3] == "ps" and not found[2] and "Bps" not in header
    return f"{found[1].upper()}bps" if as_bits else f"{found[1].upper()}{found[2]}B/s"


def kind_in(text: str) -> str:
    """Return the kind of figure that a text in small letters names; empty if none."""
    return next((kind for kind, pattern in _KINDS if re.search(pattern, text)), "")


def begins_figure(cell: str) -> bool:
    """Return whether a cell begins as a figure does, and not as a heading may: `99th (ms)`, `4k IOPS`."""
    return starts_number(cell) and not _NUMBERED.match(cell)


def heads_figures(cells: list[str]) -> bool:
    """Return whether cells are headings of which one is of a figure."""
    if any(map(begins_figure, cells)):
        return False
    return any(found.kind in MEASURED or found.direction for found in (column_of(cell, {}) for cell in cells))


def names_figures(title: str) -> bool:
    """Return whether a title, or a heading, says of what figures are, or in what unit."""
    return column_of(title.lstrip("#/<!-* "), {}).kind in MEASURED or unit_in(title) is not None
