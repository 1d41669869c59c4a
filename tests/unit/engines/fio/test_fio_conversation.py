"""What fio and the server of another client may say to each other."""

import struct

import pytest

from iogate.engines.fio.engine import engine
from iogate.errors import MeasurementError
from iogate.model import Command

JOB = "[w]\nrw=randread\n"
LOG, SEND_FILE, TRIGGER, QUIT, JOB_SENT, JOB_LINE, LOAD_FILE, RUN, TEXT = 17, 21, 20, 1, 3, 4, 19, 16, 5
START, OPTION, PROBE, ETA = 11, 22, 10, 9


def message(opcode, content=b"", flags=0):
    return struct.pack("<HHIQIHH", 97, opcode, flags, 0, len(content), 0, 0) + content


def job(text, rest=b"\0" * 20):
    content = text.encode() + b"\0" + rest
    return struct.pack("<II", len(content), 1) + content


def log(name, start=32, samples=1, packed=0, offsets=0, content=b"/" * 40):
    head = struct.pack("<QIIII", samples, 1, 1, packed, offsets).ljust(start, b"\0")
    return head + name.encode().ljust(256, b"\0") + content


def text(said, length=None):
    return struct.pack("<IIQQ", 0, len(said) if length is None else length, 0, 0) + said.encode()


@pytest.fixture
def talk():
    return engine.conversation(Command(("fio",), 1.0, {"job.fio": JOB}, "output.json"))


def test_the_job_is_sent_in_parts_and_each_byte_as_it_was(talk):
    said = message(JOB_SENT, job(JOB)[:30], flags=1) + message(JOB_SENT, job(JOB)[30:]) + message(RUN)
    heard = b"".join(talk.to_server(said[at : at + 7]) for at in range(0, len(said), 7))
    assert heard == said


def test_what_is_not_whole_is_not_passed_on(talk):
    assert talk.to_conductor(message(LOG, log("log_bw.1.log"))[:-1]) == b""
    assert talk.to_conductor(b"/"[:1]) == message(LOG, log("log_bw.1.log"))


@pytest.mark.parametrize(
    "said",
    [
        message(JOB_SENT, job(JOB + "exec_prerun=reboot\n")),
        message(JOB_SENT, job(JOB)[:20], flags=1) + message(JOB_SENT, job("exec_prerun=reboot\n")[8:]),
        message(JOB_SENT, job(JOB)[:20], flags=1) + message(RUN),
        message(JOB_LINE, job(JOB)),
        message(LOAD_FILE, b"/etc/job.fio"),
        message(SEND_FILE, b"/etc/shadow"),
    ],
)
def test_a_server_does_no_other_job_than_its_own(talk, said):
    with pytest.raises(MeasurementError, match="what is not its to ask for"):
        talk.to_server(said)


def test_what_fio_takes_for_the_end_of_a_message_is_refused(talk):
    """fio's `fio_net_recv_cmd` ends a message at a part without content, whatever its flags say."""
    evil = job(JOB + "exec_prerun=reboot\n")
    for first, then in (
        (message(JOB_SENT, job(JOB), flags=1), message(JOB_SENT, evil)),
        (b"", message(JOB_SENT, evil)),
    ):
        with pytest.raises(MeasurementError, match="message 3 "):
            talk.to_server(first + message(JOB_SENT, b"", flags=1) + then)
    with pytest.raises(MeasurementError, match="message 17 "):
        talk.to_conductor(
            message(LOG, log("a"), flags=1)
            + message(LOG, b"", flags=1)
            + message(LOG, log("/etc/logrotate.d/x"))
        )


def test_texts_end_in_their_messages(talk):
    """fio writes a zero byte where a text is said to end: in its own memory, or within the declared job."""
    assert talk.to_conductor(message(TEXT, text("fio: hello")))
    for length in (11, 2**31, 2**32 - 1):
        with pytest.raises(MeasurementError, match="message 5 "):
            talk.to_conductor(message(TEXT, text("fio: hello", length)))
    for length in (len(JOB) - 4, len(JOB) + 30, 2**32 - 8):
        with pytest.raises(MeasurementError, match="message 3 "):
            talk.to_server(message(JOB_SENT, struct.pack("<II", length, 1) + JOB.encode()))


def test_the_name_of_a_log_is_in_its_message(talk):
    """Else it would be what an earlier message left behind it in the memory of fio."""
    with pytest.raises(MeasurementError, match="message 17 "):
        talk.to_conductor(message(LOG, b"\1\0\0\0" * 8))


@pytest.mark.parametrize(
    ("samples", "packed", "offsets", "length", "passes"),
    [
        (0, 1, 0, 8, True),
        (300, 1, 0, 400, True),
        (10, 0, 0, 320, True),
        (10, 0, 1, 400, True),
        (10, 0, 0, 290, False),
        (10, 0, 1, 360, False),
        (3000, 0, 0, 0, False),
        ((2**64 - 256) // 32, 1, 0, 4000, False),  # times 32 it is nothing
        (2**59 + 1, 0, 0, 64, False),
        (2**30, 1, 0, 2**20, False),
        (1, 2, 0, 64, False),
    ],
)
def test_a_log_has_as_many_samples_as_it_says(talk, samples, packed, offsets, length, passes):
    """fio took memory for a number of them that was none any more, and unpacked what the client liked into
    it.
    """
    said = message(LOG, log("log_bw.1.log", 32, samples, packed, offsets, b"x" * length))
    if passes:
        assert talk.to_conductor(said) == said
    else:
        with pytest.raises(MeasurementError, match="message 17 "):
            talk.to_conductor(said)


def test_an_option_of_a_job_is_whole(talk):
    """fio reads its name and value where they should be."""
    with pytest.raises(MeasurementError, match="message 22 "):
        talk.to_conductor(
            message(START, struct.pack("<II", 1, 1)) + message(OPTION, struct.pack("<HHI", 1, 0, 0))
        )


def test_nothing_is_written_behind_what_fio_has_memory_for(talk):
    option = [struct.pack("<HHI", *each) + b"bs".ljust(192, b"\0") for each in ((0, 0, 1), (1, 0, 2**32 - 1))]
    begin = message(START, struct.pack("<II", 2, 1))
    said = begin + message(OPTION, option[0]) + message(OPTION, option[1])
    assert talk.to_conductor(said) == said
    for jobs, at in ((2, 2), (1, 2**26), (0, 0), (2**31, 2**30)):
        one = engine.conversation(Command(("fio",), 1.0, {"job.fio": JOB}, "output.json"))
        with pytest.raises(MeasurementError, match=r"message (11|22) "):
            one.to_conductor(
                message(START, struct.pack("<II", jobs, 1)) + message(OPTION, struct.pack("<HHI", 0, 0, at))
            )
    asked = message(PROBE, struct.pack("<Q", 0) + b"c1".ljust(128, b"\0"))
    assert talk.to_server(asked) == asked
    with pytest.raises(MeasurementError, match="message 10 "):
        talk.to_server(message(PROBE, struct.pack("<Q", 0) + b"c" * 5000 + b"\0"))
    told = message(ETA, b"\1" * 400 + b"R" * 32 + b"\0" * 8)
    assert talk.to_conductor(told) == told
    for text_of_jobs in (b"R" * 300_000 + b"\0", b"R" * 400):
        one = engine.conversation(Command(("fio",), 1.0, {"job.fio": JOB}, "output.json"))
        with pytest.raises(MeasurementError, match="message 9 "):
            one.to_conductor(message(ETA, text_of_jobs))
    with pytest.raises(MeasurementError, match="message 17 "):  # of a histogram
        talk.to_conductor(message(LOG, struct.pack("<QII", 2**20, 1, 6) + b"\0" * 300))


@pytest.mark.parametrize("start", [24, 28, 32, 36, 40])
@pytest.mark.parametrize("name", ["/etc/cron.d/x", "../x", "log_bw/1"])
def test_logs_stay_in_the_folder_of_fio_in_each_version(talk, name, start):
    with pytest.raises(MeasurementError, match="message 17"):
        talk.to_conductor(message(LOG, log(name, start)))


@pytest.mark.parametrize("opcode", [SEND_FILE, TRIGGER, 99, 0])
def test_a_server_asks_for_no_file(talk, opcode):
    with pytest.raises(MeasurementError, match=f"its server asked fio for .*message {opcode} "):
        talk.to_conductor(message(opcode, b"/root/.ssh/id_ed25519\0"))


def test_messages_without_end_are_refused(talk):
    part = message(5, b"x" * 2**17, flags=1)
    with pytest.raises(MeasurementError, match="message 5"):
        for _ in range(200):
            talk.to_conductor(part)
