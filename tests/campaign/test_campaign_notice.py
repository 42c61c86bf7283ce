"""Notices: real mail over SMTP and real JSON over HTTP, on the loopback interface."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from post_box import Post

import warm_start

CAMPAIGN = """
campaign: 1
name: nightly
every: 0.4
space: {product: {size: [1, 2, 3]}}
repeat: 1
steps:
  run:
    time: 60 if size != 3 else 5
    command: |
      test {size} != 2 || test ! -e {dir}/broken || {{ echo no space >&2; exit 7; }}
      test {size} != 3 || test ! -e {dir}/broken || sleep 20
"""
MACHINE = """
schema: venturi.machine/2
name: cluster
notices:
  mail: {to: [owner@example.org, other@example.org], sender: venturi@example.org,
         server: "127.0.0.1:%d", user: bench, password_from: MAIL_WORD}
  webhook: $HOOK
  site: https://results.example.org/io/
  on: [failed, timeout, lost, regression, recovered, missed]
"""


class Site:
    """A folder with a nightly campaign, whose machine has somebody to tell."""

    def __init__(self, folder: Path, post: Post, port: int) -> None:
        self.folder = folder
        self.broken = folder / "data" / "broken"
        self.broken.parent.mkdir()
        (folder / "c.yaml").write_text(CAMPAIGN)
        (folder / "m.yaml").write_text(MACHINE % port)
        self.environment = os.environ | {
            "VENTURI_STORE": str(folder / "store"),
            "MAIL_WORD": "secret",
            "HOOK": f"http://127.0.0.1:{post.web.server_port}/hook",
        }

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return warm_start.venturi(
            "campaign", *words, "--on", "m.yaml", folder=self.folder, environment=self.environment
        )

    def night(self) -> int:
        done = self.command("run", "c.yaml", "-d", "data", "-q")
        assert "not sent" not in done.stderr
        return done.returncode


@pytest.fixture
def post() -> Iterator[Post]:
    made = Post()
    try:
        yield made
    finally:
        made.stop()


def test_troubles_are_told_once_and_recoveries_too(tmp_path: Path, post: Post) -> None:
    site = Site(tmp_path, post, post.start())
    assert site.night() == 0
    assert not post.mails
    site.broken.touch()
    assert site.night() == 3
    (mail,) = post.mails
    assert mail["Subject"] == "[venturi] nightly on cluster: 1 failed, 1 timeout"
    assert mail["To"] == "owner@example.org, other@example.org"
    text = mail.get_content().replace("\r\n", "\n")
    assert "failed: run-0002 (size=2)\n    exit code 7: no space\n" in text
    assert "timeout: run-0003 (size=3)\n    took longer than its 5 s\n" in text
    assert "nightly-2.campaign" in text
    page = "https://results.example.org/io/workload/nightly.html"
    assert f"Page: {page}\n" in text
    (hook,) = post.hooks
    assert hook["schema"] == "venturi.notice/1"
    assert hook["text"] == "nightly on cluster: 1 failed, 1 timeout"
    assert [happening["event"] for happening in hook["happenings"]] == ["failed", "timeout"]
    assert hook["pages"] == [page]
    assert site.night() == 3
    assert len(post.mails) == 1
    site.broken.unlink()
    assert site.night() == 0
    assert post.mails[1]["Subject"] == "[venturi] nightly on cluster: 2 recovered"
    assert site.night() == 0
    assert len(post.mails) == len(post.hooks) == 2


def test_a_result_that_does_not_come(tmp_path: Path, post: Post) -> None:
    """It is told, again only after another period, and that one came again, too."""
    site = Site(tmp_path, post, post.start())
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("every: 0.4", "every: 1000 h"))
    assert site.command("due", "c.yaml").returncode == 0
    (tmp_path / "c.yaml").write_text(CAMPAIGN)
    time.sleep(0.9)
    done = site.command("due", "c.yaml")
    assert (done.returncode, done.stdout) == (3, "nightly on cluster: no result\n")
    assert post.mails[0]["Subject"] == "[venturi] nightly on cluster: 1 missed"
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("every: 0.4", "every: 1000 h"))
    assert site.night() == 0
    assert post.mails[1]["Subject"] == "[venturi] nightly on cluster: 1 recovered"
    assert site.command("due", "c.yaml").returncode == 0
    assert len(post.mails) == 2
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("every: 0.4\n", ""))
    assert "it is not said how often" in site.command("due", "c.yaml").stderr


def test_what_could_not_be_sent_is_told_the_next_time(tmp_path: Path, post: Post) -> None:
    """Nothing fails for it, and the way that works is used."""
    site = Site(tmp_path, post, 9)
    site.broken.touch()
    done = site.command("run", "c.yaml", "-d", "data", "-q")
    assert done.returncode == 3
    assert "a notice was not sent: mail by 127.0.0.1:9" in done.stderr
    assert len(post.hooks) == 1
    (tmp_path / "m.yaml").write_text(MACHINE % post.start())
    assert site.night() == 3
    assert "1 failed, 1 timeout" in post.mails[0]["Subject"]


def test_a_gate_tells_of_a_regression(tmp_path: Path, post: Post) -> None:
    site = Site(tmp_path, post, post.start())
    page = ("--page", "https://ci.example.org/job/7")
    done = site.command("tell", "regression", "nightly", "write is 12 % slower", *page)
    assert done.returncode == 0, done.stderr
    text = post.mails[0].get_content()
    assert "regression: write is 12 % slower" in text
    assert "Page: https://ci.example.org/job/7" in text
    machine = (tmp_path / "m.yaml").read_text().replace("regression, ", "")
    (tmp_path / "m.yaml").write_text(machine)
    assert "told by mail to " in done.stderr
    done = site.command("tell", "regression", "nightly", "again")
    assert done.returncode == 0
    assert "nobody is told" in done.stderr
    assert "does not want to hear of 'regression'" in done.stderr
    assert len(post.mails) == 1
    assert "no such event" in site.command("tell", "regresion", "nightly", "x").stderr


def certificate_for(folder: Path, name: str) -> Path:
    """A key and a certificate that vouches for itself, for an address, in one file."""
    path = folder / "server.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            "/CN=mail",
            "-addext",
            f"subjectAltName={name}",
            "-days",
            "2",
            "-keyout",
            path,
            "-out",
            folder / "only.pem",
        ],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + (folder / "only.pem").read_text())
    return path


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[Post]:
    made = Post(certificate_for(tmp_path, "IP:127.0.0.1"))
    try:
        yield made
    finally:
        made.stop()


def test_mail_over_tls(tmp_path: Path, encrypted: Post) -> None:
    """The password goes over the encrypted line only, to a server that the system trusts."""
    site = Site(tmp_path, encrypted, encrypted.start())
    trusted = {"SSL_CERT_FILE": str(tmp_path / "only.pem")}
    done = site.command("tell", "regression", "nightly", "first")
    assert "it takes a password after STARTTLS only: tls: true" in done.stderr
    (tmp_path / "m.yaml").write_text(
        (tmp_path / "m.yaml").read_text().replace("user:", "tls: true, user:")
    )
    done = site.command("tell", "regression", "nightly", "second")
    assert "certificate verify failed" in done.stderr
    assert not encrypted.mails
    assert not encrypted.ciphers
    site.environment |= trusted
    assert site.command("tell", "regression", "nightly", "third").returncode == 0
    (mail,) = encrypted.mails
    assert "regression: third" in mail.get_content()
    assert [found is not None for found in encrypted.ciphers] == [True]


def test_a_server_without_tls_gets_no_password(tmp_path: Path, post: Post) -> None:
    site = Site(tmp_path, post, post.start())
    (tmp_path / "m.yaml").write_text(
        (tmp_path / "m.yaml").read_text().replace("user:", "tls: true, user:")
    )
    done = site.command("tell", "regression", "nightly", "slow")
    assert done.returncode == 2
    assert "STARTTLS" in done.stderr
    assert not post.ciphers
    assert not post.mails


def test_a_password_that_is_not_there(tmp_path: Path, post: Post) -> None:
    site = Site(tmp_path, post, post.start())
    del site.environment["MAIL_WORD"]
    done = site.command("tell", "regression", "nightly", "slow")
    assert done.returncode == 2
    assert "the environment has no MAIL_WORD" in done.stderr
    assert len(post.hooks) == 1
