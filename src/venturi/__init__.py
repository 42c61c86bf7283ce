"""Venturi measures, models and predicts the I/O of high-performance computing.

In a notebook: `import venturi as v`, then `v.capture([...])`, `v.derive(...)`, `v.plan(...)`,
`v.run(...)`, `v.open("@last")`, `v.compare(a, b)`, `v.predict(...)`, `v.tune(...)`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from venturi.api.compare import compare as compare
    from venturi.api.compare_places import compare_places as compare_places
    from venturi.api.predict import predict as predict
    from venturi.api.predict import predict_beside as predict_beside
    from venturi.api.profile import profile as profile
    from venturi.api.run import RunView as Run
    from venturi.api.run import open as open
    from venturi.api.run import run as run
    from venturi.api.runs import runs as runs
    from venturi.api.trace import CaptureView as Capture
    from venturi.api.trace import capture as capture
    from venturi.api.trace import derive as derive
    from venturi.api.tune import TuningView as Tuning
    from venturi.api.tune import tune as tune
    from venturi.api.workload import WorkloadView as Workload
    from venturi.api.workload import plan as plan
    from venturi.model.error import RunFailed as RunFailed
    from venturi.model.error import TargetProblem as TargetProblem
    from venturi.model.error import UserError as UserError

__version__ = "0.1.0"
__all__ = [
    "Capture",
    "Run",
    "RunFailed",
    "TargetProblem",
    "Tuning",
    "UserError",
    "Workload",
    "capture",
    "compare",
    "compare_places",
    "derive",
    "open",
    "plan",
    "predict",
    "predict_beside",
    "profile",
    "run",
    "runs",
    "tune",
]

_PLACES = {
    "Capture": ("venturi.api.trace", "CaptureView"),
    "Run": ("venturi.api.run", "RunView"),
    "RunFailed": ("venturi.model.error", "RunFailed"),
    "TargetProblem": ("venturi.model.error", "TargetProblem"),
    "Tuning": ("venturi.api.tune", "TuningView"),
    "UserError": ("venturi.model.error", "UserError"),
    "Workload": ("venturi.api.workload", "WorkloadView"),
    "capture": ("venturi.api.trace", "capture"),
    "compare": ("venturi.api.compare", "compare"),
    "compare_places": ("venturi.api.compare_places", "compare_places"),
    "derive": ("venturi.api.trace", "derive"),
    "open": ("venturi.api.run", "open"),
    "plan": ("venturi.api.workload", "plan"),
    "predict": ("venturi.api.predict", "predict"),
    "predict_beside": ("venturi.api.predict", "predict_beside"),
    "profile": ("venturi.api.profile", "profile"),
    "run": ("venturi.api.run", "run"),
    "runs": ("venturi.api.runs", "runs"),
    "tune": ("venturi.api.tune", "tune"),
}


_STAGES = frozenset({"capture", "derive", "plan", "predict", "profile", "tune"})
"""Calls with the name of the package that they are of, which is called in their stead."""


def _call(name: str) -> Any:
    module, attribute = _PLACES[name]
    return getattr(importlib.import_module(module), attribute)


class _Stage(ModuleType):
    """A package that can be called: `venturi.plan(...)` beside `venturi.plan.make`."""

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(_call(self.__name__.rpartition(".")[2]))

    def __call__(self, *args: Any, **named: Any) -> Any:
        return _call(self.__name__.rpartition(".")[2])(*args, **named)


class _Package(ModuleType):
    """This package: those of its packages that are calls become so when they are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _STAGES and isinstance(value, ModuleType):
            value.__class__ = _Stage
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted([*__all__, "__version__"])


if not TYPE_CHECKING:  # which knows the names from above

    def __getattr__(name: str) -> Any:
        """What is asked for is imported then, so that `import venturi` costs nothing."""
        if name in _STAGES:
            return importlib.import_module(f"{__name__}.{name}")
        if name in _PLACES:
            return _call(name)
        raise AttributeError(f"module 'venturi' has no attribute '{name}'")


sys.modules[__name__].__class__ = _Package
