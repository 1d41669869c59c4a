"""One repetition on several clients: what they say of themselves is what strangers say."""

from types import SimpleNamespace

import pytest

from iogate.errors import MeasurementError
from iogate.model import Command
from iogate.remote.together import Together
from workloads import declared


def client(name, files):
    """A client whose part is a command with these files."""
    return SimpleNamespace(
        host=name,
        version=lambda engine: "fio-3.33",
        prepare=lambda asked: None,
        prepared=lambda: Command(("fio",), 1.0, files, "output.json"),
        ahead=lambda: (0.0, 0.0),
        halt=lambda: None,
        halted=lambda: None,
        not_understood=lambda error: MeasurementError(f"{name} said what cannot be understood: {error}"),
    )


@pytest.mark.parametrize("files", [{}, {"other.fio": "[w]\n"}])
def test_a_client_without_a_job_is_named(tmp_path, files):
    clients = {"client_1": client("c1", {"job.fio": "[w]\n"}), "client_2": client("c2", files)}
    workload = declared("fio", rw="randread", size="1M", clients=2)
    with pytest.raises(MeasurementError, match="c2 said what cannot be understood"):
        Together(clients, "s::w", workload, "1", (), tmp_path).run()
