"""Unix sockets whose connections go by messages."""

import queue
import socket
import stat
import threading

import pytest

from iogate.remote.relay import Flow, connected, listening


@pytest.fixture
def deep(tmp_path):
    """A folder whose path is too long for the address of a socket."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir(mode=0o700)
    return folder


def test_what_is_said_at_one_end_is_heard_at_the_other(deep):
    way = queue.SimpleQueue()
    outer = Flow(way.put)
    inner = Flow(outer.feed)
    threading.Thread(target=lambda: [inner.feed(data) for data in iter(way.get, None)], daemon=True).start()
    (deep / "there").mkdir()
    with listening(deep, "here") as accept, listening(deep / "there", "server") as serve:
        assert stat.S_ISSOCK((deep / "here").stat().st_mode)
        outer.run(accept)
        inner.run(lambda: connected(deep / "there", "server"), awaited=True)
        with connected(deep, "here") as client:
            client.sendall(b"question")
            with serve() as server:
                assert server.recv(100) == b"question"
                server.sendall(b"answer" * 50_000)
                answer = b""
                while len(answer) < 300_000:
                    answer += client.recv(2**16)
                assert answer == b"answer" * 50_000
                client.shutdown(socket.SHUT_RDWR)
                assert server.recv(100) == b""  # its end is passed on, too
    way.put(None)
    outer.close()
    inner.close()


def test_what_is_closed_ends_the_connection(deep):
    said = queue.SimpleQueue()
    flow = Flow(said.put)
    with listening(deep, "here") as accept:
        flow.run(accept)
        with connected(deep, "here") as client:
            client.sendall(b"a")
            assert said.get(timeout=60) == b"a"
            flow.close()
            assert client.recv(100) == b""
            assert said.get(timeout=60) == b""


def test_who_waits_for_a_connection_that_never_comes_is_woken(deep):
    said = queue.SimpleQueue()
    flow = Flow(said.put)
    with listening(deep, "here") as accept:
        flow.run(accept)
    assert said.get(timeout=60) == b""
