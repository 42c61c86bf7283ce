"""Where a probe keeps what it knows: a folder for each target in the store.

probe/NAME/target.json            settings that the pool was made with
probe/NAME/KIND.ring              samples of the last days, written by the worker
probe/NAME/samples/DAY.KIND       single samples of a day that is over
probe/NAME/minutes/DAY.KIND       statistics of each minute of a day
probe/NAME/hours/DAY.KIND         a histogram for each hour of a day
probe/NAME/baseline.json          expected values, computed anew each hour
probe/NAME/reference.json         expected values that an administrator froze
"""

from __future__ import annotations

from pathlib import Path

from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.probe import ProbeKind, ProbeReference, ProbeTarget

TARGET_NAME = "target.json"
REFERENCE_NAME = "reference.json"
BASELINE_NAME = "baseline.json"


def probe_folder(store: Path) -> Path:
    """The folder of all targets in a store."""
    return store / "probe"


def ring_path(folder: Path, kind: ProbeKind) -> Path:
    """The ring of one worker."""
    return folder / f"{kind.value}.ring"


def target_of(folder: Path) -> ProbeTarget:
    """Return the settings of a target. Raises UserError where they are damaged."""
    path = folder / TARGET_NAME
    try:
        return parse_json(ProbeTarget, path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "venturi probe run makes it") from None
    except UserError as error:
        raise UserError(f"{path}: {error.message}") from None


def known_targets(store: Path, names: tuple[str, ...] = ()) -> list[Path]:
    """Return the folders of targets by name, of all if none is named. UserError for none."""
    folders = sorted(path.parent for path in probe_folder(store).glob(f"*/{TARGET_NAME}"))
    known = {folder.name: folder for folder in folders}
    for name in names:
        if name not in known:
            what = ", ".join(known) or "none"
            raise UserError(f"no target is called {name}", f"known in {store}: {what}")
    if not folders:
        raise UserError(
            f"{store}: no probe has run with this store", "start one: venturi probe run DIR"
        )
    return [known[name] for name in names] if names else folders


def targets_at(store: Path, words: tuple[str, ...]) -> list[Path]:
    """Return the folders of targets by name in a store or by path, of all if none is named.

    Raises UserError for what is neither.
    """
    paths = [Path(word) for word in words if is_target(Path(word))]
    names = tuple(word for word in words if not is_target(Path(word)))
    return [*paths, *(known_targets(store, names) if names or not paths else ())]


def is_target(folder: Path) -> bool:
    """Whether a path is the folder of a target."""
    return (folder / TARGET_NAME).is_file() and folder.parent.name == "probe"


def read_reference(folder: Path, name: str) -> ProbeReference | None:
    """Return expected values that were kept; None where there are none."""
    path = folder / name
    if not path.exists():
        return None
    try:
        return parse_json(ProbeReference, path.read_bytes())
    except UserError as error:
        raise UserError(f"{path}: {error.message}", "remove the file") from None
