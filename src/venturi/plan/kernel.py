"""A kernel as a step of a plan."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.kernel import KERNELS
from venturi.model.kernel_step import KernelStep
from venturi.plan.option import lower_options, options_of_settings
from venturi.plan.scope import Scope


def lower_kernel(step: KernelStep, scope: Scope, where: str) -> p.Kernel:
    """The plan's step; UserError for a kernel or an option that there is not, or its value.

    The engine checks whether it has the kernel, and its ranks.
    """
    entry = KERNELS.get(step.name)
    if entry is None:
        raise UserError(
            f"{where}.name: there is no kernel '{step.name}'", f"kernels: {', '.join(KERNELS)}"
        )
    options = lower_options(
        options_of_settings(step.options),
        entry.options,
        step.name,
        scope,
        lambda option: f"{where}.options.{option}",
    )
    return p.Kernel(name=step.name, options=options)
