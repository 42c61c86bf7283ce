"""What of a campaign is worth telling: new troubles, recoveries, results that did not come.

Troubles are those of points, and changes of the history for the worse.

What is known stands in a file for each campaign and machine in the store, so the same trouble
is told once. It is written after the notice was sent: what could not be sent is told next time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from venturi.campaign.folder import is_blocked_by_step
from venturi.campaign.history_notice import HistoryNews, history_news, point_of
from venturi.campaign.space import number_at
from venturi.model.campaign import Campaign, CampaignResult, CampaignRow, TaskState
from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.notice import Event, Happening, Notice, NotificationState, ReportedChange
from venturi.store.archive import known_changes, results_of_campaign
from venturi.store.whole_file import write_whole

Send = Callable[[Notice], object]

_EVENTS = {
    TaskState.FAILED: Event.FAILED,
    TaskState.OUT_OF_MEMORY: Event.FAILED,
    TaskState.NODE_FAILURE: Event.FAILED,
    TaskState.TIMEOUT: Event.TIMEOUT,
    TaskState.LOST: Event.LOST,
}
"""What somebody cancelled is not told, nor what was blocked by a step before."""
_PATIENCE = 2.0
"""A result is missed when none came for so many of its periods."""


def tell_result(
    result: CampaignResult, folder: Path, store: Path, send: Send, follow_history: bool = True
) -> None:
    """Sends what is new in a campaign that has come to its end, if anything is.

    Its runs are in the store, with those of the sessions before; not `follow_history`: nobody is
    told of these, so they are not read.
    """
    path = _path(store, result.name, result.machine)
    told = _read(path)
    troubles = {_key(row): event for row in result.rows if (event := _event(row)) is not None}
    happenings = [
        Happening(event=troubles[_key(row)], what=_what(row), why="; ".join(_why(row)))
        for row in result.rows
        if _key(row) in troubles and told.troubles.get(_key(row)) != troubles[_key(row)]
    ]
    happenings += [
        Happening(event=Event.RECOVERED, what=_what(row))
        for row in result.rows
        if _key(row) in told.troubles
        and set(row.states) == {TaskState.DONE.value}
        and not row.failed_gates
    ]
    if told.missed_utc:
        happenings.append(Happening(event=Event.RECOVERED, what="a result came again"))
    changes = told.changes
    if follow_history:
        news = _history_news(result, store, changes)
        happenings, changes = [*happenings, *news.happenings], news.changes
    if happenings:
        send(notice_of(result.name, result.machine, happenings, str(folder)))
    gone = {_key(row) for row in result.rows}
    kept = {key: event for key, event in told.troubles.items() if key not in gone}
    _write(
        path,
        NotificationState(
            since_utc=told.since_utc,
            result_utc=_now(),
            troubles=kept | troubles,
            changes=changes,
        ),
    )


def _history_news(
    result: CampaignResult, store: Path, reported: Sequence[ReportedChange]
) -> HistoryNews:
    results = results_of_campaign(store, result.name, result.machine)
    failing = [row for row in result.rows if row.failed_gates]
    told = {point_of(result.name, row.step, row.parameters) for row in failing}
    return history_news(results, reported, known_changes(store), told)


def tell_if_missed(campaign: Campaign, machine: str, store: Path, send: Send) -> bool:
    """Whether the result of a campaign that has a period is missed; it is told once for each.

    Raises UserError for a campaign without a period.
    """
    if not campaign.every:
        raise UserError(f"{campaign.name}: it is not said how often", "every: 24 h")
    period_s = float(number_at("every", campaign.every, {}))
    path = _path(store, campaign.name, machine)
    told = _read(path)
    last = told.result_utc or told.since_utc
    waited_s = _seconds_since(last)
    is_missed = waited_s > _PATIENCE * period_s
    missed_utc = told.missed_utc
    if is_missed and (not missed_utc or _seconds_since(missed_utc) > period_s):
        since = f"the last came {last}" if told.result_utc else f"awaited since {last}"
        why = f"every {period_s / 3600:g} h one is due; {since}"
        happening = Happening(
            event=Event.MISSED, what=f"no result for {waited_s / 3600:.3g} h", why=why
        )
        send(notice_of(campaign.name, machine, [happening]))
        missed_utc = _now()
    _write(path, told.model_copy(update={"missed_utc": missed_utc}))
    return is_missed


def notice_of(campaign: str, machine: str, happenings: list[Happening], folder: str = "") -> Notice:
    """One notice for all that happened."""
    counts = {event: sum(h.event is event for h in happenings) for event in Event}
    said = ", ".join(f"{count} {event.value}" for event, count in counts.items() if count)
    return Notice(
        campaign=campaign,
        machine=machine,
        text=f"{campaign} on {machine}: {said}",
        happenings=happenings,
        folder=folder,
        at_utc=_now(),
    )


def _event(row: CampaignRow) -> Event | None:
    states = [TaskState(state) for state in row.states]
    failed = next((_EVENTS[state] for state in states if state in _EVENTS), None)
    if failed or row.failed_gates:
        return failed or Event.REGRESSION
    waited = TaskState.BLOCKED in states and not all(map(is_blocked_by_step, row.reasons))
    return Event.MISSED if waited else None


def _why(row: CampaignRow) -> list[str]:
    return [*row.reasons, *row.failed_gates]


def _key(row: CampaignRow) -> str:
    return " ".join([row.step, *(f"{name}={value}" for name, value in row.parameters.items())])


def _what(row: CampaignRow) -> str:
    said = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
    return f"{row.point} ({said})" if said else row.point


def _path(store: Path, campaign: str, machine: str) -> Path:
    return store / "told" / f"{campaign}@{machine.replace('/', '_')}.json"


def _read(path: Path) -> NotificationState:
    """What was told; nothing where there is no file."""
    try:
        return parse_json(NotificationState, path.read_bytes())
    except FileNotFoundError:
        return NotificationState(since_utc=_now())
    except DocumentError as error:
        raise UserError(f"{path}: damaged: {error.message}", "remove it") from None


def _write(path: Path, told: NotificationState) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, told.to_json(indent=1) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _seconds_since(at_utc: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at_utc)).total_seconds()
