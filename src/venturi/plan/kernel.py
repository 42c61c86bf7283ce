"""A kernel as a step of a plan."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.interface_entry import InterfaceOption
from venturi.model.kernel import KERNELS
from venturi.model.kernel_step import KernelStep
from venturi.plan.file import options_of_settings, with_numbers
from venturi.plan.scope import Scope


def lower_kernel(step: KernelStep, scope: Scope, where: str) -> p.Kernel:
    """The plan's step; UserError for a kernel or an option that there is not.

    The engine checks the values of options, whether it has the kernel, and its ranks.
    """
    entry = KERNELS.get(step.name)
    if entry is None:
        raise UserError(
            f"{where}.name: there is no kernel '{step.name}'", f"kernels: {', '.join(KERNELS)}"
        )
    known = {option.name: option for option in entry.options}
    options = [
        with_numbers(option, scope, f"{where}.options.{option.name}")
        for option in options_of_settings(step.options)
    ]
    for option in options:
        _check(option, known, f"{where}.options.{option.name}", step.name)
    return p.Kernel(name=step.name, options=options)


def _check(option: p.Option, known: dict[str, InterfaceOption], where: str, kernel: str) -> None:
    if option.name not in known:
        words = ", ".join(known) or "none"
        raise UserError(f"{where}: {kernel} has no such option", f"options: {words}")
    allowed = known[option.name].range.split("|")
    if known[option.name].type == "word" and option.value not in allowed:
        raise UserError(f"{where}: '{option.value}' is none of {', '.join(allowed)}")
