"""Tables as people publish them, and what `iogate audit` finds in them."""

from collections.abc import Callable

from iogate.offline.published import Machine, pieces
from places import DATA


def report(name):
    return pieces((DATA / "published" / name).read_text(), name)


def by_check(piece, severity="invalid"):
    """The lines of each rule that fired with a severity."""
    found = {}
    for finding in piece.findings:
        if finding.severity == severity:
            found.setdefault(finding.check, set()).add(finding.line)
    return found


def table(*rows, head="| Block size | Depth | IOPS | Bandwidth | Latency |", above=""):
    columns = head.count("|") - 1
    return "\n".join([above, head, "|" + "---|" * columns, *rows]) + "\n"


def only(text, link=None):
    (piece,) = pieces(text, "report.md", Machine(link))
    return piece


SOUND = "| 4k | {depth} | 100k | 409.6 MB/s | 320 us |"
DEPTH = "| Block size | IO Depth | IOPS | Bandwidth | Latency |"
CSV = 'bs,iodepth,iops,bw (MB/s),lat_us\n4k,32,"100,000",409.6,320\n8k,32,50k,500,640\n'
HTML = """\
<!DOCTYPE html><html><head><style>td { color: red }</style></head><body><h2>Fast &amp; slow</h2>
<table><thead><tr><th rowspan=2>Block size</th><th rowspan="2">QD<th colspan=2>Read<th colspan=2>Write</tr>
<tr><th>IOPS<th>BW (MB/s)<th>IOPS<th>BW (MB/s)</tr></thead>
<tr><td>4k</td><td>32</td>
    <td>100k</td><td>409.6</td><td>50k</td><td>204.8</td></tr>
<tr><td>8k<td>32<td>100k<td>819.2<td>50k<td>500</tr>
</table><script>var x = "<table><tr><td>iops<tr><td>1</table>";</script></body></html>
"""
COLUMNS = """\
Results of the run:

block size   qd    IOPS     BW MB/s   latency us
----------   --    ------   -------   ----------
4k           32    100k     409.6     320
8k           32    50k      500       640
"""
FORMS: dict[str, Callable[[str], str]] = {
    "commas": lambda row: row,
    "semicolons": lambda row: row.replace(",", ";"),
    "tabs": lambda row: row.replace(",", "\t"),
    "pipes": lambda row: f"| {row.replace(',', ' | ')} |",
    "columns": lambda row: "   ".join(cell.ljust(8) for cell in row.split(",")),
    "blanks": lambda row: " ".join(cell.replace(" ", "_") for cell in row.split(",")),
}
