"""Stripes of new files: refused where the file system has none, else asked for as its ABI wants.

Neither Lustre nor BeeGFS runs here. What the engine sends them is read by a preloaded stand-in.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    Plan,
    Sharing,
    Tree,
    file,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    write,
)
from engine.running import Engine, file_system, kinds
from venturi.model.plan import Dataset, ElementType, Option, Stripe

KIB = 1024
INTERFACES = ["posix", "uring", "mmap", "stdio"]
STRIPE = Stripe(count=4, bytes=1 << 20)
LAYOUT = "<IIQQIHH"


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stand-in") / "stripes.so"
    source = Path(__file__).with_name("stripe_stand_in.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    return made


class StandIn:
    """The environment in which every directory is on a striped file system."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, library: Path, log: Path) -> None:
        self._patch = monkeypatch
        self._library = library
        self._log = log

    def be(self, name: str, error: int = 0) -> None:
        self._patch.setenv("STAND_IN", name)
        self._patch.setenv("STAND_IN_LOG", str(self._log))
        if error:
            self._patch.setenv("STAND_IN_ERROR", str(error))
        self._patch.setenv("LD_PRELOAD", str(self._library))

    def told(self) -> list[tuple[str, bytes]]:
        """What came in: a word and the bytes."""
        lines = [line.partition(" ") for line in self._log.read_text().splitlines()]
        return [(word, bytes.fromhex(text)) for word, _, text in lines]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, stand_in: Path, tmp_path: Path) -> StandIn:
    return StandIn(monkeypatch, stand_in, tmp_path / "told")


def made_with(place: Path, stripe: Stripe, interface: str = "posix", **keys: object) -> Plan:
    """Two ranks write a shared file in a directory of its own."""
    target = file("sub/data", interface=interface, stripe=stripe, **keys)
    body = [manage("create"), write(KIB, nest(RANK, (4, 2 * KIB))), manage("close")]
    return plan(place, [target], [phase("w", *body)], ranks=2)


@pytest.mark.needs("openmpi")
@pytest.mark.parametrize("interface", [*INTERFACES, "mpiio", "hdf5", "netcdf"])
def test_a_file_system_without_stripes_is_named_before_any_io(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    arrays = [Dataset(name="d", type=ElementType.I8, shape=[16 * KIB])]
    held = {"datasets": arrays} if interface in ("hdf5", "netcdf") else {}
    made = made_with(tmp_path, STRIPE, interface, **held)
    comm = "openmpi" if interface == "mpiio" else "forked"
    outcome = engine.run(made, comm)
    assert outcome.code == 5, outcome.events
    kind = file_system(tmp_path)
    names = {
        "overlay": "overlayfs",
        "tmpfs": "tmpfs",
        "ext4": "ext4",
        "xfs": "XFS",
        "btrfs": "Btrfs",
    }
    assert f"not possible on {names[kind]}, where users do not choose" in outcome.failed["message"]
    assert "Lustre and BeeGFS" in outcome.failed["hint"]
    assert not outcome.of("phase_started")
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("comm", ["forked", "openmpi", "mpich"])
@pytest.mark.parametrize("interface", INTERFACES)
def test_lustre_gets_a_layout_before_the_file_has_any_object(
    engine: Engine, tmp_path: Path, system: StandIn, interface: str, comm: str
) -> None:
    system.be("lustre")
    outcome = engine.run(made_with(tmp_path, STRIPE, interface), comm)
    assert outcome.code == 0, outcome.events
    (word, nothing), (name, layout) = system.told()
    assert (word, nothing) == ("delayed", b"")
    assert name == "lustre"
    # Magic and pattern; whose objects; stripes: size, count, any first target.
    assert struct.unpack(LAYOUT, layout) == (0x0BD10BD0, 1, 0, 0, 1 << 20, 4, 0xFFFF)
    (event,) = outcome.of("file_facts")
    facts = [(fact["name"], fact["value"]) for fact in event["facts"]]
    assert facts == [("stripe_count", "4"), ("stripe_size", str(1 << 20))]
    assert kinds(outcome.phase("w"))["create"] == 1


@pytest.mark.parametrize(
    ("stripe", "size", "count"),
    [(Stripe(count=-1), 0, 0xFFFF), (Stripe(bytes=1 << 16), 1 << 16, 0)],
    ids=["all targets", "the size alone"],
)
def test_what_is_not_said_is_left_to_lustre(
    engine: Engine, tmp_path: Path, system: StandIn, stripe: Stripe, size: int, count: int
) -> None:
    system.be("lustre")
    assert engine.run(made_with(tmp_path, stripe)).code == 0
    assert struct.unpack(LAYOUT, system.told()[1][1])[4:6] == (size, count)


@pytest.mark.parametrize("comm", ["forked", "openmpi"])
@pytest.mark.parametrize("interface", INTERFACES)
def test_beegfs_makes_the_file_with_its_stripes(
    engine: Engine, tmp_path: Path, system: StandIn, interface: str, comm: str
) -> None:
    system.be("beegfs")
    outcome = engine.run(made_with(tmp_path, STRIPE, interface), comm)
    assert outcome.code == 0, outcome.events
    ((name, numbers),) = system.told()
    assert name == "data"
    assert struct.unpack("<III", numbers) == (0o644, 4, 1 << 20)
    (event,) = outcome.of("file_facts")
    facts = [(fact["name"], fact["value"]) for fact in event["facts"]]
    assert facts == [("stripe_count", "4"), ("stripe_size", str(1 << 20))]


def test_stripes_that_beegfs_has_not_are_refused(
    engine: Engine, tmp_path: Path, system: StandIn
) -> None:
    system.be("beegfs")
    outcome = engine.run(made_with(tmp_path, Stripe(bytes=3 << 16)))
    assert outcome.code == 5
    assert "a power of two" in outcome.failed["message"]


@pytest.mark.parametrize(("name", "word"), [("lustre", "Lustre"), ("beegfs", "BeeGFS")])
def test_a_refused_layout_leaves_no_file(
    engine: Engine, tmp_path: Path, system: StandIn, name: str, word: str
) -> None:
    system.be(name, error=22)
    outcome = engine.run(made_with(tmp_path, STRIPE))
    assert outcome.code == 3
    assert "create of sub/data failed" in outcome.failed["message"]
    assert f"{word} refuses these stripes" in outcome.failed["hint"]
    assert not Path(outcome.failed["where"] or tmp_path / "run").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["lustre", "beegfs"])
def test_items_of_a_tree_are_striped_and_made_anew(
    engine: Engine, tmp_path: Path, system: StandIn, name: str
) -> None:
    system.be(name)
    tree = Tree(depth=1, branch=2, items=number(3), size=number(KIB))
    target = file("tree", stripe=STRIPE, tree=tree)
    body = [items("create", "write", "close"), items("open", "read", "close"), items("unlink")]
    made = plan(tmp_path, [target], [phase("w", *body)], ranks=2, repetitions=2)
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    layouts = [word for word, held in system.told() if held]
    assert len(layouts) == 2 * 2 * 9


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_mpi_s_library_gets_hints_too(
    engine: Engine,
    tmp_path: Path,
    system: StandIn,
    stand_in: Path,
    mpi: str,
    mpi_spies: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system.be("lustre")
    monkeypatch.setenv("LD_PRELOAD", f"{stand_in} {mpi_spies[mpi]}")
    monkeypatch.setenv("SPY_LOG", str(tmp_path / "calls"))
    made = made_with(tmp_path, STRIPE, "mpiio", hints=[Option(name="striping_unit", value="65536")])
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    assert [word for word, _ in system.told()] == ["delayed", "lustre"]
    (event,) = outcome.of("file_facts")
    facts = {fact["name"]: fact["value"] for fact in event["facts"]}
    assert (facts["stripe_count"], facts["stripe_size"]) == ("4", str(1 << 20))
    opens = [path.read_text().splitlines()[0] for path in tmp_path.glob("calls.*")]
    assert opens == ["open 4 65536 0"] * 2, "a hint of the file's own goes before"


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("makes no files that could be striped", file(interface="null", stripe=STRIPE)),
        ("neither how many nor how long", file(stripe=Stripe())),
        ("multiple of 64 KiB", file(stripe=Stripe(bytes=1000))),
        ("only ever read", file(stripe=STRIPE, foreign=True, sharing=Sharing.ALL)),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(
    engine: Engine, tmp_path: Path, words: str, target: object
) -> None:
    outcome = engine.run(plan(tmp_path, [target], [phase("w", manage("open"))]), "alone")
    assert outcome.code == 2
    assert words in outcome.failed["message"]


def test_a_node_is_no_file_with_stripes(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(items=number(3), size=number(0))
    made = plan(tmp_path, [file("t", stripe=STRIPE, tree=tree)], [phase("w", items("mknod"))])
    outcome = engine.run(made, "alone")
    assert outcome.code == 2
    assert "mknod makes a file without its stripes" in outcome.failed["message"]
