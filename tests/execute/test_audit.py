"""Every probe of the audit gives a value, or says why it has none."""

from __future__ import annotations

from pathlib import Path

from venturi.execute.audit import audited


def facts(root: Path) -> dict[str, str]:
    return {entry.key: entry.value for entry in audited(root)}


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_nothing_is_there_and_nothing_fails(tmp_path: Path) -> None:
    found = facts(tmp_path)
    assert found["clock source"] == "unavailable: No such file or directory"
    assert found["processor"].startswith("unavailable: ")
    assert all(found.values())


def test_keys_are_the_same_and_stand_once(tmp_path: Path) -> None:
    keys = [entry.key for entry in audited()]
    assert len(keys) == len(set(keys))
    assert set(facts(tmp_path)) <= set(keys)


def test_values_are_those_of_the_files(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", "processor\t: 0\nmodel name\t: A\nflags\t: x y\nprocessor\t: 1\n")
    put(tmp_path, "proc/meminfo", "MemTotal:  1024 kB\n")
    put(tmp_path, "sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: X\n")
    found = facts(tmp_path)
    assert (found["processor"], found["processors"], found["memory"]) == ("A", "2", "1024 kB")
    assert found["mitigation of spectre_v2"] == "Mitigation: X"


def test_link_below_its_speed_is_degraded(tmp_path: Path) -> None:
    for name, width in (("0000:01:00.0", "16"), ("0000:02:00.0", "4")):
        place = f"sys/bus/pci/devices/{name}"
        put(tmp_path, f"{place}/class", "0x020000\n")
        put(tmp_path, f"{place}/current_link_speed", "16.0 GT/s\n")
        put(tmp_path, f"{place}/max_link_speed", "16.0 GT/s\n")
        put(tmp_path, f"{place}/current_link_width", f"{width}\n")
        put(tmp_path, f"{place}/max_link_width", "16\n")
    found = facts(tmp_path)
    assert found["PCI link of network 0000:01:00.0"] == "16.0 GT/s x16"
    assert found["PCI link of network 0000:02:00.0"].startswith("degraded: 16.0 GT/s x4 of")


def test_each_kind_of_device_has_its_word_and_others_are_left_out(tmp_path: Path) -> None:
    """NVMe, InfiniBand, a GPU without a screen, an accelerator; a bridge is none of them."""
    kinds = {"0x010802": "storage", "0x020700": "network", "0x030200": "display",
             "0x120000": "accelerator", "0x060400": ""}  # fmt: skip
    for place, kind in enumerate(kinds):
        device = f"sys/bus/pci/devices/0000:0{place}:00.0"
        put(tmp_path, f"{device}/class", f"{kind}\n")
        for word in ("current", "max"):
            put(tmp_path, f"{device}/{word}_link_speed", "8.0 GT/s PCIe\n")
            put(tmp_path, f"{device}/{word}_link_width", "4\n")
    found = {key: value for key, value in facts(tmp_path).items() if key.startswith("PCI")}
    names = [f"PCI link of {kind} 0000:0{i}:00.0" for i, kind in enumerate(kinds.values()) if kind]
    assert found == dict.fromkeys(names, "8.0 GT/s PCIe x4")


def test_link_that_does_not_say_its_speed_is_unavailable(tmp_path: Path) -> None:
    """As in a virtual machine."""
    put(tmp_path, "sys/bus/pci/devices/0000:00:04.0/class", "0x010000\n")
    found = facts(tmp_path)["PCI link of storage 0000:00:04.0"]
    assert found == "unavailable: the link does not say its speed"
