"""Changes of small workloads, made as `tune` makes them."""

from __future__ import annotations

from venturi.model.plan import Interface
from venturi.model.workload import DataStep, Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.tune.catalogue import Candidate, context_of, named
from venturi.tune.evaluation_context import EvaluationContext, uses_of

HEAD = """
workload: 1
name: w
parameters: {np: {default: 4, role: ranks}}
groups: {g: {ranks: np}}
"""
BUILT = frozenset(word.value for word in Interface)
SETTINGS = RunSettings()


def context(
    body: str, file_system: str = "ext4", built: frozenset[str] = BUILT
) -> EvaluationContext:
    return context_of(parse_yaml(HEAD + body, "w.yaml", Workload), SETTINGS, file_system, built)


def simple(step: str, file: str = "{path: f, shared: rank}") -> EvaluationContext:
    """One phase that creates, writes and closes a file."""
    return context(
        f"files: {{f: {file}}}\nprogram:\n  g:\n    - phase: p\n      do:\n"
        f"        - create: f\n        - write: {{to: f, {step}}}\n        - close: f\n"
    )


def changed(text: str, before: EvaluationContext) -> Candidate:
    return named(text, before, SETTINGS)


def planned(candidate: Candidate) -> PlanResult:
    return make_plan(candidate.variant.workload, SETTINGS)


def only_step(candidate: Candidate) -> DataStep:
    (use,) = uses_of(candidate.variant.workload)
    return use.step
