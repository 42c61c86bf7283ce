"""One figure of an application beside that of its proxy, and how near they are."""

from __future__ import annotations

from venturi.model.fidelity_report import FidelityField, Match

WITHIN = 0.01
"""Relative for counts, absolute for shares and distances: nearer than this is `within`."""


def count_field(name: str, application: float, proxy: float, unit: str = "") -> FidelityField:
    """A figure that must be equal; the difference is relative."""
    difference = _relative(application, proxy)
    near = difference is not None and abs(difference) <= WITHIN
    match = Match.EQUAL if application == proxy else Match.WITHIN if near else Match.OFF
    return FidelityField(
        name=name,
        unit=unit,
        application=application,
        proxy=proxy,
        difference=difference,
        match=match,
    )


def _relative(application: float, proxy: float) -> float | None:
    if application == proxy:
        return 0.0
    return (proxy - application) / application if application else None


def share_field(name: str, application: float, proxy: float) -> FidelityField:
    """A share of something, from 0 to 1; the difference is the plain one."""
    difference = proxy - application
    near = Match.WITHIN if abs(difference) <= WITHIN else Match.OFF
    return FidelityField(
        name=name,
        unit="share",
        application=application,
        proxy=proxy,
        difference=difference,
        match=Match.EQUAL if application == proxy else near,
    )


def distance_field(name: str, value: float) -> FidelityField:
    """How much of two distributions differs; 0 of the application from itself."""
    return share_field(name, 0.0, value)


def information_field(
    name: str, application: float, proxy: float, unit: str = "s"
) -> FidelityField:
    return FidelityField(
        name=name,
        unit=unit,
        application=application,
        proxy=proxy,
        difference=_relative(application, proxy),
        match=Match.BESIDE,
    )
