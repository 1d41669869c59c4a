"""Where the arms of trials work on this machine: one target, two copies of the data on it, two targets, or
the file systems of two images.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from iogate.errors import TargetError
from iogate.measure.bench import Places, Watcher
from iogate.measure.settings import Settings
from iogate.model import Device, Needs, Place, Reads, Region
from iogate.target import Fellows, Scratch, Target, check_unchanged, open_target, refusals, resolve
from iogate.target.images import Image, Slots, is_image, open_slots, required_space, slot_refusals
from iogate.target.locks import until_free
from iogate.units import printable

SAME = "same"
"""The base that is a second copy of the same data."""
_MEANT = "place:"


class Site:
    """A target of which a run takes possession when it first needs it; at `close` it is as it was.

    `copies` is how many data files of one size lie there side by side; `heard` is told who has the target,
    where it is waited for.
    """

    def __init__(
        self, target: Target, device: Device, settings: Settings, heard: Watcher, copies: int = 1
    ) -> None:
        self.target = target
        self._device = device
        self._consent = settings.destroy
        self._wait = settings.wait
        self._heard = heard
        self._copies = copies
        self.fellows = Fellows()
        """The other clients of this run that have taken the target, where it is one of several."""
        self._scratch: Scratch | None = None
        self._stack = contextlib.ExitStack()

    @property
    def laid_out(self) -> int:
        """Bytes written so far to lay out data."""
        return self._scratch.written if self._scratch else 0

    def refusals(self, needs: Needs) -> list[TargetError]:
        """Return why a workload cannot run there now. Nothing is written."""
        wanted = replace(needs, size=needs.size * self._copies)
        return refusals(self.target, wanted, device=self._device, consent=self._consent)

    def take(self) -> Scratch:
        """Take the target, unless it is taken already. Raises TargetError."""
        if self._scratch is None:
            notice = self._heard.notice
            self._scratch = until_free(
                self._stack,
                lambda heed: open_target(
                    self.target,
                    device=self._device,
                    consent=self._consent,
                    heed=heed,
                    notice=notice,
                    fellows=self.fellows,
                ),
                self._wait,
                notice,
            )
        return self._scratch

    def place(self, needs: Needs, folder: Path, tick: Callable[[int, int], None], copy: int = 0) -> Place:
        """Return where a repetition works, with its data laid out. Raises TargetError."""
        if not needs.target:
            return Place(folder, None, folder)
        scratch, first = self.take(), copy * needs.files
        data, *more = (scratch.data(needs, tick, first + each) for each in range(needs.files))
        return Place(data, scratch.folder, folder, tuple(more))

    def missing(self, needs: Needs, copy: int = 0) -> int:
        """Return how many bytes `place` would write first, to lay out data. Raises TargetError."""
        if not needs.target:
            return 0
        scratch = self.take()
        return sum(scratch.missing(needs, copy * needs.files + each) for each in range(needs.files))

    def look_ahead(self, jobs: Sequence[Reads]) -> None:
        """Look at what jobs may read, before they write there."""
        self.take().look_ahead(jobs)

    def blank(self, parts: Mapping[str, Sequence[Region]]) -> Mapping[str, float] | None:
        """Return the shares of what jobs read that was never written, by their names, as a sample of a block
        device tells.
        """
        return self.take().blank(parts) if parts else None

    def readable(self, text: str) -> str:
        """Return what an engine says, with paths as people know them."""
        return self.take().readable(text)

    def check(self) -> None:
        """Raise TargetError if the path, or the scratch folder's, leads elsewhere by now."""
        check_unchanged(self.target)
        self.take().check()

    def close(self) -> None:
        """Remove what was laid out and let go of the target."""
        self._scratch = None
        self._stack.close()


class Sites:
    """The one site of a run without a base: pairs differ in their options and work on the same data."""

    places: Places = "one"
    base = ""
    named = ""
    """What the candidate's place is called, where the base has another one."""
    _copies = 1

    def __init__(self, settings: Settings, device: Device, heard: Watcher) -> None:
        target = resolve(device, settings.root, settings.target)
        self.candidate = Site(target, device, settings, heard, self._copies)

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        """Return why a workload cannot run now, on whichever site. Nothing is written."""
        return self.candidate.refusals(needs)

    def open(self) -> None:
        """Take what must be taken before the first repetition. Raises TargetError."""
        self.candidate.take()

    def moving(self, swapped: bool) -> int:
        """Return how many bytes are written to bring the arms to where they work, before any data are laid
        out. Raises TargetError.
        """
        return 0

    def arm(self, number: int, swapped: bool) -> tuple[Site, int]:
        """Return where arm A (0) or B (1) works, and on which copy of the data. Raises TargetError."""
        return self.candidate, 0

    @property
    def laid_out(self) -> int:
        """Bytes written so far to lay out data."""
        return self.candidate.laid_out

    def close(self) -> None:
        """Remove what was laid out and let go of the targets."""
        self.candidate.close()


class _Copies(Sites):
    """Two copies of the data on one target, which change places by being exchanged."""

    places: Places = "copies"
    base = "a second copy of the same data"
    _copies = 2

    def __init__(self, settings: Settings, device: Device, heard: Watcher) -> None:
        super().__init__(settings, device, heard)
        if self.candidate.target.kind == "device":
            raise TargetError(
                f"--io-against={SAME} needs a directory: {self.candidate.target.path} has one place for data",
                rule="not-a-directory",
                remedy="mount a file system of the device and name its directory with --io-target",
            )

    def arm(self, number: int, swapped: bool) -> tuple[Site, int]:
        return self.candidate, (1 - number) ^ swapped


class _Targets(Sites):
    """Two targets: their places are a part of what is compared."""

    places: Places = "targets"

    def __init__(
        self, settings: Settings, device: Device, heard: Watcher, named: str, *, meant: bool
    ) -> None:
        super().__init__(settings, device, heard)
        target = resolve(device, settings.root, named)
        _check_apart(self.candidate.target, target, named, meant=meant)
        self._other = Site(target, device, settings, heard)
        self.base, self.named = str(target.path), str(self.candidate.target.path)

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        return [*self._other.refusals(needs), *self.candidate.refusals(needs)]

    def open(self) -> None:
        self._other.take()
        self.candidate.take()

    def arm(self, number: int, swapped: bool) -> tuple[Site, int]:
        return (self.candidate if number else self._other), 0

    @property
    def laid_out(self) -> int:
        return self.candidate.laid_out + self._other.laid_out

    def close(self) -> None:
        with contextlib.ExitStack() as stack:  # the second is closed even if the first cannot be
            stack.callback(self.candidate.close)
            stack.callback(self._other.close)


class _Images(Sites):
    """The file systems of two images, copied into two slots on the profile's target; they change slots."""

    places: Places = "images"

    def __init__(self, settings: Settings, device: Device, heard: Watcher, base: str, candidate: str) -> None:
        super().__init__(replace(settings, target=None), device, heard)
        self._settings, self._heard = settings, heard
        self._device = device
        self._images = Image.parse(base), Image.parse(candidate)
        self.base, self.named = map(str, self._images)
        self._slots: Slots | None = None
        self._swapped = False
        self._arms: list[Site] = []
        self._written = 0
        self._stack = contextlib.ExitStack()

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        if self._arms:
            return [error for arm in self._arms for error in arm.refusals(needs)]
        return slot_refusals(self.candidate.target.path, *self._images)

    def moving(self, swapped: bool) -> int:
        if self._slots is None:
            return required_space(*self._images)
        return self._slots.space if swapped != self._swapped else 0

    def open(self) -> None:
        if self._slots is None:
            heard, folder = self._heard, self.candidate.target.path
            self._slots = until_free(
                self._stack,
                lambda heed: open_slots(
                    folder, *self._images, heard.laying_out, heed=heed, notice=heard.notice
                ),
                self._settings.wait,
                heard.notice,
            )
            self._mounted(self._slots)

    def arm(self, number: int, swapped: bool) -> tuple[Site, int]:
        self.open()
        assert self._slots
        if swapped != self._swapped:
            self._let_go()
            self._slots.swap(self._heard.laying_out)
            self._swapped = swapped
            self._mounted(self._slots)
        return self._arms[number], 0

    def _mounted(self, slots: Slots) -> None:
        self._written += slots.space
        self._arms = [
            Site(target, self._device, self._settings, self._heard) for target in slots.targets(self._device)
        ]

    def _let_go(self) -> None:
        """Let go of both file systems, before they are unmounted."""
        with contextlib.ExitStack() as stack:
            for arm in self._arms:
                stack.callback(arm.close)
        self._written += sum(arm.laid_out for arm in self._arms)
        self._arms = []

    @property
    def laid_out(self) -> int:
        return self._written + sum(arm.laid_out for arm in self._arms)

    def close(self) -> None:
        with self._stack:
            self._let_go()
        self._slots = None


def sites_of(settings: Settings, device: Device, heard: Watcher) -> Sites:
    """Return where the arms of a run work. Raises TargetError for what cannot be found or compared."""
    against = settings.against
    if against is None:
        return Sites(settings, device, heard)
    if against == SAME:
        return _Copies(settings, device, heard)
    images = [bool(item) and is_image(item) for item in (against, settings.target or "")]
    if all(images):
        return _Images(settings, device, heard, against, settings.target or "")
    if any(images):
        other = (settings.target or "") if images[0] else against
        if other and not Path(other).is_dir():
            Image.parse(other)  # says what is wrong with its name
        raise TargetError(
            printable(f"{against if images[0] else settings.target} is an image, and the other is none"),
            rule="kinds",
            remedy="name two images: --io-against=OLD.img --io-target=NEW.img",
        )
    return _Targets(settings, device, heard, against.removeprefix(_MEANT), meant=against.startswith(_MEANT))


def _check_apart(candidate: Target, base: Target, named: str, *, meant: bool) -> None:
    """Raise TargetError for two targets of which one cannot be held against the other."""
    if candidate.identity == base.identity:
        raise TargetError(
            printable(f"--io-against={named} is the target itself"),
            rule="same",
            remedy=f"name another one, or --io-against={SAME} for a second copy of the same data",
        )
    if candidate.kind != base.kind:
        raise TargetError(
            printable(
                f"{base.path} is a {base.kind}, {candidate.path} a {candidate.kind}: that is no comparison"
            ),
            rule="kinds",
            remedy="name two directories, or two block devices",
        )
    if base.kind == "directory" and base.identity[0] == candidate.identity[0] and not meant:
        raise TargetError(
            printable(
                f"{base.path} and {candidate.path} are on one file system: only the place would differ"
            ),
            rule="same",
            remedy=printable(
                f"--io-against={SAME} compares two copies and removes what the place does; "
                f"--io-against={_MEANT}{named} if the place is what you mean"
            ),
        )
