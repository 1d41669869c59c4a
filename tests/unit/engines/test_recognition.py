"""Each engine knows its own outputs by their marks; whatever is nobody's is refused with what can be read."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate import engines
from iogate.cli import main
from iogate.errors import OutputError
from iogate.offline.outputs import parse_output, understood
from iogate.offline.published import pieces
from iogate.offline.show import show
from places import DATA

OUTPUTS = {
    "fio": [*DATA.glob("fio/*.json"), *DATA.glob("fio_text/*.txt"), *DATA.glob("published/gluster*.md")],
    "iozone": [*DATA.glob("iozone/*.txt"), *DATA.glob("published/strong*.md")],
    "memory": [DATA / "native/memory.json"],
    "mlc": sorted(DATA.glob("mlc/*.txt")),
    "reader": [DATA / "native/reader.json"],
}
ALL = [(engine, path) for engine, paths in OUTPUTS.items() for path in sorted(paths)]
WHOLE = [
    (engine, path.read_text())
    for engine, path in ALL
    if path.suffix != ".md" and path.name.split(".")[-2] not in ("sigint", "enospc")
]
WORDS = [
    *OUTPUTS,
    '"memory": 1',
    '"reader": 1',
    "fio-3.33",
    "iozone -a",
    "Latency Checker",
    '"jobs": []',
    "kB reclen",
]
NOBODYS = [
    "the memory of this reader is mlc, says fio; iozone agrees",
    '{"memory": 16, "reader": 1, "fio": true}',
    '{"memory": 1}',
    '{"schema": 1, "workloads": [{"engine": "memory", "definition": {"fio": {}}}]}',
    '[{"engine": "reader", "metrics": {"read.iops": 1}}]',
    "fio-3.33\n",
    "fio-3.33-3_amd64.deb\niozone3_489-1_amd64.deb\n",
    "fio --name=x --rw=read\niozone -a\nmlc --loaded_latency\n",
    "| kB | reclen | write |\n| --- | --- | --- |\n",
    "fio: the flexible I/O tester\n",
    "\0\1\2",
]  # fmt: skip


@pytest.mark.parametrize(("engine", "path"), ALL, ids=lambda item: getattr(item, "name", item))
def test_every_real_output_is_known_as_its_engines_and_nobody_elses(engine, path):
    assert engines.recognise(path.read_text()) == [engine]


@pytest.mark.parametrize("text", NOBODYS)
def test_words_alone_are_no_mark(text):
    assert engines.recognise(text) == []
    with pytest.raises(OutputError) as caught:
        understood(text, "file")
    assert str(caught.value) == (
        "file: is no output of an engine that is known here\n"
        "  outputs of these can be read: fio, iozone, memory, mlc, reader"
    )


@pytest.mark.parametrize("command", ["show", "audit", "import", "compare"])
def test_every_command_refuses_what_is_nobodys(command, tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text(NOBODYS[0])
    (tmp_path / "baselines/orin").mkdir(parents=True)
    (tmp_path / "baselines/orin/device.yaml").write_text("target: /tmp\n")
    (tmp_path / "lab.yaml").write_text("workloads: {a: {rw: read, size: 1M}}")
    more = {
        "import": ["--device=orin", f"--suite={tmp_path}/lab.yaml", f"--baselines={tmp_path}/baselines"],
        "compare": [str(path)],
    }  # fmt: skip
    assert main([command, str(path), *more.get(command, [])]) != 0
    said = "".join(capsys.readouterr())
    assert "notes.txt: " in said and "fio" in said and "iozone" in said
    assert not re.search(r"the JSON of|output of (mlc|fio|reader)\b|reader failed|Traceback", said)


class TestDamage:
    @pytest.mark.parametrize(
        ("engine", "path", "end", "said"),
        [
            ("reader", "native/reader.json", 0.5, r"out:\d+:\d+: this is not the JSON of reader"),
            ("memory", "native/memory.json", 0.5, r"out:\d+:\d+: this is not the JSON of memory"),
            ("fio", "fio/fio-3.33.randrw70.json", 0.5, r"out:\d+:\d+: fio's output ends in the middle"),
            ("fio", "fio_text/fio-3.33.randrw_grouped.txt", 0.03, r"out:\d:1: fio's text output was cut"),
            ("fio", "fio_text/fio-3.33.randrw_grouped.txt", 0.8, r"out:\d+"),
            ("iozone", "iozone/iozone-3.489.auto_direct.txt", 0.9, r"out:\d\d:1: iozone's output was cut"),
            ("iozone", "iozone/iozone-3.489.auto_direct.txt", 0.1, r"has no figures of iozone"),
            ("mlc", "mlc/v3.5.loaded_latency.txt", 0.2, r"out:\d+:1: "),
        ],
    )  # fmt: skip
    def test_an_output_that_was_cut_is_refused_by_its_own_engine_with_the_line(self, engine, path, end, said):
        text = (DATA / path).read_text()
        text = text[: round(end * len(text))]
        assert engines.recognise(text) == [engine]
        with pytest.raises(OutputError, match=said):
            understood(text, "out")

    def test_an_output_without_its_beginning_is_still_known(self):
        for engine, name in (
            ("mlc", "mlc/v3.5.loaded_latency.txt"),
            ("iozone", "iozone/iozone-3.489.throughput_2_all.txt"),
            ("fio", "fio_text/fio-3.33.randrw_grouped.txt"),
            ("fio", "fio/fio-3.33.randrw70.json"),
        ):
            _, _, rest = (DATA / name).read_text().partition("\n")
            assert engines.recognise(rest.partition("\n")[2]) == [engine]

    @settings(deadline=None)
    @given(st.sampled_from(WHOLE), st.floats(0, 1), st.text(max_size=4))
    def test_damage_never_makes_it_another_engines(self, output, where, junk):
        engine, text = output
        place = round(where * (len(text) - 1))
        damaged = text[:place] + junk + text[place + 1 :]
        try:
            assert {found.engine for found in understood(damaged, "out")} == {engine}
        except OutputError as error:
            other = set(engines.names()) - {engine}
            blamed = re.search(r"no output of (\w+)|the JSON of (\w+)|figures of (\w+)", str(error))
            assert not blamed or not other & set(blamed.groups()), str(error)

    @settings(deadline=None)
    @given(st.sampled_from(WHOLE), st.floats(0, 1))
    def test_what_is_cut_is_nobodys_or_its_engines(self, output, where):
        engine, text = output
        assert set(engines.recognise(text[: round(where * len(text))])) <= {engine}


@given(st.text() | st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=8).map("\n".join))
def test_arbitrary_text_is_nobodys_and_never_ends_in_a_traceback(text):
    with pytest.raises(OutputError, match=r"is empty|is no output of an engine"):
        parse_output(text.encode(errors="replace"), "file")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_end_in_a_traceback(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(data)
    text, status = show([path], as_json=False)
    assert status == 1 and text.startswith("refused: ")


def test_a_file_with_outputs_of_two_engines_shows_both(tmp_path):
    path = tmp_path / "both.txt"
    names = ("fio_text/fio-3.33.fsync.txt", "iozone/iozone-3.489.auto_direct.txt")
    path.write_text("\n".join((DATA / name).read_text() for name in names))
    text, status = show([path], as_json=False)
    assert status == 0
    assert f"{path}: fio-3.33" in text and f"{path}: iozone-3.489" in text
    assert [job.engine for job in parse_output(path.read_bytes(), "both").jobs] == ["fio", "iozone"]
    assert [piece.what.partition(",")[0] for piece in pieces(path.read_text(), "both")] == [
        *("fio text", "iozone-3.489"),
    ]  # fmt: skip
