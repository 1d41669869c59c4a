"""`iogate completion`: what a shell needs to complete `iogate`, and pytest's options with it."""

from __future__ import annotations

import argparse

from iogate.cli.common import Commands, epilog, say

SHELLS = ("bash", "zsh", "fish")


def add(commands: Commands) -> None:
    """Declare the command."""
    completion = commands.add_parser(
        "completion",
        help="print what a shell needs to complete iogate and pytest",
        description="Prints the code with which a shell completes the commands `iogate` and `pytest`, with "
        "the options of whatever plugins there are.",
        **epilog(
            'eval "$(iogate completion bash)"    # in ~/.bashrc',
            'eval "$(iogate completion zsh)"     # in ~/.zshrc, behind compinit',
            "iogate completion fish > ~/.config/fish/completions/iogate.fish",
            statuses="0 printed, 2 wrong use",
        ),
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.add_argument("--no-pytest", action="store_true", help="leave pytest alone")
    completion.set_defaults(act=_act)


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks what could come next, and end; do nothing if none asks."""
    import argcomplete

    argcomplete.autocomplete(parser)


def _act(given: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    commands = ["iogate"] if given.no_pytest else ["iogate", "pytest"]
    say(shellcode(commands, shell=given.shell).strip())
    return 0
