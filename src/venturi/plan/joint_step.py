"""Steps that all ranks of a group do together and that touch no file entry of the workload."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.command import ExecStep
from venturi.model.workload import StepSpec, Workload
from venturi.plan.command import lower_exec
from venturi.plan.find import lower_find
from venturi.plan.scope import Scope

JOINT_VERBS = ("find", "exec", "kernel")


def lower_joint(
    step: StepSpec,
    workload: Workload,
    commands: list[ExecStep],
    scope: Scope,
    where: str,
) -> p.Step:
    """The plan's step of one of `JOINT_VERBS`; UserError for what cannot be."""
    if step.exec is not None:
        return lower_exec(step.exec, commands, scope, where)
    if step.kernel is not None:
        from venturi.plan.kernel import lower_kernel  # where there are kernels alone

        return lower_kernel(step.kernel, scope, where)
    return lower_find(step.find, workload, scope, where)
