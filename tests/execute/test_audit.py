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
