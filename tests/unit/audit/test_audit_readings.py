"""Snapshots read /sys and /proc: on trees as disks and machines of all kinds have them."""

import struct
from pathlib import Path

import pytest

from iogate.audit import snapshot
from iogate.audit.snapshot import Counters, all_disks
from iogate.audit.snapshot.health import Health, health_of, smart
from iogate.audit.snapshot.link import link_of
from iogate.audit.snapshot.system import system

PCI = "sys/devices/pci0000:00/0000:00:1b.0/0000:01:00.0"
STAT = "100 0 {read} 5 200 0 {written} 9 0 10 14 0 0 0 0 0 0\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def block(root: Path, number: str, folder: str, *, read=0, written=0, **files: str) -> Path:
    """A block device's folder, and its link in /sys/dev/block."""
    tree(root, {f"{folder}/stat": STAT.format(read=read, written=written)})
    tree(root, {f"{folder}/{name.replace('__', '/')}": content for name, content in files.items()})
    link = root / "sys/dev/block" / number
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(root / folder)
    return root / folder


def nvme(root: Path, speed="8.0 GT/s PCIe", width="4", **files: str) -> Path:
    tree(root, {f"{PCI}/current_link_speed": speed + "\n", f"{PCI}/current_link_width": width + "\n"})
    tree(root, {f"{PCI}/max_link_speed": "16.0 GT/s PCIe\n", f"{PCI}/max_link_width": "4\n"})
    tree(root, {f"{PCI}/vendor": "0x144d\n"})
    return block(root, "259:0", f"{PCI}/nvme/nvme0/nvme0n1", **files)


class TestDisk:
    def test_counters_are_in_bytes_whatever_the_sector_is(self, tmp_path):
        block(tmp_path, "8:0", "sys/devices/pci0/block/sda", read=2048, written=6)
        disk = snapshot("8:0", None, tmp_path).disk
        assert (disk.target.read, disk.target.written) == (2048 * 512, 6 * 512)
        assert disk.whole == disk.target and disk.name == "sda" and disk.counted

    def test_a_partition_has_its_own_counters_and_those_of_the_disk(self, tmp_path):
        block(tmp_path, "8:0", "sys/devices/pci0/block/sda", read=100, queue__scheduler="none [bfq] kyber\n")
        block(tmp_path, "8:1", "sys/devices/pci0/block/sda/sda1", read=40, partition="1\n")
        disk = snapshot("8:1", None, tmp_path).disk
        assert (disk.name, disk.target.read, disk.whole.read) == ("sda1", 40 * 512, 100 * 512)
        assert disk.scheduler == "bfq"

    def test_switched_off_counters_and_loops_over_the_page_cache_are_seen(self, tmp_path):
        block(tmp_path, "7:0", "sys/devices/virtual/block/loop0", queue__iostats="0\n", loop__dio="0\n")
        disk = snapshot("7:0", None, tmp_path).disk
        assert not disk.counted and disk.cached

    def test_an_nvme_multipath_head_that_does_not_count_is_counted_by_its_paths(self, tmp_path):
        subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0"
        block(tmp_path, "259:1", f"{subsystem}/nvme0n1")
        for path, sectors in (("nvme0", 10), ("nvme1", 30)):
            name = f"nvme0c{path[-1]}n1"
            tree(tmp_path, {f"{subsystem}/{path}/{name}/stat": STAT.format(read=sectors, written=0)})
        assert snapshot("259:1", None, tmp_path).disk.target.read == 40 * 512

    @pytest.mark.parametrize(("own", "lumped"), [(0, True), (40, False)])
    def test_a_partition_of_a_multipath_head_may_be_counted_on_the_head_alone(self, tmp_path, own, lumped):
        head = "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"
        tree(tmp_path, {f"{head}/../nvme0/nvme0c0n1/stat": STAT.format(read=0, written=0)})
        block(tmp_path, "259:1", head, read=100)
        block(tmp_path, "259:2", f"{head}/nvme0n1p1", read=own, partition="1\n")
        disk = snapshot("259:2", None, tmp_path).disk
        assert (disk.lumped, disk.whole.read) == (lumped, 100 * 512)

    def test_a_partition_of_another_disk_that_was_never_read_is_counted_by_itself(self, tmp_path):
        nvme(tmp_path, read=100)
        block(tmp_path, "259:2", f"{PCI}/nvme/nvme0/nvme0n1/nvme0n1p1", partition="1\n")
        assert not snapshot("259:2", None, tmp_path).disk.lumped

    def test_the_disk_below_a_volume_shows_what_others_do_there(self, tmp_path):
        disk = nvme(tmp_path, read=300)
        part = block(tmp_path, "259:1", f"{PCI}/nvme/nvme0/nvme0n1/nvme0n1p1", read=200, partition="1\n")
        volume = block(tmp_path, "252:0", "sys/devices/virtual/block/dm-0", read=150)
        crypt = block(tmp_path, "252:1", "sys/devices/virtual/block/dm-1", read=40)
        for upper, lower in ((volume, part), (crypt, volume)):
            (upper / "slaves").mkdir()
            (upper / "slaves" / lower.name).symlink_to(lower)
        found = snapshot("252:1", None, tmp_path).disk
        assert (found.name, found.target.read, found.whole.read) == ("dm-1", 40 * 512, 300 * 512), disk

    def test_what_a_volume_on_several_disks_makes_them_do_is_not_taken_for_others(self, tmp_path):
        md = block(tmp_path, "9:0", "sys/devices/virtual/block/md0", written=10)
        (md / "slaves").mkdir()
        for name, number in (("sda", "8:0"), ("sdb", "8:16")):
            member = block(tmp_path, number, f"sys/devices/{name}", written=10)
            (md / "slaves" / name).symlink_to(member)
        disk = snapshot("9:0", None, tmp_path).disk
        assert disk.whole == disk.target

    @pytest.mark.parametrize("stat", ["", "1 2 3", "a b c d e f g", "1 2 -3 4 5 6 7"])
    def test_counters_that_cannot_be_read_are_zero(self, tmp_path, stat):
        folder = block(tmp_path, "8:0", "sys/devices/pci0/block/sda")
        (folder / "stat").write_text(stat)
        assert snapshot("8:0", None, tmp_path).disk.target.read == 0

    def test_all_disks_are_counted_where_the_targets_is_not_known(self, tmp_path):
        for name, sectors, counted in (("sda", 10, 1), ("sdb", 30, 1), ("zram0", 500, 0), ("ram1", 9, 1)):
            folder = f"sys/devices/{name}"
            files = {"queue__iostats": f"{counted}\n"}
            block(tmp_path, f"8:{sectors}", folder, read=sectors, written=sectors, **files)
            (tmp_path / "sys/block").mkdir(exist_ok=True)
            (tmp_path / f"sys/block/{name}").symlink_to(tmp_path / folder)
        assert all_disks(tmp_path) == Counters(40 * 512, 40 * 512)
        (tmp_path / "sys/devices/sda/queue/iostats").write_text("0\n")
        assert all_disks(tmp_path) is None
        assert all_disks(tmp_path / "elsewhere") is None

    @pytest.mark.parametrize("number", ["8:99", "../../../etc", "", None])
    def test_a_device_that_is_not_there_is_none(self, tmp_path, number):
        assert snapshot(number, None, tmp_path).disk is None


class TestLink:
    def test_pcie_by_generation_and_lanes_and_what_it_could_be(self, tmp_path):
        link = link_of(nvme(tmp_path))
        assert link.name == "PCIe 3.0 x4" and link.best == "PCIe 4.0 x4"
        assert link.limit == pytest.approx(3.938e9, rel=1e-3)

    def test_a_link_at_its_best_has_no_better(self, tmp_path):
        link = link_of(nvme(tmp_path, speed="16.0 GT/s PCIe"))
        assert link.limit == pytest.approx(7.877e9, rel=1e-3) and not link.best

    @pytest.mark.parametrize(("speed", "width"), [("Unknown", "4"), ("8.0 GT/s PCIe", "0"), ("", "")])
    def test_a_link_that_does_not_say_is_none(self, tmp_path, speed, width):
        assert link_of(nvme(tmp_path, speed, width)) is None

    @pytest.mark.parametrize("vendor", ["0x1b36", "0x1af4", "0x1d0f", "0x15ad"])
    def test_emulated_devices_have_no_link(self, tmp_path, vendor):
        disk = nvme(tmp_path)
        (tmp_path / PCI / "vendor").write_text(vendor + "\n")
        assert link_of(disk) is None

    def sata(self, root, model="CT500MX500SSD1", speed="6.0 Gbps"):
        port = "sys/devices/pci0000:00/0000:00:17.0/ata3"
        tree(root, {f"{port}/link3/ata_link/link3/sata_spd": speed + "\n"})
        folder = f"{port}/host2/target2:0:0/2:0:0:0/block/sda"
        tree(root, {f"{folder}/device/model": model + "\n"})
        return block(root, "8:0", folder)

    def test_sata(self, tmp_path):
        link = link_of(self.sata(tmp_path))
        assert (link.name, link.limit) == ("SATA 6.0 Gb/s", 600e6)

    @pytest.mark.parametrize("model", ["QEMU HARDDISK", "VBOX HARDDISK", "Virtual disk"])
    def test_a_virtual_sata_disk_has_no_link_though_it_says_so(self, tmp_path, model):
        assert link_of(self.sata(tmp_path, model, "1.5 Gbps")) is None

    def test_usb(self, tmp_path):
        usb = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1"
        tree(tmp_path, {f"{usb}/busnum": "2\n", f"{usb}/speed": "5000\n"})
        link = link_of(block(tmp_path, "8:16", f"{usb}/2-1:1.0/host3/target3:0:0/3:0:0:0/block/sdb"))
        assert (link.name, link.limit) == ("USB 5000 Mb/s", 500e6)

    @pytest.mark.parametrize(("kind", "limit"), [("MMC", 400e6), ("SD", 312e6)])
    def test_emmc_and_sd(self, tmp_path, kind, limit):
        folder = "sys/devices/platform/3460000.mmc/mmc_host/mmc0/mmc0:0001/block/mmcblk0"
        assert link_of(block(tmp_path, "179:0", folder, device__type=kind + "\n")).limit == limit

    def test_ufs(self, tmp_path):
        host = "sys/devices/platform/soc/1d84000.ufshc"
        tree(tmp_path, {f"{host}/power_info/gear": "HS_GEAR4\n", f"{host}/power_info/lane": "2\n"})
        link = link_of(block(tmp_path, "8:0", f"{host}/host0/target0:0:0/0:0:0:0/block/sda"))
        assert link.limit == pytest.approx(2.9e9, rel=0.01)

    def test_virtual_disks_have_none(self, tmp_path):
        assert link_of(block(tmp_path, "254:0", f"{PCI}/virtio1/block/vda")) is None
        assert link_of(block(tmp_path, "7:0", "sys/devices/virtual/block/loop0")) is None

    def test_a_volume_on_one_disk_has_the_link_of_that_disk(self, tmp_path):
        disk = nvme(tmp_path)
        volume = block(tmp_path, "252:0", "sys/devices/virtual/block/dm-0")
        (volume / "slaves").mkdir()
        (volume / "slaves/nvme0n1").symlink_to(disk)
        assert snapshot("252:0", None, tmp_path).disk.link.name == "PCIe 3.0 x4"

    def test_a_volume_on_two_disks_has_none(self, tmp_path):
        disk = nvme(tmp_path)
        volume = block(tmp_path, "9:0", "sys/devices/virtual/block/md0")
        (volume / "slaves").mkdir()
        for name in ("nvme0n1", "nvme1n1"):
            (volume / "slaves" / name).symlink_to(disk)
        assert snapshot("9:0", None, tmp_path).disk.link is None


class TestHealth:
    def test_the_smart_log(self):
        log = bytearray(512)
        log[0] = 0b00001010
        struct.pack_into("<H", log, 1, 273 + 84)
        log[5] = 97
        struct.pack_into("<II", log, 192, 2, 1)
        struct.pack_into("<4I", log, 216, 3, 0, 40, 0)
        health = smart(bytes(log))
        assert health == Health(
            ("temperature beyond its limits", "read-only"), worn=0.97, temperature=84, throttled=43 + 180
        )

    def test_sensors_where_the_log_is_not_ours_to_read(self, tmp_path):
        disk = nvme(tmp_path)
        monitor = f"{PCI}/nvme/nvme0/hwmon3"
        tree(tmp_path, {f"{monitor}/temp1_input": "81850\n", f"{monitor}/temp1_max": "80850\n"})
        tree(tmp_path, {f"{monitor}/temp1_alarm": "1\n"})
        health = health_of(disk, tmp_path)
        assert (health.temperature, health.limit) == (81.85, 80.85)
        assert health.warnings == ("temperature beyond its limits",)

    def test_drivetemp(self, tmp_path):
        disk = block(tmp_path, "8:0", "sys/devices/block/sda", device__hwmon__hwmon1__temp1_input="38000\n")
        assert health_of(disk, tmp_path).temperature == 38

    def test_wear_of_emmc(self, tmp_path):
        folder = "sys/devices/mmc_host/mmc0/mmc0:0001/block/mmcblk0"
        disk = block(
            tmp_path, "179:0", folder, device__life_time="0x02 0x09\n", device__pre_eol_info="0x02\n"
        )
        assert health_of(disk, tmp_path) == Health(("80% of the spare blocks are used",), worn=0.9)

    def test_a_disk_that_says_nothing(self, tmp_path):
        assert health_of(block(tmp_path, "8:0", "sys/devices/block/sda"), tmp_path) is None


class TestSystem:
    def test_an_empty_tree_gives_the_defaults(self, tmp_path):
        assert system(tmp_path) == type(system(tmp_path))()

    def test_cpu_time(self, tmp_path):
        tree(tmp_path, {"proc/stat": "cpu  100 1 50 800 20 3 6 20 90 0\ncpu0 1 2 3\n"})
        found = system(tmp_path)
        assert (found.busy, found.stolen, found.ticks) == (160, 20, 1000)

    def test_frequency(self, tmp_path):
        policy = "sys/devices/system/cpu/cpufreq/policy0"
        tree(
            tmp_path, {f"{policy}/scaling_governor": "schedutil\n", f"{policy}/scaling_driver": "tegra194\n"}
        )
        tree(tmp_path, {f"{policy}/scaling_max_freq": "1500000\n", f"{policy}/cpuinfo_max_freq": "2000000\n"})
        found = system(tmp_path)
        assert (found.governors, found.drivers, found.capped) == ({"schedutil"}, {"tegra194"}, 0.75)

    def test_heat(self, tmp_path):
        for cpu, count in ((0, 3), (1, 4)):
            tree(
                tmp_path,
                {f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count": f"{count}\n"},
            )
        thermal = "sys/class/thermal"
        tree(tmp_path, {f"{thermal}/cooling_device0/type": "cpufreq-cpu0\n"})
        tree(tmp_path, {f"{thermal}/cooling_device0/cur_state": "2\n"})
        tree(tmp_path, {f"{thermal}/cooling_device1/type": "pwm-fan\n"})
        tree(tmp_path, {f"{thermal}/cooling_device1/cur_state": "3\n"})
        zone = f"{thermal}/thermal_zone0"
        tree(tmp_path, {f"{zone}/type": "cpu-thermal\n", f"{zone}/temp": "96500\n"})
        tree(tmp_path, {f"{zone}/trip_point_0_type": "passive\n", f"{zone}/trip_point_0_temp": "95000\n"})
        tree(tmp_path, {f"{zone}/trip_point_1_type": "critical\n", f"{zone}/trip_point_1_temp": "104000\n"})
        found = system(tmp_path)
        assert found.throttles == 7
        assert found.cooling == ("cpufreq-cpu0",)
        assert found.hot == (("cpu-thermal", 96.5, 95.0),)

    @pytest.mark.parametrize("kind", ["thermal-cpufreq-0", "cpufreq-cpu0", "Processor", "thermal-fan"])
    def test_a_processor_that_is_slowed_is_known_by_its_names_of_all_kernels(self, tmp_path, kind):
        device = "sys/class/thermal/cooling_device0"
        tree(tmp_path, {f"{device}/type": f"{kind}\n", f"{device}/cur_state": "1\n"})
        assert system(tmp_path).cooling == (() if kind == "thermal-fan" else (kind,))

    def test_a_jetson_below_its_best(self, tmp_path):
        conf = "< POWER_MODEL ID=0 NAME=MAXN >\n< POWER_MODEL ID=2 NAME=MODE_30W >\n"
        tree(tmp_path, {"var/lib/nvpmodel/status": "pmode:0002", "etc/nvpmodel.conf": conf})
        assert system(tmp_path).power == ("nvpmodel mode 2 (MODE_30W)",)
        tree(tmp_path, {"var/lib/nvpmodel/status": "pmode:0000"})
        assert system(tmp_path).power == ()

    def test_a_laptop_on_battery(self, tmp_path):
        battery = "sys/class/power_supply/BAT0"
        tree(tmp_path, {f"{battery}/type": "Battery\n", f"{battery}/status": "Discharging\n"})
        tree(tmp_path, {"sys/firmware/acpi/platform_profile": "low-power\n"})
        assert system(tmp_path).power == ("platform profile low-power", "on battery")
        tree(tmp_path, {f"{battery}/scope": "Device\n", "sys/firmware/acpi/platform_profile": "balanced\n"})
        assert system(tmp_path).power == ()


def test_this_machine_can_be_read(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(b"x" * 8192)
    reading = snapshot(None, file)
    assert reading.size == 8192 and reading.mount is not None and 0 < reading.full <= 1
    assert reading.system.ticks > 0
    assert snapshot(None, tmp_path / "missing").mount is None
