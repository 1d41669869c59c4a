"""What else the heading of a column says: of whom, or of what, its figures are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from iogate.offline.published.headings import BLOCK, MEASURED, SAYS_WHAT

_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_STATISTIC = re.compile(r"\bavg\b|\baverage\b|\bmean\b|\b(?:min|max)(?:imum)?\b")
_OF_LATENCIES = re.compile(r"\bworst\b|\btail\b|\bcase\b")
_WORD = re.compile(r"\w[^\s()\[\],;:/=#.+-]*")
_NEUTRAL = frozenset(
    {"of", "in", "the", "at", "by", "and", "for", "all", "total", "aggregate", "overall", "combined", "sum"}
    | {"measured", "actual", "result", "results", "rate", "speed"}
    | {"time", "response", "service", "io", "ios", "ops", "op", "test"}
    | {"number", "num", "no", "nr", "count"}
    | {
        "平均",
        "平均値",
        "평균",
        "средняя",
        "среднее",
        "média",
        "médio",
        "скорость",
        "скорости",
        "время",
        "débit",
        "vitesse",
        "media",
        "moyenne",
        "mittlere",
    }
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
_PLACES = frozenset(
    {"client", "host", "device", "disk", "drive", "storage", "end", "round", "trip", "request", "requests"}
    | {"service", "effective", "sustained", "steady"}
)
"""Those of them that tell two figures of one kind apart."""
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
_MEMORY = (
    r"(?:sysbench |main |system |local |remote |sequential |random )*(?:memory|d?ram)"
    r"(?: (?:sequential|seq|random|rand|read|write|copy|r/w|speed|access|reference|latency))*"
)
_CACHE = r"(?:l[1-4][di]?|llc)(?: cache)?(?: (?:hit|access|reference|latency))*"
_ASIDE = r"(?: *[(\[][^()\[\]]*[)\]])* *"
_OF_ANOTHER: Mapping[str, re.Pattern[str]] = {
    "jobs": re.compile(
        r"\bcores?\b|system|hyper|physical|logical|socket|\bsmt\b"
        r"|nfsd|\bcpu|server|kernel|background|io ?threads"
    ),
    **dict.fromkeys(
        MEASURED,
        re.compile(
            r"\bcv\b|^\W*%|% of"
            r"|\b(?:link|pcie|network|nic|wire|memory|mem|d?ram) (?:bw\b|bandwidth|throughput)"
            rf"|^{_MEMORY}{_ASIDE}$"
            r"|^(?:memory|dram|cpu|(?:l[123] )?cache|pcie|network|schedul(?:ing|er)|wake-?up|context switch)"
            r" lat(?:ency)?\b"
            r"|^(?:link|pcie|network|net|nics?|lan|wire)(?: (?:speed|rate))? ?[(\[]"
        ),
    ),
}
"""What a heading may name beside the I/O itself, and its workload: such columns are passed over."""
_OF_MEMORY = re.compile(rf"(?:{_MEMORY}|{_CACHE}){_ASIDE}", re.IGNORECASE)
_APART = re.compile(
    r"\bspec|\brated\b|nominal|theoretical|advertised|provisioned|\blimit|\bcap\b|\bnetwork\b|\beach\b"
    r"|\bper (?!s\b|sec|i/?os?\b|op|request)|(?:iops|bw|bandwidth) ?/ ?(?!s\b|\d|[kmgt]i?(?:b|bytes?)\b)\S"
)
"""What is said, or of a part alone, and no other column is a measure of."""
_SPREAD = re.compile(
    r"\bstd|stdev|deviation|variance|standard error|σ|\biqr\b|\bjitter\b|\bconfidence\b"
    r"|(?:lat(?:ency)?|iops|bw|bandwidth|throughput)(?: (?:±|\+/-)|(?: ?[(\[][^()\[\]]*[)\]])? (?:sd(?! card)"
    r"|range|error|spread|change|diff\w*|delta|overhead|penalty|increase|reduction|ratio|margin|p-?value)\b)"
    r"|\b(?:added|extra|additional|sd of) \w*lat|δ"
)
_BEHIND = r"(?: ?[(\[][^()\[\]]*[)\]])?"
_OF_RUNS = re.compile(
    r"(?:(?:the|sample|rel(?:ative)?\.?) )?(?:st(?:an)?d(?:ard|\.)?[ _-]?(?:dev(?:iations?)?|err(?:or)?)\.?"
    rf"|stdev\w*|variance|coefficient of variation|9\d ?% ?ci|δ){_BEHIND}",
    re.IGNORECASE,
)
_OF_TWO = re.compile(
    rf"(?:(?:the|abs\.?|rel\.?|relative) )?(?:diff(?:erence|\.)?|ratio|speed-?up|p-?value){_BEHIND}",
    re.IGNORECASE,
)
_VERSUS = re.compile(r" (?:vs\.?|versus) ", re.IGNORECASE)
_BELOW_MEANS = re.compile(
    rf"(?:sd|s\.d\.|std|sem?|σ|sigma|deviation|cv|cov|rsd|range|max ?[–-] ?min|spread|error|iqr|mad|jitter|±"
    rf"|\+/-|ci|confidence(?: interval)?|delta|change|margin)(?: ?%)?{_BEHIND}",
    re.IGNORECASE,
)
_CENTRE = re.compile(
    rf"(?:mean|avg\.?|average|median|x̄|μ|平均|mittelwert|moyenne)(?: of \d+(?: runs)?)?{_BEHIND}",
    re.IGNORECASE,
)
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
    r"\b\w*(?:await|laten[cz]|antwort|zugriff)\w*"
    r"|\b(?:resp(?:time)?|wait|delay|access time|turnaround|rt)\b|ø"
)
_OF_WORKLOAD = re.compile(r"\d+[kmg]?i?b?|qd?\d+(?:t\d+)?|t\d+|(?:rnd|seq|rand)\w*")


def subject_in(text: str, kind: str, unit: str) -> str:
    """Return the words of a heading that say neither what is measured, nor how, nor in which unit."""
    neutral = _NEUTRAL | _NEUTRAL_OF_FIGURES if kind in MEASURED or not kind else _NEUTRAL
    return " ".join(word for word in _beside(text, kind, unit) if word not in neutral)


def place_in(text: str, kind: str, unit: str) -> frozenset[str]:
    """Return the words of a heading that say where on the way of an I/O, or when, its figures were taken, or
    whose they are: those of a host are not those of its device, nor are peaks what is sustained.
    """
    return frozenset(_beside(text, kind, unit)) - ((_NEUTRAL | _NEUTRAL_OF_FIGURES) - _PLACES)


def _beside(text: str, kind: str, unit: str) -> list[str]:
    text = _FOOTNOTE.sub(" ", text)
    text = _without(_BRACKETED.sub(r" \1 ", text), unit.replace("_", " "))
    statistics = () if kind in ("iops", "bandwidth") else (_OF_LATENCIES, _WAITED)
    for pattern in (*SAYS_WHAT, _STATISTIC, *statistics):
        text = pattern.sub(" ", text)
    return _WORD.findall(re.sub(r"\bi/o\b", " ", text))


def whose(subject: str) -> list[str]:
    """Return the words of a subject that name no workload, as `4k random` do."""
    return [word for word in subject.split() if not _OF_WORKLOAD.fullmatch(word)]


def _without(text: str, unit: str) -> str:
    """Return a text in small letters without a unit in it."""
    return re.sub(rf"(?<!\w){re.escape(unit.lower())}(?!\w)", " ", text) if unit else text


def is_latency(text: str, unit: str, subject: str) -> bool:
    """Return whether a time that is not said to be a latency is one: it says no more than a statistic, or a
    direction. Of a run, or of processors, there are times as well, and those are most often in seconds.
    """
    if unit.lower() not in ("s", "sec", "seconds") and _WAITED.search(text):
        return True
    said = re.sub(r"[^a-z0-9]", "", _without(text, unit))
    return not whose(subject) and said not in ("", "time", "total", "totaltime", "testtime")


def _is_block_of_another(text: str) -> bool:
    """Return whether a heading says beside its block size of what it is, and not of the I/O: who knows what
    has that size. What is behind a comma, or `on`, says how the I/O was done.
    """
    before, *repeated = BLOCK.split(text)
    behind = " ".join(repeated)
    beside = [before, _NAMED_ASIDE.split(behind, maxsplit=1)[0], *_BRACKETED.findall(behind)]
    words = re.findall(r"[a-z]+", _OF_ACCESS.sub(" ", " ".join(beside)))
    return any(word not in _NEUTRAL_OF_BLOCKS for word in words)


def is_of_another(text: str, kind: str) -> bool:
    """Return whether a heading is of something beside the I/O itself, and its workload: of processors, of a
    link, or of a block size that is another one's.
    """
    if kind == "block":
        return _is_block_of_another(text)
    return kind in _OF_ANOTHER and _OF_ANOTHER[kind].search(text) is not None


def is_memory(label: str) -> bool:
    """Return whether the name of a row, or a part of it, says that it is one of memory, or of a processor's
    cache.
    """
    names = (" ".join(part.split()) for part in label.split(","))
    return any(_OF_MEMORY.fullmatch(name) for name in names)


def is_apart(text: str) -> bool:
    """Return whether a heading is of a limit, or of a part of the whole."""
    return _APART.search(text) is not None


def is_spread(text: str) -> bool:
    """Return whether a heading is of how much figures differ."""
    return _SPREAD.search(text) is not None


def compared_in(names: Sequence[str]) -> frozenset[int]:
    """Return which rows, by a word of each, are of how much the others differ: of runs, or of two of them, as
    `xfs vs ext4` below both. `SD` may be a card, and `delta` a host, but behind a mean.
    """
    centre = next((place for place, name in enumerate(names) if _CENTRE.fullmatch(name)), len(names))
    sides = {place: _VERSUS.split(name.lower()) for place, name in enumerate(names) if _VERSUS.search(name)}
    words = [frozenset(_WORD.findall(name.lower())) for place, name in enumerate(names) if place not in sides]
    versus = (
        place
        for place, two in sides.items()
        if all(any(other.issuperset(_WORD.findall(side)) for other in words) for side in two)
    )
    return frozenset(versus) | {
        place
        for place, name in enumerate(names)
        if _OF_RUNS.fullmatch(name)
        or _OF_TWO.fullmatch(name)
        or (place > centre and _BELOW_MEANS.fullmatch(name))
    }


def names_a_figure(text: str, in_units: bool) -> bool:
    """Return whether a heading that is not understood, with a unit or without, is of a figure of the storage,
    and of no ratio of it.
    """
    return not _NO_FIGURES.search(text) and (in_units or _NAMES_FIGURES.search(text) is not None)
