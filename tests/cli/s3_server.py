"""An S3 server on loopback that checks every signature, and that can be told to fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import boto3
from moto import settings
from moto.core.responses import ActionAuthenticatorMixin
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

ACCOUNT = "123456789012"
ALLOW = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
}
BUCKET = "shelf"
STRANGE = {"venturi/photo": b"not a run's", "report.txt": b"of somebody else"}
"""Objects of somebody else in the bucket."""


@dataclass
class Request:
    """One request that came."""

    method: str
    path: str
    query: str
    conditional: bool = False
    """It is to be done only if the key is free."""


Answer = tuple[int, str, str]
"""A status, and the code and message of an error."""


@dataclass
class Server:
    """The server, its one account with a key, and what came to it."""

    port: int
    key_id: str
    secret: str
    requests: list[Request] = field(default_factory=list)
    under_way: set[object] = field(default_factory=set)
    """Requests that are worked on, one thing each."""
    answers: Callable[[Request], Answer | None] = lambda _request: None
    """What is answered instead of doing what a request asks for."""

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a run reaches it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": "us-east-1",
            "no_proxy": "127.0.0.1",
        }

    @property
    def client(self) -> Any:
        """Another program's access to the same bucket."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.key_id,
            aws_secret_access_key=self.secret,
            region_name="us-east-1",
        )

    def objects(self) -> dict[str, bytes]:
        """Everything in the bucket, as the server has it."""
        bucket = s3_backends[ACCOUNT]["aws"].buckets[BUCKET]
        return {name: key.value for name, key in bucket.keys.items()}

    def uploads(self) -> list[str]:
        """The keys of uploads that were begun and neither completed nor ended."""
        bucket = s3_backends[ACCOUNT]["aws"].buckets[BUCKET]
        return [upload.key_name for upload in bucket.multiparts.values()]

    def damage(self, key: str, offset: int) -> None:
        """Change one byte of an object behind the back of everybody."""
        found = s3_backends[ACCOUNT]["aws"].buckets[BUCKET].keys[key]
        value = bytearray(found.value)
        value[offset] ^= 0xFF
        found.value = bytes(value)

    def application(
        self, inner: Callable[..., Iterable[bytes]]
    ) -> Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]:
        """The server with what it is told to answer in front."""

        def answer(environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            mine = object()
            self.under_way.add(mine)
            try:
                return answered(environment, start)
            finally:
                self.under_way.discard(mine)

        def answered(environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            request = Request(
                environment["REQUEST_METHOD"],
                environment["PATH_INFO"],
                environment["QUERY_STRING"],
                environment.get("HTTP_IF_NONE_MATCH") == "*",
            )
            self.requests.append(request)
            told = self.answers(request)
            if told is None:
                return inner(environment, start)
            environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            status, code, message = told
            start(f"{status} {code}", [("content-type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()]

        return answer


@contextmanager
def serving() -> Iterator[Server]:
    """A fresh server whose bucket holds objects of somebody else."""
    iam, s3 = iam_backends[ACCOUNT]["aws"], s3_backends[ACCOUNT]["aws"]
    iam.reset()
    s3.reset()
    iam.create_user("us-east-1", "runner")
    iam.put_user_policy("runner", "all", json.dumps(ALLOW))
    key = iam.create_access_key("runner")
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0.0
    ActionAuthenticatorMixin.request_count = 0
    server = Server(0, key.access_key_id, key.secret_access_key)
    inner = DomainDispatcherApplication(create_backend_app)
    listener = make_server("127.0.0.1", 0, server.application(inner), threaded=True)
    server.port = listener.server_port
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    try:
        server.client.create_bucket(Bucket=BUCKET)
        for name, body in STRANGE.items():
            server.client.put_object(Bucket=BUCKET, Key=name, Body=body)
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
        settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")
