"""Projects that would leave something out in silence: warned of, and with --io-strict refused."""

import json

from projects import refused

LAB = "target: .\n"


def strictly_refused(project, *words, arguments=("suites", "--device=lab")):
    """The run warns of this without --io-strict, and is refused with it."""
    warned = project.run(*arguments)
    assert warned.ret == 0
    text = " ".join(warned.stdout.str().split())
    assert "warning: " in text
    for word in words:
        assert word in text
    result = project.run(*arguments, "--io-strict")
    refused(result, "--io-strict refuses this run", *words, status=4)
    assert "runs" not in result.stdout.str()


def last_failed(project, test):
    """Let pytest's cache say that this test failed last."""
    cache = project.path / ".pytest_cache/v/cache"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "lastfailed").write_text(json.dumps({test: True}))
