"""Texts that hold several runs of iozone, or pieces of one: every run is found, none is made up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from iogate.engines.iozone.engine import engine
from iogate.engines.iozone.runs import blocks
from iogate.errors import OutputError
from iogate.offline.show import show
from places import DATA

EXCERPTS = DATA / "iozone_excerpts"
WITHOUT_BANNER = (EXCERPTS / "table_without_banner.txt").read_text()
QUESTION = (EXCERPTS / "question_about_3.308.txt").read_text()
ROUNDS = (EXCERPTS / "iozone-3.489.one_and_two_processes.txt").read_text()
TABLE = (DATA / "iozone/iozone-3.489.auto_direct.txt").read_text()
BUFFERED = (DATA / "iozone/iozone-3.489.auto_buffered.txt").read_text()
MICROSECONDS = (DATA / "iozone/iozone-3.489.auto_latency.txt").read_text()
THROUGHPUT = (DATA / "iozone/iozone-3.489.throughput_2_direct.txt").read_text()
OUTPUTS = sorted((DATA / "iozone").glob("*.txt"))


def metrics(text):
    return engine.parse(text, name="out").metrics


def parts(text):
    return {part.name: part.output.metrics for part in engine.parts(text, name="out")}


def bare(text):
    """A table with its header, and nothing around it."""
    return text[text.index("     kB  reclen") - 10 :].partition("iozone test")[0].lstrip("\n")


def test_advice_between_rows_ends_no_table():
    text = (EXCERPTS / "iozone-3.489.advice_between_rows.txt").read_text()
    found = metrics(text)
    rows = {name.rpartition(".")[2] for name in found}
    assert rows == {"64k/4k", "64k/8k", "64k/16k", "64k/32k"}
    with pytest.raises(OutputError, match="a line among its rows that is none"):
        metrics(text.replace("I/O error during read.", "Nobody knows this."))


class TestSeveralRuns:
    def test_two_tables(self):
        second = TABLE.count("\n") + 1
        assert parts(TABLE + BUFFERED) == {
            "table in line 1": metrics(TABLE),
            f"table in line {second}": metrics(BUFFERED),
        }

    def test_a_table_and_a_throughput_run_whose_version_is_another(self, tmp_path):
        path = tmp_path / "notes.txt"
        path.write_text(f"{TABLE}\nand later:\n{QUESTION}")
        text, status = show([path], as_json=False)
        assert status == 0
        line = TABLE.count("\n") + 1 + QUESTION[: QUESTION.index("Iozone: Perf")].count("\n") + 2
        headings = [line for line in text.splitlines() if line.startswith(str(path))]
        assert headings == [f"{path}:1: iozone-3.489", f"{path}:{line}: iozone-3.308"]
        assert "write.bandwidth  240.3 MiB/s  48.06 MiB/s" in text

    def test_runs_without_banner_one_after_another(self):
        again = WITHOUT_BANNER.replace("134217728", " 67108864")
        found = parts(WITHOUT_BANNER + again)
        assert list(found) == ["table in line 1", f"table in line {WITHOUT_BANNER.count(chr(10)) + 1}"]
        assert "write.bandwidth.64G/4k" in found[list(found)[1]]

    def test_together_they_have_no_figures(self):
        with pytest.raises(OutputError, match="holds 2 runs of iozone, whose figures do not add up"):
            metrics(TABLE + THROUGHPUT)

    def test_each_number_of_processes_of_one_run(self):
        found = parts(ROUNDS)
        assert list(found) == ["1 process", "2 processes"]
        assert found["1 process"]["write.bandwidth"] == found["1 process"]["write.bandwidth.max"]

    def test_an_error_in_the_second_run_has_the_line_of_the_file(self):
        wrong = BUFFERED.replace(" fwrite frewrite", " other frewrite")
        line = (TABLE + wrong).split("\n").index(next(x for x in wrong.split("\n") if "reclen" in x)) + 1
        with pytest.raises(OutputError, match=rf"^out:{line}:1: iozone's table has other columns"):
            engine.parts(TABLE + wrong, name="out")

    @settings(deadline=None)
    @given(st.lists(st.sampled_from([TABLE, BUFFERED, THROUGHPUT, WITHOUT_BANNER, QUESTION]), max_size=5))
    def test_as_many_runs_are_found_as_there_are(self, texts):
        text = "".join(texts)
        found = list(blocks(text))
        assert len(found) == len(texts)
        for line, block in found:
            assert block.split("\n")[0] == text.split("\n")[line - 1]


class TestExcerpts:
    def test_a_table_without_its_banner_and_end_is_read_with_a_remark(self):
        output = engine.parse(WITHOUT_BANNER, name="out")
        assert len(output.metrics) == 13 * 6
        assert output.metrics["random_read.bandwidth.128G/4k"] == 1155 * 1024
        assert output.remarks == ("iozone did not say `iozone test complete`: figures may be missing",)
        assert output.options["direct"] is False, "the preamble is there from `Run began` on"

    def test_a_run_with_its_banner_must_say_that_it_ended(self):
        with pytest.raises(OutputError, match="cut off"):
            metrics(TABLE.partition("iozone test")[0])

    @pytest.mark.parametrize("cut", range(1, 9))
    def test_a_last_row_that_may_have_lost_digits_is_refused(self, cut):
        text = WITHOUT_BANNER.rstrip()
        assert metrics(text) == metrics(WITHOUT_BANNER), "the line's end alone is missing"
        with pytest.raises(OutputError, match="cut off within a row"):
            metrics(text[:-cut])

    def test_the_command_line_says_the_unit_too(self):
        text = WITHOUT_BANNER.replace("Output is in Kbytes/sec", "")
        assert metrics(text) == metrics(WITHOUT_BANNER)
        for asked in ("-O", "-N", "-azO", "-zN"):
            with pytest.raises(OutputError, match="does not say the unit"):
                metrics(text.replace("iozone -a", f"iozone {asked}"))

    def test_nothing_else_is_guessed_and_the_remedy_works(self):
        for text in (TABLE, MICROSECONDS):
            with pytest.raises(OutputError, match=r"does not say the unit(.|\n)*Output is in kBytes/sec"):
                metrics(bare(text))
        told = engine.parse("Output is in kBytes/sec\n" + bare(TABLE), name="out")
        assert told.metrics == metrics(TABLE)
        assert "direct" not in told.options, "nobody says whether it was"

    def test_what_follows_a_run_without_end_is_not_taken_for_it(self):
        after = "\n| Block size | IOPS |\n|---|---|\n| 4k | 100k |\n"
        ((line, block),) = blocks(WITHOUT_BANNER + after)
        assert (line, block) == (1, WITHOUT_BANNER + "\n")
        excerpt = QUESTION.partition("iozone test")[0].rstrip()
        ((_, block),) = blocks(excerpt[: excerpt.index('"Throughput report')] + after)
        assert "Block size" not in block and "pread readers" in block


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
def test_a_whole_output_is_one_run(path):
    text = path.read_text()
    ((line, block),) = blocks(text)
    assert line == 1 and block == text[: text.index("iozone test complete") + len("iozone test complete")]


def test_the_time_grows_with_the_number_of_runs_and_no_faster():
    def parts(count):
        text = (TABLE + QUESTION) * count
        return lambda: engine.parts(text, name="out")

    assert len(parts(20)()) == 40
    assert growth(parts(20), parts(80)) < LINEAR
