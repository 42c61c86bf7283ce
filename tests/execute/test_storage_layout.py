"""What Lustre, GPFS and BeeGFS say of a directory, from dialogues as their manuals show them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from venturi.execute.storage_layout import layout_of
from venturi.model.storage_layout import StorageLayout

LUSTRE_PLAIN = "stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1\n"
LUSTRE_COMPOSITE = """\
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   67108864
      stripe_count:  1    stripe_size:   1048576    pattern:    raid0    stripe_offset: -1
      pool:          flash

    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   EOF
      stripe_count:  -1   stripe_size:   4194304    pattern:    raid0    stripe_offset: -1
"""
LUSTRE_QUOTA = (
    "{where}\n                1024*     900    1000       -      10       0       0       -\n"
)
GPFS_ATTRIBUTES = """\
file name:            {where}
metadata replication: 1 max 2
data replication:     2 max 2
immutable:            no
appendOnly:           no
flags:
storage pool name:    system
fileset name:         scratch
snapshot name:
creation time:        Wed Feb 22 15:16:29 2023
Misc attributes:      DIRECTORY
Encrypted:            no
"""
GPFS_BLOCK = """\
flag                value                    description
------------------- ------------------------ -----------------------------------
 -B                 16777216                 Block size
"""
GPFS_QUOTA = (
    "mmlsquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:"
    "blockQuota:blockLimit:blockInDoubt:blockGrace:filesUsage:filesQuota:filesLimit:filesInDoubt:"
    "filesGrace:remarks:quota:defQuota:fid:filesetname:\n"
    "mmlsquota::0:1:::fs1:USR:1000:bench:2048:0:4096:0:none:7:0:0:0:none::on:off:::\n"
)
BEEGFS_ENTRY = """\
Entry type: directory
EntryID: 0-5B1F2D3C-1
Metadata node: meta01 [ID: 1]
Stripe pattern details:
+ Type: RAID0
+ Chunksize: 512K
+ Number of storage targets: desired: 4
+ Storage Pool: 1 (Default)
"""
BEEGFS_QUOTA = "name,id,size,hard,files,hard\nbench,1000,4096,unlimited,3,1000\n"


def _play(folder: Path, name: str, dialogue: dict[str, str], code: int = 0) -> None:
    """A command that answers by the first word of each kind of question."""
    cases = []
    for number, (word, answer) in enumerate(dialogue.items()):
        (folder / f"{name}-{number}").write_text(answer)
        cases.append(f'*{word}*) cat "{folder}/{name}-{number}"; exit {code};;')
    script = folder / name
    script.write_text(f'#!/bin/sh\ncase "$*" in {" ".join(cases)} esac\necho unknown >&2; exit 9\n')
    script.chmod(0o755)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def _layout(where: Path, kind: str, source: str = "fs1") -> StorageLayout:
    found = layout_of(where, kind, source)
    assert found is not None
    return found


def test_stripes_of_lustre(tmp_path: Path, commands: Path) -> None:
    quota = LUSTRE_QUOTA.format(where=tmp_path)
    _play(commands, "lfs", {"getstripe": LUSTRE_PLAIN, "quota": quota})
    found = _layout(tmp_path, "lustre")
    assert found.parts == [
        {
            "stripe count": "4",
            "stripe size, bytes": "1048576",
            "pattern": "raid0",
            "first OST": "-1",
        }
    ]
    (own,) = found.quotas
    assert (own.used_bytes, own.limit_bytes) == (1024 * 1024, 1000 * 1024)
    assert (own.used_files, own.limit_files) == (10, None)
    assert found.commands[0] == f"lfs getstripe -d {tmp_path}"
    assert found.remarks == []


def test_a_composite_layout_of_lustre(tmp_path: Path, commands: Path) -> None:
    _play(commands, "lfs", {"getstripe": LUSTRE_COMPOSITE, "quota": ""})
    first, last = _layout(tmp_path, "lustre").parts
    assert (first["from byte"], first["to byte"], first["stripe count"]) == ("0", "67108864", "1")
    assert first["pool"] == "flash"
    assert (last["to byte"], last["stripe count"], "pool" in last) == ("EOF", "-1", False)


def test_gpfs(tmp_path: Path, commands: Path) -> None:
    _play(commands, "mmlsattr", {"-L": GPFS_ATTRIBUTES.format(where=tmp_path)})
    _play(commands, "mmlsfs", {"-B": GPFS_BLOCK})
    _play(commands, "mmlsquota", {"-Y": GPFS_QUOTA})
    found = _layout(tmp_path, "gpfs")
    assert found.parts == [
        {
            "copies of metadata": "1 max 2",
            "copies of data": "2 max 2",
            "pool": "system",
            "fileset": "scratch",
            "block size, bytes": "16777216",
        }
    ]
    (own,) = found.quotas
    assert own.whose == "usr bench"
    assert (own.used_bytes, own.limit_bytes, own.used_files) == (2 << 20, 4 << 20, 7)
    assert own.limit_files is None


def test_beegfs(tmp_path: Path, commands: Path) -> None:
    _play(commands, "beegfs-ctl", {"getentryinfo": BEEGFS_ENTRY, "getquota": BEEGFS_QUOTA})
    found = _layout(tmp_path, "beegfs")
    assert found.parts == [
        {
            "metadata server": "meta01 [ID: 1]",
            "pattern": "RAID0",
            "chunk size": "512K",
            "targets": "4",
            "pool": "1 (Default)",
        }
    ]
    (own,) = found.quotas
    assert (own.used_bytes, own.limit_bytes, own.limit_files) == (4096, None, 1000)


def test_what_a_command_does_not_say_is_remarked(tmp_path: Path, commands: Path) -> None:
    """Neither a missing command nor one that fails or prints something else ends a run."""
    os.environ["PATH"] = str(commands)  # the fixture puts it back
    assert _layout(tmp_path, "beegfs").remarks == ["beegfs-ctl is not installed here"] * 2
    os.environ["PATH"] = f"{commands}:/usr/bin:/bin"
    _play(commands, "lfs", {"getstripe": "no stripes\n"}, code=2)
    found = _layout(tmp_path, "lustre")
    assert found.parts == []
    assert "getstripe" in found.remarks[0]
    assert found.remarks[0].endswith("no stripes")
    assert found.remarks[1].endswith("unknown")
    assert layout_of(tmp_path, "ext4", "/dev/sda") is None
