"""A command as a step of a plan."""

from __future__ import annotations

from pathlib import PurePosixPath

from venturi.model import plan as p
from venturi.model.command import ExecStep
from venturi.model.error import UserError
from venturi.model.expression import Literal
from venturi.plan.scope import Scope, duration
from venturi.plan.template import Field, template_fields


def lower_exec(step: ExecStep, commands: list[ExecStep], scope: Scope, where: str) -> p.Exec:
    """The plan's step, which is put to the other commands.

    UserError for a text with unknown names, or a file outside the command's folder.
    """
    parts: list[p.PathPart] = []
    for piece in template_fields(step.command, f"{where}.command"):
        if not isinstance(piece, Field):
            parts.append(p.PathPart(text=piece))
            continue
        tree = scope.tree(piece.text, f"{where}.command")
        if isinstance(tree, Literal) and not isinstance(tree.value, int):
            raise UserError(
                f"{where}.command: '{{{piece.text}}}' is {tree.value}, and a command takes whole"
                " numbers",
                "write the number itself into the command, or floor(...)",
            )
        code = scope.compile(tree, f"{where}.command")
        parts.append(p.PathPart(value=code, width=piece.width))
    _check_inside({f"files.{name}": pattern for name, pattern in step.files.items()}, where)
    _check_inside({f"metrics.{name}": rule.file for name, rule in step.metrics.items()}, where)
    commands.append(step)
    limit_s = duration(step.time, scope, f"{where}.time")
    return p.Exec(number=len(commands) - 1, command=parts, limit_s=limit_s)


def _check_inside(paths: dict[str, str], where: str) -> None:
    for key, path in paths.items():
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts:
            raise UserError(
                f"{where}.{key}: '{path}' is no path below the folder in which the command runs",
                "let the command write or copy it there",
            )
