"""`venturi anonymise`: a capture without its names."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.help import HelpCommand
from venturi.cli.option import refuse_over_input, shown_path
from venturi.model.error import UserError


@click.command(cls=HelpCommand)
@click.argument("capture", nargs=-1, required=True)
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="Write the trace to this folder."
)
@click.option(
    "--key",
    "key_file",
    metavar="FILE",
    help="Secret key, made where there is none: captures with one key share their words. "
    "Default: a new one, which nobody keeps.",
)
@click.option(
    "--table", metavar="FILE", help="Write which word stands for which to this file. Keep it."
)
def command(capture: tuple[str, ...], output: str, key_file: str | None, table: str | None) -> None:
    """Replace the names in CAPTURE (a trace, Darshan, DXT or strace log), to hand it to others.

    Paths, command lines, hosts, programs and datasets get other words, by a secret key. Digits and
    the tree of the files stay, and calls, sizes, places and times are as they were: so `derive` and
    `report` say of the copy what they say of CAPTURE. Anonymise first, then derive: a proxy has the
    names of its capture.

    \b
    Examples:
      venturi anonymise app.trace -o for-vendor.trace --table words.txt
      venturi anonymise app.darshan -o shared.trace --key ~/site.key
    """
    from venturi.capture.anonymous import Names, anonymous, still_named
    from venturi.capture.anonymous_key import key_in, new_key, write_private
    from venturi.model.trace_folder import write_trace
    from venturi.sources.open import read_capture

    refuse_over_input(output, *capture)
    for path in (Path(output), *([Path(table)] if table else [])):
        if path.exists():
            raise UserError(f"'{path}' exists already", "name another, or move it away")
    captured = read_capture(capture[0], *capture[1:])
    made = [Path(one) for one in (key_file, table) if one is not None and not Path(one).exists()]
    names = Names(key_in(Path(key_file)) if key_file else new_key())
    changed = anonymous(captured, names)
    left = still_named(changed.trace, names)
    if left:
        raise UserError(
            f"not written: the copy would still have {len(left)} of the words to be replaced, "
            f"such as '{left[0]}'",
            "this is a defect of Venturi; please report it",
        )
    words = "".join(f"{new}\t{word}\n" for word, new in sorted(names.given.items()))
    try:
        if table is not None:
            write_private(Path(table), words)
        write_trace(Path(output), changed)
    except UserError:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    named = {one.path for one in changed.trace.files} | {one.file for one in changed.trace.records}
    click.echo(
        f"{len(names.given)} words replaced in the names of {len(named)} files and datasets, "
        f"{len(changed.trace.processes)} processes and the command line; when it ran and the job's "
        "number are left out",
        err=True,
    )
    click.echo(f" next    venturi derive {shown_path(Path(output))}", err=True)
