"""Sending notices: by e-mail, and as JSON to a webhook."""

from __future__ import annotations

import os
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from email.message import EmailMessage

from venturi.campaign.notice import notice_of
from venturi.execute.host import user_name
from venturi.model.error import UserError
from venturi.model.machine import Mail, Notices
from venturi.model.notice import Notice
from venturi.report.site import address

_PATIENCE_S = 20.0
_SMTP_PORT = 25


def send(notice: Notice, ways: Notices, page: str = "") -> list[str]:
    """Sends what of a notice the site wants to hear, on all its ways; which ways those were.

    `page` is one more address that shows it. Raises UserError where one of the ways did not take
    it, after all were tried.
    """
    wanted = [happening for happening in notice.happenings if happening.event in ways.on]
    if not wanted:
        return []
    pages = [one for one in (_site_page(notice.campaign, ways.site), page) if one]
    chosen = notice_of(notice.campaign, notice.machine, wanted, notice.folder).model_copy(
        update={"pages": pages}
    )
    failed: list[str] = []
    told: list[str] = []
    if ways.mail is not None:
        try:
            _mail(chosen, ways.mail)
            told.append(f"mail to {', '.join(ways.mail.to)}")
        except (OSError, smtplib.SMTPException, ValueError) as error:
            failed.append(f"mail by {ways.mail.server}: {error}")
    if ways.webhook:
        try:
            _post(chosen, ways.webhook)
            told.append("webhook")
        except (OSError, ValueError) as error:
            failed.append(f"webhook: {error}")
    if failed:
        raise UserError(
            f"a notice was not sent: {'; '.join(failed)}", "see notices in the machine's file"
        )
    return told


def _mail(notice: Notice, mail: Mail) -> None:
    host, _, port = mail.server.partition(":")
    message = EmailMessage()
    message["Subject"] = f"[venturi] {notice.text}"
    message["From"] = mail.sender or f"{user_name() or 'venturi'}@{socket.getfqdn()}"
    message["To"] = ", ".join(mail.to)
    lines = [
        f"{happening.event.value}: {happening.what}"
        + (f"\n    {happening.why}" if happening.why else "")
        for happening in notice.happenings
    ]
    if notice.pages:
        lines += ["", *(f"Page: {page}" for page in notice.pages)]
    if notice.folder:
        lines += ["", f"All of it: {notice.folder}", f"venturi campaign status {notice.folder}"]
    message.set_content("\n".join(lines) + "\n")
    with smtplib.SMTP(host, int(port or _SMTP_PORT), timeout=_PATIENCE_S) as server:
        if mail.tls:
            server.starttls(context=ssl.create_default_context())
        if mail.user:
            word = _secret(mail.password_from)
            server.ehlo_or_helo_if_needed()
            if not mail.tls and not server.has_extn("auth") and server.has_extn("starttls"):
                raise ValueError("it takes a password after STARTTLS only: tls: true")
            server.login(mail.user, word)
        server.send_message(message)


def _post(notice: Notice, address: str) -> None:
    url = _secret(address[1:]) if address.startswith("$") else address
    if not url.startswith(("https://", "http://")):
        raise ValueError("its address is no http or https")
    request = urllib.request.Request(
        url,
        data=notice.to_json().encode(),
        headers={"Content-Type": "application/json", "User-Agent": "venturi"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=_PATIENCE_S):
        pass


def _site_page(campaign: str, site: str) -> str:
    """The address of a campaign's page; empty where no site is known."""
    base = os.environ.get(site[1:], "") if site.startswith("$") else site
    return f"{base.rstrip('/')}/{address.workload(campaign)}" if base else ""


def _secret(name: str) -> str:
    """A word that stands in the environment, not in a file."""
    if name not in os.environ:
        raise ValueError(f"the environment has no {name}")
    return os.environ[name]
