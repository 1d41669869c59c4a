"""Environments: read from the kernel's small files, here from trees that look like those of real machines."""

import pytest

from iogate.host.environment import differences, identity_changes, identity_mismatch, observe
from iogate.model import Environment


def plant(root, files, links=None):
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, target in (links or {}).items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return root


@pytest.fixture
def jetson(tmp_path):
    """A Jetson AGX Orin whose /home is a partition of an NVMe disk."""
    disk = "sys/devices/platform/14160000.pcie/pci0004:00/0004:01:00.0/nvme/nvme0/nvme0n1"
    controller, function = f"{disk}/..", f"{disk}/../../.."
    target = tmp_path / "home"
    target.mkdir()
    root = tmp_path / "root"
    policy = "sys/devices/system/cpu/cpufreq/policy"
    return plant(
        root,
        {
            "proc/device-tree/model": b"NVIDIA Jetson AGX Orin Developer Kit\0",
            "proc/device-tree/serial-number": b"1423822011234\0",
            "proc/device-tree/cpus/cpu@0/compatible": b"arm,cortex-a78\0arm,armv8\0",
            "proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd42\n",
            "sys/devices/system/cpu/present": "0-11\n",
            "sys/devices/system/cpu/online": "0-3,8-11\n",
            "proc/meminfo": "MemTotal:       31321620 kB\nMemFree: 1 kB\n",
            "proc/sys/kernel/osrelease": "5.10.104-tegra\n",
            "proc/sys/kernel/version": "#1 SMP PREEMPT Wed Aug 10 20:17:07 PDT 2022\n",
            "etc/os-release": 'PRETTY_NAME="Ubuntu 20.04.5 LTS"\nIMAGE_ID=robot\nIMAGE_VERSION="7.2"\n',
            "etc/nv_tegra_release": "# R35 (release), REVISION: 1.0, GCID: 31346300\nmore\n",
            "proc/self/mountinfo": (
                "22 1 179:1 / / rw,relatime shared:1 - ext4 /dev/mmcblk0p1 rw\n"
                f"30 22 259:1 / {target} rw,noatime shared:2 - xfs /dev/nvme0n1p1 rw,attr2\n"
            ),
            "proc/self/cgroup": "0::/user.slice\n",
            "proc/loadavg": "0.42 0.30 0.20 1/500 1234\n",
            "proc/uptime": "7265.10 50000.00\n",
            f"{policy}0/scaling_governor": "schedutil\n",
            f"{policy}0/scaling_cur_freq": "1190400\n",
            f"{policy}0/scaling_max_freq": "2201600\n",
            f"{policy}4/scaling_governor": "performance\n",
            f"{policy}4/scaling_max_freq": "2201600\n",
            "var/lib/nvpmodel/status": "pmode:0003 fmode:quiet\n",
            "etc/nvpmodel.conf": "< POWER_MODEL ID=0 NAME=MAXN >\n< POWER_MODEL ID=3 NAME=MODE_50W >\n",
            "sys/class/thermal/thermal_zone0/temp": "46500\n",
            "sys/class/thermal/thermal_zone1/temp": "51200\n",
            "sys/class/thermal/thermal_zone2/temp": "-256000\n",
            f"{disk}/nvme0n1p1/partition": "1\n",
            f"{disk}/size": "1953525168\n",
            f"{disk}/wwid": "eui.0025385b21404321\n",
            f"{disk}/queue/scheduler": "[none] mq-deadline kyber\n",
            f"{disk}/queue/write_cache": "write back\n",
            f"{disk}/queue/read_ahead_kb": "128\n",
            f"{controller}/model": "Samsung SSD 980 PRO 1TB                 \n",
            f"{controller}/serial": "S5GXNF0R123456      \n",
            f"{controller}/firmware_rev": "5B2QGXA7\n",
            f"{controller}/hwmon3/temp1_input": "41850\n",
            f"{function}/current_link_speed": "16.0 GT/s PCIe\n",
            f"{function}/current_link_width": "4\n",
            "sys/bus/pci/drivers/nvme/bind": "",
        },
        {
            "sys/dev/block/259:1": root / disk / "nvme0n1p1",
            f"{disk}/device": "..",
            f"{controller}/device": "../..",
            f"{function}/driver": root / "sys/bus/pci/drivers/nvme",
        },
    )


@pytest.fixture
def pc(tmp_path):
    """An x86-64 computer with an encrypted file system on a SATA disk."""
    disk = "sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0"
    root = tmp_path / "pc"
    return plant(
        root,
        {
            "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
            "sys/class/dmi/id/product_name": "Precision 5570\n",
            "sys/class/dmi/id/board_vendor": "Dell Inc.\n",
            "sys/class/dmi/id/board_name": "To Be Filled By O.E.M.\n",
            "sys/class/dmi/id/product_serial": "Default string\n",
            "proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-12800H\nprocessor\t: 1\n",
            "sys/devices/system/cpu/present": "0-19\n",
            "proc/self/mountinfo": "22 1 0:35 /@ / rw,relatime - btrfs /dev/dm-0 rw,ssd\n",
            "sys/firmware/acpi/platform_profile": "balanced\n",
            "sys/devices/virtual/block/dm-0/size": "1000\n",
            "dev/dm-0": "",
            f"{disk}/block/sda/sda3/partition": "3\n",
            f"{disk}/block/sda/size": "976773168\n",
            f"{disk}/block/sda/queue/scheduler": "none [mq-deadline]\n",
            f"{disk}/vendor": "ATA     \n",
            f"{disk}/model": "Samsung SSD 860 \n",
            f"{disk}/rev": "3B6Q\n",
            f"{disk}/wwid": "naa.5002538e40a1b2c3\n",
            "sys/bus/scsi/drivers/sd/bind": "",
        },
        {
            "sys/class/block/dm-0": root / "sys/devices/virtual/block/dm-0",
            "sys/devices/virtual/block/dm-0/slaves/sda3": root / disk / "block/sda/sda3",
            f"{disk}/block/sda/device": "../..",
            f"{disk}/driver": root / "sys/bus/scsi/drivers/sd",
        },
    )


def test_a_jetson_is_known_by_its_device_tree_and_its_disk(jetson, tmp_path):
    assert observe("259:1", tmp_path / "home", jetson).identity == {
        "machine": "NVIDIA Jetson AGX Orin Developer Kit",
        "serial": "1423822011234",
        "cpu": "arm,cortex-a78",
        "cores": "12",
        "memory": "30 GiB",
        "disk": "Samsung SSD 980 PRO 1TB",
        "disk_serial": "S5GXNF0R123456",
        "disk_wwid": "eui.0025385b21404321",
        "disk_capacity": "1000 GB",
    }


def test_what_the_gate_judges_is_the_software_and_the_disk_settings(jetson, tmp_path):
    subject = dict(observe("259:1", tmp_path / "home", jetson).subject)
    subject.pop("folder_attributes", "")  # of the real folder
    assert subject == {
        "kernel": "5.10.104-tegra",
        "kernel_build": "#1 SMP PREEMPT Wed Aug 10 20:17:07 PDT 2022",
        "os": "Ubuntu 20.04.5 LTS",
        "image": "robot 7.2",
        "jetson_linux": "R35 (release), REVISION: 1.0, GCID: 31346300",
        "file_system": "xfs",
        "mount_options": "rw,noatime,attr2",
        "disk_firmware": "5B2QGXA7",
        "driver": "nvme",
        "scheduler": "none",
        "write_cache": "write back",
        "read_ahead": "128 KiB",
    }


def test_the_state_explains(jetson, tmp_path):
    state = dict(observe("259:1", tmp_path / "home", jetson).state)
    assert state.pop("free_space").endswith("%")
    assert state == {
        "governor": "performance, schedutil",
        "cpu_frequency": "1190 MHz",
        "cpu_frequency_limit": "2202 MHz",
        "cpu_limit": "none",
        "memory_limit": "none",
        "cores_online": "8",
        "power_mode": "3 MODE_50W",
        "load": "0.42",
        "temperature": "51 °C",
        "uptime": "2 h 1 min",
        "disk_link": "16.0 GT/s PCIe x4",
        "disk_temperature": "42 °C",
    }


def test_without_a_number_the_disk_is_that_of_the_file_system(jetson, tmp_path):
    assert observe(None, tmp_path / "home", jetson) == observe("259:1", tmp_path / "home", jetson)


def test_a_pc_is_known_by_its_firmware_and_the_disk_below_its_encryption(pc, tmp_path):
    environment = observe(None, tmp_path, pc, in_place=False)
    assert environment.identity == {
        "machine": "Dell Inc. Precision 5570",
        "board": "Dell Inc.",
        "cpu": "Intel(R) Core(TM) i7-12800H",
        "cores": "20",
        "disk": "ATA Samsung SSD 860",
        "disk_wwid": "naa.5002538e40a1b2c3",
        "disk_capacity": "500 GB",
    }
    subject = dict(environment.subject)
    subject.pop("folder_attributes", "")
    assert subject == {
        "file_system": "btrfs",
        "mount_options": "rw,relatime,ssd",
        "data_files": "apart",
        "disk_firmware": "3B6Q",
        "driver": "sd",
        "scheduler": "mq-deadline",
    }
    assert environment.state["power_mode"] == "balanced"


def test_a_machine_that_tells_nothing_is_no_error(tmp_path):
    environment = observe("8:0", tmp_path / "gone", tmp_path / "empty")
    assert environment == Environment({}, {}, {})


def test_what_control_groups_allow_is_told_where_it_changed(tmp_path):
    mounted = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    plant(tmp_path, {"proc/self/mountinfo": mounted, "proc/self/cgroup": "0::/\n"})
    free = observe(None, tmp_path / "gone", tmp_path)
    plant(tmp_path, {"sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/memory.max": "201326592\n"})
    limited = observe(None, tmp_path / "gone", tmp_path)
    assert differences(free, limited) == [
        "cpu_limit was none, is 0.5 CPUs",
        "memory_limit was none, is 0.188 GiB",
    ]
    older = Environment(free.identity, free.subject, {})
    assert differences(older, free) == differences(limited, limited) == []


def test_a_machine_that_is_started_anew_has_another_boot_and_keeps_its_id_to_itself(tmp_path):
    boots = []
    for id in ("7c9e6679-7425-40de-944b-e07fc1f90ae7\n", "0b1c2d3e-7425-40de-944b-e07fc1f90ae7\n"):
        plant(tmp_path, {"proc/sys/kernel/random/boot_id": id})
        boots.append(observe(None, tmp_path, tmp_path).boot)
        assert boots[-1] and boots[-1] not in id
    assert boots[0] != boots[1]


def test_hostile_text_becomes_one_printable_line(tmp_path):
    plant(tmp_path, {"proc/device-tree/model": "x\x1b[2J\n" + "y" * 1000 + "\0"})
    machine = observe(None, tmp_path, tmp_path).identity["machine"]
    assert machine.startswith("x?[2J y")
    assert len(machine) == 200


def test_this_machine_is_observed_without_starting_a_program(tmp_path, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", lambda *argv, **more: pytest.fail("that takes time"))
    environment = observe(None, tmp_path)
    assert int(environment.identity["cores"]) >= 1
    assert environment.subject["kernel"]


class TestIdentity:
    def test_patterns_match_what_was_observed(self):
        observed = {"machine": "NVIDIA Jetson AGX Orin Developer Kit", "cpu": "Intel(R) [x]"}
        assert identity_mismatch({"machine": "*Jetson AGX Orin*"}, observed) == []
        assert identity_mismatch({"cpu": "Intel(R) [x]"}, observed) == [], "a text matches itself"

    def test_a_mismatch_names_both_values(self):
        assert identity_mismatch({"machine": "*Orin*"}, {"machine": "Laptop"}) == [
            "machine is 'Laptop', and must match '*Orin*'"
        ]

    def test_what_is_not_known_does_not_match(self):
        assert identity_mismatch({"serial": "42"}, {}) == ["serial is not known here, and must match '42'"]

    def test_a_name_that_nothing_has_is_answered_by_the_nearest(self):
        assert "did you mean 'machine'?" in identity_mismatch({"machin": "*"}, {"machine": "x"})[0]
        assert "known: machine, board" in identity_mismatch({"zzz": "*"}, {})[0]

    def test_a_baseline_of_another_machine_is_told(self):
        old = {"disk": "A", "memory": "31 GiB", "serial": "42"}
        assert identity_changes(old, {"disk": "A", "memory": "30 GiB"}) == []
        assert identity_changes(old, {"disk": "B", "memory": "16 GiB"}) == [
            "disk was A, is B",
            "memory was 31 GiB, is 16 GiB",
        ]

    @pytest.mark.parametrize(
        ("before", "after"), [("7 GiB", "8 GiB"), ("8 GiB", "7 GiB"), ("2 GiB", "1 GiB")]
    )
    def test_what_another_kernel_keeps_for_itself_makes_no_other_machine(self, before, after):
        assert identity_changes({"memory": before}, {"memory": after}) == []

    @pytest.mark.parametrize(
        ("before", "after"), [("4 GiB", "8 GiB"), ("4 GiB", "2 GiB"), ("15 GiB", "31 GiB")]
    )
    def test_boards_with_less_or_more_memory_are_told_apart(self, before, after):
        assert identity_changes({"memory": before}, {"memory": after}) == [f"memory was {before}, is {after}"]

    def test_disks_of_an_array_may_change_their_names_at_a_boot(self, tmp_path):
        def booted(first, second):
            root, md = tmp_path / first, "sys/devices/virtual/block/md0"
            files, links = {f"{md}/size": "2000\n"}, {"sys/dev/block/9:0": root / md}
            for name, serial in (("sda", first), ("sdb", second)):
                files[f"sys/devices/{name}/device/serial"] = serial
                links[f"{md}/slaves/{name}"] = root / "sys/devices" / name
            return observe("9:0", tmp_path, plant(root, files, links)).identity

        assert booted("S1", "S2")["disk_serial"] == "S1, S2"
        assert identity_changes(booted("S3", "S4"), booted("S4", "S3")) == []
        assert identity_changes({"disk_serial": "S1, S1"}, {"disk_serial": "S1, S2"})

    def test_a_usb_disk_has_the_serial_number_of_its_usb_device(self, tmp_path):
        usb = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1"
        disk = f"{usb}/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda"
        files = {f"{usb}/idVendor": "0781\n", f"{usb}/serial": "4C530001\n", f"{disk}/size": "2000\n"}
        hub = {"sys/devices/pci0000:00/0000:00:14.0/usb2/idVendor": "1d6b\n"}
        root = plant(tmp_path, {**files, **hub}, {"sys/dev/block/8:0": tmp_path / disk})
        assert observe("8:0", tmp_path, root).identity["disk_serial"] == "4C530001"

    @pytest.mark.parametrize("generic", ["ARMv8 Processor rev 1 (v8l)", "ARMv7 Processor rev 3 (v7l)"])
    def test_a_kernel_that_names_no_arm_processor_makes_no_other_machine(self, generic):
        assert identity_changes({"cpu": generic}, {"cpu": "arm,cortex-a78"}) == []
        assert identity_changes({"cpu": "arm,cortex-a78"}, {"cpu": generic}) == []
        assert identity_changes({"cpu": generic}, {"cpu": "ARMv8 Processor rev 3 (v8l)"}) == []
        assert identity_changes({"cpu": "arm,cortex-a78"}, {"cpu": "arm,cortex-a57"})

    def test_a_board_whose_update_calls_it_otherwise_is_the_same_by_its_serial_number(self):
        before = {"machine": "NVIDIA Jetson Orin Nano Developer Kit", "serial": "1422"}
        after = {"machine": f"{before['machine']} Super", "serial": "1422"}
        assert identity_changes(before, after) == []
        assert identity_changes({**before, "memory": "8 GiB"}, {**after, "memory": "4 GiB"})
        assert len(identity_changes(before, {**after, "serial": "1423"})) == 2
        assert identity_changes({"machine": before["machine"]}, {"machine": after["machine"]})

    @pytest.mark.parametrize("number", ["0000000000000000", "0123456789ABCDEF", "123456789"])
    def test_a_serial_number_that_nobody_has_filled_in_is_none(self, number, tmp_path):
        plant(tmp_path, {"proc/device-tree/serial-number": f"{number}\0"})
        assert "serial" not in observe(None, tmp_path, tmp_path).identity

    def test_a_disk_whose_kernel_no_longer_trusts_its_eui_is_the_same_by_its_serial_number(self):
        trusted = {"disk_serial": "S1", "disk_wwid": "eui.0000000001000000"}
        not_trusted = {"disk_serial": "S1", "disk_wwid": "nvme.126f-5331-4e56-00000001"}
        assert identity_changes(trusted, not_trusted) == []
        assert identity_changes(not_trusted, trusted) == []
        assert identity_changes(trusted, {**not_trusted, "disk_serial": "S2"})
        assert identity_changes(trusted, {**trusted, "disk_wwid": "eui.0000000002000000"})
        assert identity_changes({"disk_wwid": "eui.1"}, {"disk_wwid": "nvme.1"})

    def test_a_published_baseline_knows_no_machine_and_fits_any(self):
        assert identity_changes({}, {"cpu": "x", "disk": "A"}) == []


class TestDifferences:
    OLD = Environment(
        {"disk": "A"},
        {"kernel": "6.1", "scheduler": "none"},
        {
            "governor": "performance",
            "load": "0.10",
            "temperature": "45 °C",
            "uptime": "3 min",
            "free_space": "80%",
        },
    )

    def test_nothing_differs_from_itself(self):
        assert differences(self.OLD, self.OLD) == []

    def test_machine_then_software_then_state(self):
        new = Environment(
            {"disk": "B"},
            {"kernel": "6.2", "image": "7"},
            {"governor": "powersave", "load": "3.00", "temperature": "60 °C", "free_space": "60%"},
        )
        assert differences(self.OLD, new) == [
            "disk was A, is B",
            "kernel was 6.1, is 6.2",
            "scheduler was none, is not known",
            "image was not known, is 7",
            "governor was performance, is powersave",
            "temperature was 45 °C, is 60 °C",
            "free_space was 80%, is 60%",
        ]

    def test_what_always_differs_explains_nothing(self):
        state = {
            "governor": "performance",
            "load": "0.90",
            "temperature": "50 °C",
            "uptime": "9 h",
            "free_space": "75%",
        }
        assert differences(self.OLD, Environment(self.OLD.identity, self.OLD.subject, state)) == []
