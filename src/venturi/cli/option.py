"""Options that several commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from venturi.model.error import UserError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_RECORD = "record.json"
SCALES = ("laptop", "paper", "small", "large")

store_option = click.option(
    "--store", metavar="DIR", help="Where results are kept (default: $VENTURI_STORE)."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, talk on stderr."
)
units_option = click.option(
    "--units", type=click.Choice(["iec", "si"]), default="iec", help="KiB or kB in what is shown."
)


def workload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that settle a workload: ranks, scale, parameters, repetitions, seed."""
    options: list[Decorator] = [
        click.option("-n", "--ranks", type=int, help="Number of ranks."),
        click.option("-N", "--nodes", type=click.IntRange(min=1), default=1, help="Nodes."),
        click.option("--scale", type=click.Choice(SCALES), default="laptop", help="Named scale."),
        click.option(
            "--set", "assignments", metavar="NAME=VALUE", multiple=True, help="Set a parameter."
        ),
        click.option("--repeat", metavar="N", help="Repetitions (default: the workload's, or 6)."),
        click.option(
            "--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Of all randomness."
        ),
        click.option("--on", "machine", metavar="MACHINE", default="local", help="Where to run."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def parse_assignments(texts: tuple[str, ...]) -> dict[str, str]:
    """`name=value` pairs of `--set`; UserError for anything else."""
    result: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise UserError(f"--set {text}: this is not name=value")
        result[name.strip()] = value.strip()
    return result


def parse_repeat(text: str | None) -> int | None:
    """The number of `--repeat`; None leaves it to the workload."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 100_000:
        raise UserError(f"--repeat {text}: a number from 1 to 100000 is needed")
    return int(text)


def open_workload(name: str, store: str | None) -> tuple[Any, str]:
    """A workload and its text: from the library, a file, or a run of the archive."""
    from venturi import library
    from venturi.model.workload import Workload
    from venturi.model.yaml_text import load_yaml, read_text

    if name.startswith("@") or (not Path(name).exists() and name not in library.names()):
        from venturi.store.archive import find, folders
        from venturi.store.place import store_directory

        place = store_directory(store)
        known = any(f.name.startswith(name) for f in folders(place))
        if name.startswith("@") or known:
            path = find(place, name) / "workload.yaml"
            return load_yaml(path, Workload), read_text(path)
    workload = library.load(name)
    text = library.text_of(name) if name in library.names() else read_text(Path(name))
    return workload, text


def open_or_derive(name: str, store: str | None) -> tuple[Any, str]:
    """A workload and its text as `open_workload` finds it, or the proxy of a log or capture."""
    from venturi import library

    path = Path(name)
    if name in library.names() or not path.exists() or _is_workload(path):
        return open_workload(name, store)
    from venturi.derive.workload import derive
    from venturi.derive.yaml_text import to_yaml
    from venturi.sources.open import read_capture

    workload = derive(read_capture(path), path.resolve().name.split(".")[0])
    return workload, to_yaml(workload)


def _is_workload(path: Path) -> bool:
    """Whether a file is a workload and no capture, by its content."""
    from venturi.sources.kind import CaptureKind, kind_of

    if path.is_dir():
        return False
    kind = kind_of(path)
    if kind is CaptureKind.TRACE:
        with path.open("rb") as file:
            return b'"workload"' in file.read(200)
    return kind is None


def settings_of(options: dict[str, Any]) -> Any:
    """The settings of the workload options."""
    from venturi.plan.setting import Settings

    return Settings(
        ranks=options["ranks"],
        nodes=options["nodes"],
        scale=options["scale"],
        repetitions=parse_repeat(options["repeat"]),
        seed=options["seed"],
        assignments=parse_assignments(options["assignments"]),
    )


def is_capture(name: str) -> bool:
    """Whether this names a capture of an application, and no record of a run."""
    path = Path(name)
    if path.is_dir():
        return not (path / _RECORD).is_file()
    return path.is_file() and path.name != _RECORD


def write_text(path: Path, text: str) -> None:
    """Writes a result where the user wants it; UserError where that cannot be."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "choose another file with -o") from None
