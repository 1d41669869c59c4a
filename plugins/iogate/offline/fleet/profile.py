"""The profile by which new devices of a model are measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iogate.declare.device import DeviceFile, load_device
from iogate.errors import InputError, IogateError
from iogate.formats import yamlio
from iogate.formats.schema import check_document
from iogate.host.environment import identity_mismatch
from iogate.judge.baseline.file import PROFILE
from iogate.judge.baseline.places import near_path
from iogate.offline.devices.initial import KIND, write_new

_OWN = ("host", "target_id", "identity", "description", "accepts", "missing", "learn")
"""What a profile says of one device, or of how its baseline came to be."""
_HEAD = """\
# The profile of a fleet: new devices of this model are accepted by pytest --device={name}, on the device
# itself or with --io-host=SPEC. Begun by iogate from the profiles of the devices in its baseline: review it.
"""


class Profile:
    """The profile in a folder, which may be there; else one is made of those of the `devices`, whose model
    has these facts, as far as these profiles say the same.
    """

    def __init__(self, folder: Path, devices: Sequence[str], model: Mapping[str, str]) -> None:
        self._file = folder / PROFILE
        self._devices = devices
        self._kind = {key: model[key] for key in KIND if key in model} or {
            key: model[key] for key in ("cpu",) if key in model
        }
        self._model = model

    def require_fit(self) -> None:
        """Raise InputError if the profile that is there is of another model, or cannot be read."""
        if not os.path.lexists(self._file):
            return
        known = load_device(self._file.parent.name, self._file.parent.parent)
        shared = {name: text for name, text in known.identity.items() if name in self._model}
        wrong = identity_mismatch(shared, self._model)
        if wrong:
            raise InputError(
                f"{self._file} is of another model: {'; '.join(wrong)}", remedy="choose another name"
            )

    def write(self) -> str:
        """Write it if there is none, and return what was done, or what is needed. Raises IogateError."""
        if os.path.lexists(self._file):
            return f"{near_path(self._file)} is there, and is kept"
        common = self._common()
        if common is None:
            lines = [f"{near_path(self._file)} is needed before new devices can be measured, such as:"]
            text = yamlio.dumps({**self._head(), "target": "/mnt/disk"}).rstrip()
            return "\n".join([*lines, *(f"  {line}" for line in text.splitlines())])
        text = _HEAD.format(name=self._file.parent.name) + yamlio.dumps({**self._head(), **common})
        check_document(DeviceFile, yamlio.loads(text, str(self._file)))
        write_new(self._file, text)
        return f"{near_path(self._file)} is written, from the profiles of the devices: review it"

    def _head(self) -> dict[str, Any]:
        told = [text for key, text in self._kind.items() if key != "board"]
        return {
            "description": f"any {', '.join(told) or 'device of the fleet'}",
            **({"identity": dict(self._kind)} if self._kind else {}),
        }

    def _common(self) -> dict[str, Any] | None:
        """Return what the profiles of the devices say alike of any of them; None if there are none, or they
        differ.
        """
        found: list[dict[str, Any]] = []
        for name in self._devices:
            file = self._file.parent.parent / name / PROFILE
            try:
                load_device(name, self._file.parent.parent)
                data = yamlio.load(file).data
            except IogateError:
                continue
            found.append({key: value for key, value in data.items() if key not in _OWN})
        same = found and all(one == found[0] for one in found)
        return found[0] if same else None
