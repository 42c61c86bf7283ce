"""The official ini as settings: what it sets, what is refused, and in which words."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

import pytest

from compat.conftest import Tool
from venturi.compat.io500.arguments import Io500Arguments, chosen
from venturi.compat.io500.ini import Chosen, read_ini
from venturi.compat.io500.ini_text import KEYS_OF, IniKind, read_ini_text
from venturi.model.error import UserError


def ini(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.ini"
    path.write_text(text)
    return path


def test_todays_keys(tmp_path: Path) -> None:
    path = ini(
        tmp_path,
        "[global]\ndatadir = ./datafiles\ntimestamp-datadir = TRUE\nscc = TRUE\nverbosity = 1\n"
        "[debug]\nstonewall-time = 30 ; short\n[ior-easy]\ntransferSize = 4m\nblockSize = 72000m\n"
        "[ior-easy-read]\nAPI =\n[mdtest-easy]\nAPI = POSIX\nn = 500000\n[ior-hard]\n"
        "segmentCount = 95000\n[mdtest-hard]\nn = 7\n[find]\nnproc = 4\n"
        "[mdworkbench]\nprecreatePerSet = 40\nfilesPerProc = 30\n",
    )
    found = read_ini(path)
    assert found.assignments == {
        "stonewall": "30 s",
        "students": "1",
        "easy_transfer": f"{4 << 20} B",
        "easy_block": f"{72000 << 20} B",
        "easy_items": "500000",
        "hard_segments": "95000",
        "hard_items": "7",
        "work_made": "40",
        "work_objects": "30",
    }
    assert found.notes == [
        "datadir of the ini is not used: -d and --store say where",
        "[find] nproc = 4 is not used: all ranks walk",
    ]
    assert not found.obstacles


def test_keys_of_older_generations(tmp_path: Path) -> None:
    path = ini(
        tmp_path,
        "[ior-easy-write]\nnoRun = FALSE\n[ior-easy]\nposix.odirect = TRUE\n[ior-rnd4K]\n"
        "blockSize = 134217728\nrandomPrefill = 0\n"
        "run = FALSE\n[ior-rnd1MB-write]\nAPI = POSIX\n[ior-rnd4K-easy-read]\n"
        "[ior-rnd]\nrun = FALSE\n[ior-rnd-write]\nAPI =\n[find]\nnoRun = 0\n"
        "[ior-hard]\nhintsFileName =\ncollective = FALSE\n[mdworkbench]\nwaitingTime = 0.1\n",
    )
    found = read_ini(path)
    assert found.assignments == {"random_block": "134217728 B"}
    assert found.notes == [
        "the ini leaves [ior-rnd4k] out, the profile runs all phases",
        "the ini leaves [ior-rnd] out, the profile runs all phases",
        "[mdworkbench] waitingtime = 0.1 is not used: the profile does not wait between its "
        "operations",
    ]
    assert found.direct == ("easy",)
    assert not found.drop_caches


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[ior-easy]\nblokSize = 1g\n", "no io500 has a key 'bloksize' in [ior-easy]"),
        ("[ior-eazy]\nblockSize = 1g\n", "no io500 has a section [ior-eazy]"),
        ("[ior-easy]\nblockSize = much\n", "blocksize = much: a number above 0 is needed"),
        ("[ior-easy]\nblockSize = 5 minutes\n", "a number above 0 is needed"),
        ("[debug]\nstonewall-time = -3\n", "a number above 0 is needed"),
        ("[debug]\nstonewall-time = 5.5\n", "line 2: [debug] stonewall-time = 5.5: a whole number"),
        ("[debug]\nstonewall-time = 5 minutes\n", "a whole number is needed"),
        ("[mdtest-easy]\nn = 1e5\n", "n = 1e5: a whole number of at least 0 is needed"),
        ("[mdtest-easy]\nn = 0\n", "a number above 0 is needed"),
        ("[ior-easy]\nrun = maybe\n", "run = maybe: TRUE or FALSE is needed"),
        ("[timestamp]\nrun = TRUE\n", "no io500 has a key 'run' in [timestamp]"),
        ("[global]\napi = MPIOO\n", "IOR has no such interface"),
        ("[global]\napi = POSIX --posix.odirekt\n", "POSIX has no option --posix.odirekt"),
        ("[ior-easy]\nrun = TRUE; no blank\n", "neither a section nor a key"),
        ("n = 3\n", "'n' stands before the first [section]"),
        ("", "this is no config.ini"),
        ("[global]\n", "it has no key in any section"),
        ("\x00\x01\x02", "this is no config.ini"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        read_ini(ini(tmp_path, text))
    assert words in error.value.message
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[global]\napi = MPIIO\n", "[global] API = MPIIO: the profile does its I/O by POSIX"),
        ("[ior-hard]\nAPI = DFS --dfs.pool=p --dfs.cont=c\n", "[ior-hard] API = DFS"),
        ("[mdtest-hard]\nfiles-per-dir = 10\n", "calls a run with this key invalid"),
        ("[ior-hard]\nposix.odirect = TRUE\n", "[ior-hard] asks for O_DIRECT"),
        ("[global]\napi = POSIX --posix.odirect\n", "requests of 47008 B are no whole blocks"),
        ("[ior-hard]\ncollective = TRUE\n", "calls by POSIX are never collective"),
        ("[global]\nio-buffers-on-gpu = TRUE\n", "buffers in a GPU are not built here"),
    ],
)
def test_what_can_be_planned_but_not_run(tool: Tool, text: str, words: str) -> None:
    (tool.target / "c.ini").write_text(text)
    done = tool("run", "io500", "-d", ".", "--config", "c.ini")
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert [path.name for path in tool.target.iterdir()] == ["c.ini"]
    planned = tool("run", "io500", "-d", ".", "--config", "c.ini", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert "cannot run here: " in planned.stderr
    assert words in " ".join(planned.stderr.split())


KEYS = [(section, key, kind) for section, keys in KEYS_OF.items() for key, kind in keys.items()]
WORDS = (
    "TRUE",
    "false",
    "1",
    "0",
    "5",
    "-5",
    "1e5",
    "5.5",
    ".5",
    "maybe",
    "5 minutes",
    "+3",
    "1k",
    "0x10",
    "TRUE # a remark",
    "7\t; a remark",
    "tRuE",
    "yes",
    "٣",
    "-",
    "1.5.2",
)


def official_takes(kind: IniKind, text: str) -> bool:
    """The forms of the official parser, behind its remark."""
    plain = re.sub(r"\s[#;].*", "", text).strip()
    forms = {
        IniKind.WHOLE: r"-?[0-9]+",
        IniKind.COUNT: r"[0-9]+",
        IniKind.TEXT: r".*",
        IniKind.FLAG: r"[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|1|0",
        IniKind.REAL: r"[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)(e[-+]?[0-9]+)?",
    }
    return re.fullmatch(forms[kind], plain) is not None


@pytest.mark.parametrize("seed", range(6))
def test_values_are_taken_as_the_official_parser_takes_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        section, key, kind = rng.choice(KEYS)
        value = rng.choice(WORDS)
        name = "".join(rng.choice((letter, letter.upper())) for letter in key)
        blank = rng.choice(("", "  ", "\t"))
        path = ini(
            tmp_path,
            f"; {seed}\n{blank}[{blank}{section}{blank}]{rng.choice(('', ' # remark'))}\n\n"
            f"{blank}{name}{blank}={blank}{value}{rng.choice(('', '  '))}\n",
        )
        if official_takes(kind, value):
            read_ini_text(path)
        else:
            with pytest.raises(UserError, match="line 4"):
                read_ini_text(path)


NO_EFFECT = {("global", "drop-caches-cmd")}
"""What io500 uses but with drop-caches, whose note names it."""


@pytest.mark.parametrize(("section", "key", "kind"), KEYS)
def test_every_key_is_used_or_noted(tmp_path: Path, section: str, key: str, kind: IniKind) -> None:
    text = "3m" if key.endswith("size") else "DFS" if key == "api" else "word"
    values = {
        IniKind.WHOLE: ["7"],
        IniKind.COUNT: ["7"],
        IniKind.REAL: ["0.7"],
        IniKind.FLAG: ["TRUE", "FALSE"],
        IniKind.TEXT: [text],
    }
    found = [read_ini(ini(tmp_path, f"[{section}]\n{key} = {value}\n")) for value in values[kind]]
    has_effect = any(one != Chosen() for one in found)
    assert has_effect != ((section, key) in NO_EFFECT)


def test_one_file_for_all_ranks_of_ior_easy(tool: Tool) -> None:
    """A block of each rank in it, one behind the other, as the official program has it."""
    small = "[ior-hard]\nsegmentCount = 9\n[mdtest-easy]\nn = 120\n[mdtest-hard]\nn = 120\n"
    for text, names in (
        ("filePerProc = FALSE", {"ior-easy/ior_file_easy"}),
        ("uniqueDir = TRUE", {"ior-easy/{rank:08d}/ior_file_easy.{rank:08d}"}),
    ):
        (tool.target / "c.ini").write_text(f"[ior-easy]\nblockSize = 4m\n{text}\n{small}")
        done = tool("run", "io500", "-d", ".", "-n", "2", "--config", "c.ini", "--json")
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert {record["workload"]["files"]["easy"]["path"]} == names
        moved = {row["path"]: row["bytes"] for row in record["phases"]}
        assert moved["ior-easy-write"] == moved["ior-easy-read"] == 2 * (4 << 20)
        assert not any(row["errors"] for row in record["phases"])
        planned = tool("run", "io500", "-d", ".", "-n", "2", "--config", "c.ini", "--dry-run")
        assert planned.returncode == 0, planned.stderr


def test_caches_that_are_kept_out(tool: Tool) -> None:
    """Data is read from storage, and the easy files go past the page cache."""
    (tool.target / "c.ini").write_text(
        "[global]\ndrop-caches = TRUE\n[ior-easy]\nblockSize = 4m\nposix.odirect = TRUE\n"
        "[ior-hard]\nsegmentCount = 9\n[mdtest-easy]\nn = 9\n[mdtest-hard]\nn = 102\n"
    )
    done = tool("run", "io500", "-d", ".", "-n", "2", "--config", "c.ini", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert any("caches of data are dropped" in text for text in record["warnings"])
    shares = {row["path"]: row["cached_share"] for row in record["phases"]}
    assert shares["ior-easy-read"] == shares["ior-hard-read"] == 0
    assert record["workload"]["files"]["easy"]["options"] == {"direct": True}
    written = (tool.store / "runs" / record["id"] / "workload.yaml").read_text()
    # Both IOR reads, mdtest-hard-read, and the three random reads of extended modes.
    assert written.count("cache: drop") == 6


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        read_ini(tmp_path / "nothing.ini")
    with pytest.raises(UserError, match="this is no regular file"):
        read_ini(tmp_path)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_stonewall_that_cannot_be(seconds: float) -> None:
    with pytest.raises(UserError, match="seconds above 0 are needed"):
        chosen("io500", Io500Arguments(stonewall_s=seconds), 2, 1)


def test_the_command_line_goes_before_the_ini(tmp_path: Path) -> None:
    path = ini(tmp_path, "[debug]\nstonewall-time = 30\n[mdtest-hard]\nn = 9\n")
    found = chosen("io500", Io500Arguments(stonewall_s=5, mode="extended", config=path), 8, 2)
    assert found.assignments == {
        "stonewall": "5 s",
        "hard_items": "9",
        "extended": "1",
        "apart": "4",
        "stride": "4",
    }


def test_other_workloads_have_no_such_options() -> None:
    assert chosen("ior", Io500Arguments(), 2, 1).assignments == {}
    with pytest.raises(UserError, match="belong to io500, not to ior"):
        chosen("ior", Io500Arguments(stonewall_s=5), 2, 1)
