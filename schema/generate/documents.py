"""The table of documents: each is defined once, and everything else is generated from it."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from types import ModuleType

from pydantic import BaseModel


@dataclass(frozen=True)
class DocumentKind:
    """One kind of document: its name, its root model and whether the engine reads or writes it."""

    name: str
    root: str
    """The model's name in `venturi.model.<name>`."""
    engine: bool = False
    """Whether C++ structs are generated, for the type that `value_type` names."""
    value_type: str = ""
    """The C++ type of a whole document."""

    def module(self) -> ModuleType:
        """The module that defines the document."""
        return importlib.import_module(f"venturi.model.{self.name}")

    def model(self) -> type[BaseModel]:
        """The root model."""
        model: type[BaseModel] = getattr(self.module(), self.root)
        return model


_HOMES = {
    "venturi.model.data_step": "venturi.model.workload",
    "venturi.model.fault": "venturi.model.plan",
    "venturi.model.interface": "venturi.model.plan",
    "venturi.model.operator": "venturi.model.plan",
    "venturi.model.layout": "venturi.model.plan",
    "venturi.model.origin": "venturi.model.workload",
    "venturi.model.output": "venturi.model.event",
    "venturi.model.row_table": "venturi.model.workload",
    "venturi.model.verb": "venturi.model.plan",
}


def home_of(value: object) -> str:
    """The module of the document to which a type belongs, wherever it is written down."""
    module: str = getattr(value, "__module__", "")
    return _HOMES.get(module, module)


DOCUMENTS = (
    DocumentKind("workload", "Workload"),
    DocumentKind("machine", "Machine"),
    DocumentKind("trace", "Trace"),
    DocumentKind("plan", "Plan", engine=True, value_type="Plan"),
    DocumentKind("event", "EventLine", engine=True, value_type="Event"),
    DocumentKind("record", "Record"),
    DocumentKind("characterization_data", "CharacterizationData"),
    DocumentKind("fidelity_report", "FidelityReport"),
    DocumentKind("characterization", "Characterization"),
    DocumentKind("published", "Io500Result"),
    DocumentKind("review", "Io500Review"),
    DocumentKind("forecast", "Forecast"),
    DocumentKind("forecasts", "Forecasts"),
    DocumentKind("calibration", "KeptForecast"),
    DocumentKind("shared_forecast", "SharedForecast"),
    DocumentKind("prediction", "Prediction"),
    DocumentKind("validation", "Validation"),
    DocumentKind("tuning", "Tuning"),
    DocumentKind("comparison", "RunComparison"),
    DocumentKind("campaign", "Campaign"),
    DocumentKind("result", "Result"),
    DocumentKind("history", "History"),
    DocumentKind("series", "SeriesWindow"),
    DocumentKind("health", "Health"),
    DocumentKind("probe_history", "ProbeHistory"),
)


def available() -> list[DocumentKind]:
    """The documents whose module exists."""
    found = importlib.util.find_spec
    return [kind for kind in DOCUMENTS if found(f"venturi.model.{kind.name}") is not None]
