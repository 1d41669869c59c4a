"""The audit holds an output against the device and the machine: counters, link, heat, others."""

from dataclasses import replace

import pytest

from iogate.audit import Evidence
from iogate.audit.rules import device, machine, storage
from iogate.audit.snapshot import Counters, Disk, Snapshot
from iogate.audit.snapshot.health import Health
from iogate.audit.snapshot.link import Link
from iogate.audit.snapshot.system import System
from iogate.host.control_group import CpuLimit
from iogate.host.mounts import Mount
from iogate.model import Needs, Output, Traffic

GIB = 2**30


def disk(read=0, written=0, **changes):
    counters = Counters(read, written)
    return replace(Disk("sda", counters, counters, scheduler="mq-deadline"), **changes)


def mount(file_system="ext4", options="rw"):
    return Mount(1, "8:1", "/", "/data", file_system, "/dev/sda1", options)


def reading(seconds=0.0, disk=None, **changes):
    return Snapshot(seconds, disk, **changes)


def run(
    *, read=GIB, written=0, moved=(GIB, 0), direct=True, options=None, after=None, before=None, **changes
):
    """A run that claims to have read 1 GiB in 10 s, of a disk that did it."""
    traffic = {
        name: Traffic(size, size // 4096, 10.0) for name, size in (("read", read), ("write", written)) if size
    }
    metrics = {f"{name}.bandwidth": size / 10 for name, size in (("read", read), ("write", written)) if size}
    needs = Needs(reads=read > 0, writes=written > 0, direct=direct)
    given = {
        "before": before or reading(disk=disk(5000, 700)),
        "after": after or reading(10.0, disk(5000 + moved[0], 700 + moved[1])),
        "file_system": "ext4",
        **changes,
    }
    return Evidence(
        Output(metrics, traffic, user=0.1, system=0.1), options or {}, needs, seconds=10.1, **given
    )


def said(check, subject):
    return [(remark.severity, remark.message) for remark in check(subject)]


def severities(check, subject):
    return [severity for severity, _ in said(check, subject)]


each_check = pytest.mark.parametrize(
    "check",
    [*device.CHECKS, *storage.CHECKS, *machine.CHECKS],
    ids=lambda check: check.__name__,
)


@each_check
def test_io_that_goes_elsewhere_is_not_held_against_the_target(check):
    idle = reading(10.0, disk(5000, 700, cached="loop7", write_cache="write back"))
    subject = run(written=GIB // 2, after=idle)
    assert said(check, replace(subject, needs=replace(subject.needs, target=False))) == []


@each_check
def test_a_sound_run_gives_no_remark(check):
    assert said(check, run()) == []


@each_check
def test_nothing_is_said_where_nothing_could_be_read_but_that(check):
    empty = reading()
    remarks = said(check, run(before=empty, after=empty, file_system=""))
    assert [severity for severity, _ in remarks] == (["note"] if check is device.no_device else [])


def blanks(share):
    return None if share is None else {"": share}


class TestPageCache:
    def test_reads_that_the_device_never_saw_are_invalid(self):
        ((severity, message),) = said(device.page_cache, run(moved=(GIB // 10, 0)))
        assert severity == "invalid"
        assert "claims 1.000 GiB" in message and "moved 102.4 MiB (10.0%)" in message

    def test_writes_that_the_device_never_saw_are_invalid(self):
        found = said(device.page_cache, run(read=0, written=GIB, moved=(0, GIB // 2)))
        assert [severity for severity, _ in found] == ["invalid"] and "write:" in found[0][1]

    @pytest.mark.parametrize("share", [0.91, 1.0, 1.5])
    def test_the_ramp_and_a_little_less_are_no_offence(self, share):
        assert said(device.page_cache, run(moved=(int(GIB * share), 0))) == []

    @pytest.mark.parametrize("file_system", ["btrfs", "zfs", "overlay"])
    def test_file_systems_that_pool_or_shrink_data_are_suspect_at_most(self, file_system):
        assert severities(device.page_cache, run(moved=(0, 0), file_system=file_system)) == ["suspect"]

    def test_a_buffered_run_is_labelled_and_never_invalid(self):
        subject = run(moved=(GIB // 4, 0), direct=False)
        assert said(device.page_cache, subject) == []
        ((severity, message),) = said(device.cached, subject)
        assert severity == "suspect" and "of 1.000 GiB the device moved 256.0 MiB" in message

    @pytest.mark.parametrize("moved", [(GIB, GIB // 2), (GIB // 2, GIB), (4 * GIB, 0)])
    def test_each_direction_of_buffered_io_must_reach_the_device(self, moved):
        subject = run(written=GIB, moved=moved, direct=False)
        assert severities(device.cached, subject) == ["suspect"]
        assert severities(device.cached, run(written=GIB, moved=(GIB, GIB), direct=False)) == ["note"]

    def test_who_means_the_page_cache_is_not_told_so(self):
        subject = run(moved=(0, 0), direct=False)
        meant = replace(subject, needs=replace(subject.needs, cached=True))
        assert severities(device.cached, meant) == ["note"]

    def test_buffered_io_that_nobody_counted_is_labelled(self):
        assert severities(device.cached, run(direct=False, before=reading(), after=reading(10.0))) == ["note"]

    def test_a_device_that_does_not_count_proves_nothing(self):
        subject = run(before=reading(disk=disk(counted=False)), after=reading(10.0, disk(counted=False)))
        assert said(device.page_cache, subject) == []
        assert severities(device.not_counted, subject) == ["note"]

    def test_a_loop_device_over_the_page_cache_is_suspect(self):
        after = reading(10.0, disk(5000 + GIB, cached="loop7"))
        assert severities(device.loop_cache, run(after=after)) == ["suspect"]

    @pytest.mark.parametrize("memory", ["zram0", "loop7 on a file in tmpfs"])
    def test_a_device_that_is_memory_is_suspect(self, memory):
        ((severity, message),) = said(
            device.no_device, run(after=reading(10.0, disk(5000 + GIB, memory=memory)))
        )
        assert severity == "suspect" and memory in message

    @pytest.mark.parametrize(
        ("share", "expected"), [(0.001, ["suspect"]), (0.06, ["invalid"]), (1.0, ["invalid"])]
    )
    def test_unwritten_data_are_told(self, share, expected):
        before = reading(disk=disk(5000, 700), size=GIB, unwritten=int(GIB * share))
        assert severities(device.unwritten_extents, run(before=before)) == expected

    @pytest.mark.parametrize(
        ("share", "expected"), [(None, []), (0.0, []), (0.05, []), (0.11, ["suspect"]), (1.0, ["suspect"])]
    )
    def test_blocks_of_a_device_without_data_are_told(self, share, expected):
        assert severities(device.blank_blocks, run(blank=blanks(share))) == expected

    @pytest.mark.parametrize(
        ("evidence", "filled"),
        [
            ({"blank": blanks(0.0)}, {"filled": 1.0}),
            ({"blank": blanks(0.25)}, {"filled": 0.75}),
            ({"blank": blanks(1.0)}, {"filled": 0.5 / 256}),
            ({"blank": None}, {}),
            ({"blank": blanks(0.25), "read": 0, "written": GIB}, {}),
            ({"blank": blanks(0.25), "written": GIB, "options": {"verify": "crc32c"}}, {"filled": 0.75}),
            ({"blank": {"hot": 0.25, "scan": 0.0}}, {"hot.filled": 0.75, "scan.filled": 1.0}),
            ({"blank": {"": 0.0, "backing": 0.5}}, {"filled": 1.0, "backing.filled": 0.5}),
        ],
    )
    def test_how_much_of_what_was_read_held_data(self, evidence, filled):
        assert run(**evidence).filled == filled

    @pytest.mark.parametrize(
        ("own", "other", "expected"),
        [(0.08, 0.0, ["invalid"]), (0.08, 0.06, []), (0.0, 0.12, []), (0.3, 0.3, ["suspect"])],
    )
    def test_an_arm_that_is_emptier_than_the_other_is_invalid(self, own, other, expected):
        """Of two raw devices the one that an eighth was trimmed of was faster by that."""
        assert severities(device.blank_blocks, run(blank=blanks(own), blank_beside=blanks(other))) == expected

    def test_blank_blocks_that_nobody_reads_are_no_offence(self):
        assert said(device.blank_blocks, run(read=0, written=GIB, blank=blanks(1.0))) == []

    def test_writing_into_unwritten_data_is_no_offence(self):
        before = reading(disk=disk(5000, 700), size=GIB, unwritten=GIB)
        assert said(device.unwritten_extents, run(read=0, written=GIB, before=before)) == []


class TestOthers:
    def test_foreign_reads_on_the_disk_are_suspect(self):
        ((severity, message),) = said(device.others_io, run(moved=(2 * GIB, 0)))
        assert severity == "suspect" and "1.000 GiB are not its own" in message

    def test_foreign_writes_during_a_read_are_suspect(self):
        assert severities(device.others_io, run(moved=(GIB, GIB // 4))) == ["suspect"]

    def test_a_journal_and_some_logs_are_no_offence(self):
        assert said(device.others_io, run(moved=(GIB + GIB // 20, 6 * 2**20))) == []

    @pytest.mark.parametrize(
        ("reads", "writes", "found"),
        [
            (1024, 0, []),
            (512, 340, []),
            (1024 + 340, 0, []),  # 10%, and less than 25 a second
            (1024 + 400, 0, ["suspect"]),
            (1024, 1024, ["suspect"]),
            (512, 1024, ["suspect"]),  # those of the engine were merged
        ],
    )
    def test_small_ios_of_others_are_suspect_where_the_device_does_few(self, reads, writes, found):
        """Of a disk of 200 IOPS another user had half, without a word: it is little in bytes."""
        assert severities(device.others_io, self.few(reads, writes)) == found
        assert severities(device.others_io, self.few(reads, writes, unsplit=2**15)) == []
        assert severities(device.others_io, self.few(reads, writes, unsplit=0)) == []
        assert severities(device.others_io, self.few(reads, writes, ramp_time=3)) == [], (
            "nobody knows its ramp"
        )

    def few(self, reads, writes, unsplit=2**17, **options):
        """1024 reads of 64 KiB in 10 s, on a disk that did so many, others of 4 KiB."""
        others = 4096 * max(0, reads - 1024)
        before = Counters(5000, 700, 100, 7)
        after = Counters(5000 + 2**26 + others, 700 + 4096 * writes, 100 + reads, 7 + writes)
        found = run(
            read=2**26,
            before=reading(disk=disk(whole=before, target=before, unsplit=unsplit)),
            after=reading(10.0, disk(whole=after, target=after, unsplit=unsplit)),
            options=options,
        )
        return replace(found, output=replace(found.output, traffic={"read": Traffic(2**26, 1024, 10.0)}))

    @pytest.mark.parametrize(("reads", "found"), [(1430, []), (1024 + 300 + 300, []), (3000, ["suspect"])])
    def test_the_engine_did_as_much_in_its_ramp(self, reads, found):
        """1024 in 10 s are some 307 in a ramp of 3 s."""
        ramped = self.few(reads, 0, ramp_time=3)
        whole = replace(ramped.after.disk.whole, read=ramped.after.disk.whole.read + 307 * 2**16)
        after = replace(ramped.after, disk=replace(ramped.after.disk, whole=whole))
        assert severities(device.others_io, replace(ramped, after=after, series=(6.7e6,) * 13)) == found

    @pytest.mark.parametrize(("beyond", "found"), [(0, []), (2**20, []), (2**21, ["suspect"])])
    def test_what_the_engine_itself_did_in_more_pieces_is_no_one_elses(self, beyond, found):
        """As in a fragmented file, or some larger I/Os among small ones."""
        sound = self.few(4096, 0)
        after = replace(sound.after.disk.whole, read=5000 + 2**26 + beyond)
        pieces = replace(sound, after=replace(sound.after, disk=replace(sound.after.disk, whole=after)))
        assert severities(device.others_io, pieces) == found

    def test_a_file_system_may_add_to_writes(self):
        before, after = Counters(0, 0), Counters(0, 2**26, 0, 3000)
        found = run(
            read=0,
            written=2**26,
            before=reading(disk=disk(whole=before, target=before, unsplit=2**17)),
            after=reading(10.0, disk(whole=after, target=after, unsplit=2**17)),
        )
        slow = replace(found.output, traffic={"write": Traffic(2**26, 1024, 10.0)})
        assert said(device.others_io, replace(found, output=slow)) == []

    def test_what_the_other_arm_of_a_pair_did_is_no_one_elses(self):
        both = replace(self.few(2048, 0), beside={"read": Traffic(2**22, 1024, 10.0)})
        assert said(device.others_io, both) == []

    def test_the_ramp_is_the_engines_own(self):
        """A device that was faster in its ramp, as its cache took it, was said to be shared."""
        ramped = run(moved=(4 * GIB, 0), options={"ramp_time": 3})
        assert said(device.others_io, ramped) == [], "nobody knows what it did in its ramp"
        fast = replace(ramped, series=(GIB, GIB, GIB, *[GIB / 10] * 10))
        assert said(device.others_io, fast) == []
        shared = replace(ramped, series=(GIB / 10,) * 13)
        assert severities(device.others_io, shared) == ["suspect"]

    def test_a_search_for_a_queue_depth_is_the_engines_own(self):
        assert said(device.others_io, run(moved=(2 * GIB, 0), options={"latency_target": "20ms"})) == []

    def test_on_a_partition_the_whole_disk_is_watched(self):
        before = reading(disk=Disk("sda1", Counters(0, 0), Counters(0, 0)))
        after = reading(10.0, Disk("sda1", Counters(GIB, 0), Counters(3 * GIB, 0)))
        subject = run(before=before, after=after)
        assert said(device.page_cache, subject) == []
        assert severities(device.others_io, subject) == ["suspect"]

    def test_a_partition_that_is_not_counted_is_held_against_its_whole_disk(self):
        none = Counters(0, 0)
        before = reading(disk=Disk("nvme0n1p1", none, Counters(7, 7), lumped=True))
        after = reading(10.0, Disk("nvme0n1p1", none, Counters(7 + GIB, 7), lumped=True))
        lumped = run(before=before, after=after)
        assert said(device.page_cache, lumped) == said(device.others_io, lumped) == []
        little = reading(10.0, Disk("nvme0n1p1", none, Counters(7 + GIB // 2, 7), lumped=True))
        assert severities(device.page_cache, run(before=before, after=little)) == ["invalid"]

    def test_a_partition_that_begins_to_count_is_held_against_itself(self):
        before = reading(disk=Disk("nvme0n1p1", Counters(0, 0), Counters(9 * GIB, 7), lumped=True))
        after = reading(10.0, Disk("nvme0n1p1", Counters(GIB, 0), Counters(10 * GIB, 7)))
        assert said(device.page_cache, run(before=before, after=after)) == []


class TestLink:
    def test_faster_than_the_link_is_invalid(self):
        link = Link(600e6, "SATA 6.0 Gb/s")
        after = reading(10.0, disk(5000 + 7 * GIB, 700, link=link))
        ((severity, message),) = said(device.link_limit, run(read=7 * GIB, after=after))
        assert severity == "invalid" and "SATA 6.0 Gb/s" in message

    def test_the_profile_knows_better_than_sys(self):
        after = reading(10.0, disk(5000 + 7 * GIB, 700, link=Link(600e6, "SATA")))
        assert said(device.link_limit, run(read=7 * GIB, after=after, link=1e9)) == []
        assert severities(device.link_limit, run(read=7 * GIB, after=after, link=5e8)) == ["invalid"]

    def test_buffered_figures_may_be_faster(self):
        subject = run(read=7 * GIB, link=5e8, direct=False)
        assert severities(device.link_limit, subject) == ["note"]

    @pytest.mark.parametrize("direct", [True, False])
    def test_an_existing_output_is_held_against_the_link_that_is_said_or_the_fastest_there_is(self, direct):
        fast = {"before": None, "after": None, "declared": False, "direct": direct}
        assert said(device.link_limit, run(read=140 * GIB, **fast)) == []
        ((severity, message),) = said(device.link_limit, run(read=170 * GIB, **fast))
        assert severity == "suspect" and "PCIe 5.0 x4, the fastest link that most disks have" in message
        assert severities(device.link_limit, run(read=7 * GIB, link=5e8, **fast)) == ["invalid"]

    def test_each_direction_has_the_link_for_itself(self):
        assert said(device.link_limit, run(read=4 * GIB, written=4 * GIB, link=4.5e8)) == []

    def test_a_link_below_its_best_is_noted(self):
        after = reading(10.0, disk(link=Link(1.97e9, "PCIe 3.0 x2", "PCIe 4.0 x4")))
        ((severity, message),) = said(storage.link_degraded, run(after=after))
        assert severity == "note" and "it could do PCIe 4.0 x4" in message


class TestFileSystem:
    def test_memory_is_not_storage(self):
        ((severity, message),) = said(device.no_device, run(file_system="tmpfs"))
        assert severity == "suspect" and "memory" in message

    @pytest.mark.parametrize(("direct", "severity"), [(False, "suspect"), (True, "invalid")])
    def test_an_overlay_over_what_cannot_be_seen_may_be_memory(self, direct, severity):
        idle = reading(disks=Counters(7 * GIB, GIB)), reading(10.0, disks=Counters(7 * GIB + GIB // 2, GIB))
        subject = run(file_system="overlay", direct=direct, before=idle[0], after=idle[1])
        ((found, message),) = said(device.no_device, subject)
        assert found == severity and "whose upper layer cannot be seen" in message
        assert ("claims 1.000 GiB, all disks together moved 512.0 MiB" in message) == direct

    @pytest.mark.parametrize("disks", [None, Counters(GIB, 0)])
    def test_what_a_disk_moved_or_nobody_counted_is_suspect_at_most(self, disks):
        before, after = reading(disks=disks and Counters(0, 0)), reading(10.0, disks=disks)
        subject = run(file_system="overlay", before=before, after=after)
        assert severities(device.no_device, subject) == ["suspect"]

    @pytest.mark.parametrize(
        ("held", "words"), [("tmpfs", "an overlay over tmpfs: these are the numbers of memory"), ("zfs", "")]
    )
    def test_an_overlay_is_what_its_upper_layer_is(self, held, words):
        after = reading(10.0, held=mount(held), disks=Counters(0, 0))
        ((severity, message),) = said(device.no_device, run(file_system="overlay", direct=False, after=after))
        assert severity == ("suspect" if words else "note") and words in message

    def test_a_file_system_without_a_device_here_is_named(self):
        ((severity, message),) = said(device.no_device, run(file_system="nfs4", after=reading(10.0)))
        assert severity == "note" and "nfs4" in message

    def test_a_target_of_which_nothing_is_known_is_noted(self):
        ((severity, message),) = said(device.no_device, run(file_system="", after=reading(10.0)))
        assert severity == "note" and message.startswith("the target has no device here")

    @pytest.mark.parametrize(("full", "expected"), [(0.5, []), (0.9, []), (0.93, ["suspect"])])
    def test_a_nearly_full_file_system_is_suspect(self, full, expected):
        assert severities(storage.nearly_full, run(after=reading(10.0, full=full))) == expected

    @pytest.mark.parametrize(
        ("pieces", "block", "expected"),
        [
            (2**14, 65536, ["suspect"]),
            (1640, 65536, ["suspect"]),
            (1630, 65536, []),
            (1640, 4096, []),
            (2**18, 4096, ["suspect"]),
            (104, 2**20, ["suspect"]),
            (9, 2**20, []),
            (1, 2**30, []),
            (0, 65536, []),
            (None, 65536, []),
        ],
    )
    def test_data_of_which_many_reads_are_of_two_pieces_are_suspect(self, pieces, block, expected):
        evidence = run(before=reading(disk=disk(), size=GIB, unwritten=0, pieces=pieces))
        evidence = replace(evidence, needs=replace(evidence.needs, block=block))
        assert severities(storage.fragmented, evidence) == expected

    def test_who_writes_to_them_cuts_them_up_himself(self):
        before = reading(disk=disk(), size=GIB, pieces=2**18)
        assert said(storage.fragmented, run(written=GIB, before=before)) == []
        assert said(storage.fragmented, run(read=0, written=GIB, before=before)) == []

    @pytest.mark.parametrize(
        ("options", "count"),
        [
            ("rw,relatime,discard", 0),
            ("rw,sync", 1),
            ("rw,data=journal", 1),
            ("rw,barrier=0", 1),
            ("rw,compress=zstd:3", 1),
            ("rw,dax=never", 0),
            ("rw,dax=inode", 0),
            ("rw,dax=always,sync", 2),
        ],
    )
    def test_mount_options_that_change_the_meaning_are_noted(self, options, count):
        after = reading(10.0, disk(), mount=mount(options=options))
        assert severities(storage.mount_options, run(after=after)) == ["note"] * count


class TestDiskState:
    def test_writes_that_fit_into_the_volatile_cache_are_noted(self):
        after = reading(10.0, disk(write_cache="write back"))
        small = run(read=0, written=GIB // 2, after=after)
        assert severities(storage.write_cache, small) == ["note"]
        assert said(storage.write_cache, replace(small, options={"end_fsync": "1"})) == []
        assert said(storage.write_cache, run(read=0, written=4 * GIB, after=after)) == []

    def test_bfq_on_flash_is_noted_and_on_a_hard_disk_not(self):
        assert severities(storage.scheduler, run(after=reading(1, disk(scheduler="bfq")))) == ["note"]
        assert said(storage.scheduler, run(after=reading(1, disk(scheduler="bfq", rotational=True)))) == []

    @pytest.mark.parametrize(
        ("before", "after", "words"),
        [
            (Health(), Health(warnings=("read-only",)), "warns: read-only"),
            (Health(throttled=7), Health(throttled=9), "slowed down by heat"),
            (Health(), Health(temperature=85, limit=84), "at 85 °C, its limit is 84 °C"),
            (Health(), Health(worn=0.95), "95% of its rated life"),
        ],
    )
    def test_an_unhealthy_disk_is_told(self, before, after, words):
        subject = run(
            before=reading(disk=disk(health=before)), after=reading(10.0, disk(5000 + GIB, 700, health=after))
        )
        ((_, message),) = said(storage.disk_health, subject)
        assert words in message

    def test_a_disk_that_was_hot_long_ago_is_no_news(self):
        subject = run(
            before=reading(disk=disk(health=Health(throttled=7, worn=0.2))),
            after=reading(10.0, disk(health=Health(throttled=7, worn=0.2, temperature=40, limit=84))),
        )
        assert said(storage.disk_health, subject) == []


def state(**changes):
    return reading(10.0, disk(), system=System(**changes))


class TestMachine:
    def test_jobs_that_use_a_whole_core_are_suspect_unless_they_poll(self):
        busy = run()
        busy = replace(busy, output=replace(busy.output, user=0.35, system=0.63))
        assert severities(machine.job_cpu_bound, busy) == ["suspect"]
        assert said(machine.job_cpu_bound, replace(busy, options={"hipri": "1"})) == []
        for ioengine in ("spdk", "spdk_bdev", "/opt/spdk/build/fio/spdk_nvme"):
            assert said(machine.job_cpu_bound, replace(busy, options={"ioengine": ioengine})) == []

    def test_a_machine_without_a_core_to_spare_is_suspect(self):
        ((severity, message),) = said(
            machine.machine_cpu_bound, run(before=state(), after=state(busy=970, ticks=1000))
        )
        assert severity == "suspect" and "97% busy" in message
        assert said(machine.machine_cpu_bound, run(before=state(), after=state(busy=900, ticks=1000))) == []

    def test_a_moment_is_too_short_to_tell(self):
        assert said(machine.machine_cpu_bound, run(before=state(), after=state(busy=40, ticks=40))) == []

    def test_stolen_time_is_suspect(self):
        assert severities(machine.stolen_time, run(before=state(), after=state(stolen=150, ticks=1000))) == [
            "suspect"
        ]

    @pytest.mark.parametrize(
        ("before", "stopped", "expected"),
        [
            (CpuLimit(0.5, 0.1, 10), 15, ["suspect"]),
            (CpuLimit(0.5, 0.1, 10), 14, []),
            (None, 5, ["suspect"]),
            (None, 0, []),
        ],
    )
    def test_a_control_group_that_used_up_its_share_is_suspect(self, before, stopped, expected):
        """In 5 of 100 periods and more."""
        moments = [
            reading(at, disk(), system=System(limit=limit))
            for at, limit in ((0.0, before), (10.0, CpuLimit(0.5, 0.1, stopped)))
        ]
        subject = run(before=moments[0], after=moments[1])
        assert severities(machine.cpu_limited, subject) == expected
        assert said(machine.cpu_limited, run(before=moments[0], after=state())) == []

    @pytest.mark.parametrize(
        ("governors", "drivers", "expected"),
        [
            ({"performance"}, {"acpi-cpufreq"}, []),
            ({"schedutil"}, {"acpi-cpufreq"}, ["note"]),
            ({"powersave"}, {"intel_pstate"}, ["note"]),
            ({"powersave"}, {"acpi-cpufreq"}, ["suspect"]),
            (set(), set(), []),
        ],
    )
    def test_governors(self, governors, drivers, expected):
        after = state(governors=frozenset(governors), drivers=frozenset(drivers))
        assert severities(machine.governor, run(after=after)) == expected

    def test_heat_during_the_run_is_suspect(self):
        assert severities(machine.throttled, run(before=state(throttles=5), after=state(throttles=8))) == [
            "suspect"
        ]
        assert said(machine.throttled, run(before=state(throttles=5), after=state(throttles=5))) == []
        assert severities(machine.throttled, run(before=state(), after=state(cooling=("cpufreq-cpu0",)))) == [
            "suspect"
        ]
        hot = state(hot=(("x86_pkg_temp", 97.0, 95.0),))
        assert severities(machine.throttled, run(before=state(), after=hot)) == ["suspect"]

    def test_limits_of_frequency_and_power_are_noted(self):
        assert severities(machine.frequency_cap, run(after=state(capped=0.6))) == ["note"]
        ((_, message),) = said(machine.power_mode, run(after=state(power=("nvpmodel mode 2 (MODE_30W)",))))
        assert "MODE_30W" in message


OTHER = {"read": Traffic(GIB, GIB // 4096, 10.0)}


class TestTheOtherArm:
    """What the other arm of a pair moved on the same disk is neither foreign I/O nor one's own."""

    def test_its_bytes_on_the_same_target_are_left_out(self):
        both = run(moved=(2 * GIB, 0), beside=OTHER)
        assert said(device.others_io, both) == said(device.page_cache, both) == []

    def test_its_bytes_do_not_hide_what_came_from_the_page_cache(self):
        assert severities(device.page_cache, run(moved=(GIB, 0), beside=OTHER)) == ["invalid"]

    def test_on_another_partition_they_are_in_the_counters_of_the_disk_alone(self):
        after = disk(5000 + GIB, 700, whole=Counters(5000 + 2 * GIB, 700))
        both = run(after=reading(10.0, after), beside=OTHER, apart=True)
        assert said(device.others_io, both) == said(device.page_cache, both) == []
