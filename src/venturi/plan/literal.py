"""Bytes that a workload names: the text or the numbers of a `write`, and how many there are."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Literal
from venturi.model.workload import DataStep, FileSpec, PatternKind
from venturi.plan.part import Access
from venturi.plan.scope import Scope
from venturi.plan.template import Field, template_fields

_PATTERNS = (PatternKind.CONTIGUOUS, PatternKind.STRIDED, PatternKind.APPEND)
_OTHERS = ("transfer", "size", "total", "block", "segments", "mix", "reads")
_MAX_WIDTH = 20


def with_literal_size(step: DataStep, where: str) -> DataStep:
    """The step with the size and the number of its requests, where their bytes are named."""
    if step.text is None and not step.numbers:
        return step
    if step.text is not None and step.numbers:
        raise UserError(f"{where}: both 'text' and 'numbers' say what is written", "keep one")
    for key in _OTHERS:
        if getattr(step, key):
            raise UserError(f"{where}: '{key}' does not go with bytes that are given")
    if step.pattern not in _PATTERNS:
        words = ", ".join(pattern.value for pattern in _PATTERNS)
        raise UserError(f"{where}: bytes that are given are written {words}")
    count = 1 if step.count is None else step.count
    return step.model_copy(update={"transfer": _bytes_of(step, where), "count": count})


def literal_of(
    step: DataStep, spec: FileSpec, is_write: bool, scope: Scope, where: str
) -> p.LiteralContent | None:
    """What the step writes, or nothing where that is made up."""
    if step.text is None and not step.numbers:
        return None
    if not is_write:
        raise UserError(f"{where}: what is read is in the file", "say how many bytes: 'size'")
    if spec.content.verify or spec.datasets:
        what = "has datasets" if spec.datasets else "is verified by stamps of its own"
        raise UserError(f"{where}: '{step.to}' {what}, so no bytes can be given", "leave them out")
    if step.text is None:
        numbers = [
            scope.code(number, f"{where}.numbers[{i}]") for i, number in enumerate(step.numbers)
        ]
        return p.LiteralContent(numbers=numbers, type=step.type, big_endian=step.big_endian)
    parts = []
    for piece in template_fields(step.text, f"{where}.text"):
        if isinstance(piece, str):
            parts.append(p.PathPart(text=piece))
        else:
            parts.append(
                p.PathPart(value=scope.code(piece.text, f"{where}.text"), width=piece.width)
            )
    return p.LiteralContent(text=parts)


def of_size(accesses: list[Access], step: DataStep) -> list[Access]:
    """The requests as long as what is given: the language's remainder of a part is none here."""
    return [access for access in accesses if access.size == Literal(int(step.transfer or 0))]


def _bytes_of(step: DataStep, where: str) -> int:
    if step.text is None:
        return len(step.numbers) * step.type.bytes
    size = 0
    for piece in template_fields(step.text, f"{where}.text"):
        if isinstance(piece, Field) and not 0 < piece.width <= _MAX_WIDTH:
            raise UserError(
                f"{where}.text: '{{{piece.text}}}' has no width, so nobody knows how long the "
                "text is",
                f"write {{{piece.text}:06d}}, of at most {_MAX_WIDTH} digits",
            )
        size += piece.width if isinstance(piece, Field) else len(piece.encode())
    if not size:
        raise UserError(f"{where}.text: this is empty")
    return size
