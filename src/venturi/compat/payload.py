"""Which data the commands of the field's tools write: ours, or what the tool itself writes."""

from __future__ import annotations

from enum import StrEnum

from venturi.model.error import UserError
from venturi.model.workload import Workload


class Payload(StrEnum):
    """Contents of the written bytes."""

    VENTURI = "venturi"
    """Neither compresses nor repeats in any 4 KiB."""
    IOR = "ior"
    """Every transfer of a task (every file of mdtest) has the same bytes."""


def with_payload(workload: Workload, payload: Payload) -> Workload:
    """The workload with these data; UserError where they would have to be checked."""
    if payload is Payload.VENTURI:
        return workload
    files = {}
    for name, spec in workload.files.items():
        if spec.content.verify and not spec.foreign:
            raise UserError(
                "--payload ior: equal transfers cannot be told apart, so nothing of them can be "
                "checked",
                "leave --payload away, or the options that check data (-R, -W, -G of IOR; -X of "
                "md-workbench and mdtest's --verify-read, --verify-write)",
            )
        content = spec.content.model_copy(update={"repeats": True})
        files[name] = spec if spec.foreign else spec.model_copy(update={"content": content})
    return workload.model_copy(update={"files": files})
