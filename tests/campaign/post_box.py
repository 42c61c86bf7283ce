"""A mail server and a web server on the loopback interface that keep what they get."""

from __future__ import annotations

import email.message
import email.parser
import email.policy
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from slurm_daemon import free_port


class Post:
    """A mail server and a web server that keep what they get.

    With a certificate the mail server hears no password and takes no mail without STARTTLS.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.mails: list[email.message.EmailMessage] = []
        self.hooks: list[dict[str, Any]] = []
        self.ciphers: list[Any] = []
        """What each login was encrypted by; None: nothing."""
        post = self
        tls = None
        if certificate is not None:
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(certificate)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                post.hooks.append(json.loads(body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                pass

        def known(server: SMTP, session: Session, envelope: Envelope, way: str, data: Any) -> Any:
            self.ciphers.append(session.ssl)
            fine = (data.login, data.password) == (b"bench", b"secret")
            return AuthResult(success=fine, handled=False)

        self.web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        self.smtp = Controller(
            self,
            hostname="127.0.0.1",
            port=free_port(),
            authenticator=known,
            auth_required=True,
            auth_require_tls=tls is not None,
            tls_context=tls,
            require_starttls=tls is not None,
        )

    def start(self) -> int:
        """Begins; the port of the mail server."""
        self.smtp.start()
        return int(self.smtp.port)

    def stop(self) -> None:
        self.smtp.stop()
        self.web.shutdown()
        self.web.server_close()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        parser = email.parser.BytesParser(email.message.EmailMessage, policy=email.policy.default)
        self.mails.append(parser.parsebytes(envelope.content))
        return "250 OK"
