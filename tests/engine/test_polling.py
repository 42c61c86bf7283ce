"""Completions that are polled for at the device, where it can do that and where it cannot."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from engine.plans import Content, Plan, file, manage, nest, phase, plan, read, write
from engine.running import Engine, Outcome, is_gone, parse

BLOCK = 4096
COUNT = 64


def made(place: Path, depth: int, **options: str) -> Plan:
    """Writes and reads past the cache."""
    pattern = nest(0, (COUNT, BLOCK))
    chosen = {"direct": "true", **options}
    return plan(
        place,
        [file(interface="uring", options=chosen, content=Content(verify=True))],
        [
            phase("w", manage("create"), write(BLOCK, pattern, depth=depth), manage("close")),
            phase("r", manage("open"), read(BLOCK, pattern, depth=depth), manage("close")),
        ],
    )


def polled_queues(place: Path) -> str:
    """What the kernel says of the device under a directory; empty where it says nothing."""
    device = os.stat(place).st_dev
    base = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    for name in (base / "queue/io_poll", base / "../queue/io_poll"):
        if name.exists():
            return name.read_text().strip()
    return ""


@pytest.mark.parametrize("depth", [1, 8])
def test_a_device_without_polled_queues_is_refused_at_once(
    engine: Engine, tmp_path: Path, depth: int
) -> None:
    says = polled_queues(tmp_path)
    outcome = engine.run(made(tmp_path, depth, poll="true"), "alone")
    if says == "1":
        assert outcome.code == 0, outcome.events
        assert outcome.phase("r")["errors"] == 0
        return
    assert says == "0", f"{tmp_path} lies on no block device"
    assert outcome.code == 5
    assert outcome.failed["code"] == "target"
    assert "has no polled queues (/sys/dev/block/" in outcome.failed["message"]
    assert "leave out poll" in outcome.failed["hint"]
    assert not outcome.of("phase_started")


@pytest.mark.parametrize("depth", [1, 8])
def test_a_file_system_in_memory_cannot_be_polled(engine: Engine, depth: int) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        polled = made(Path(name), depth, poll="true")
        outcome = engine.run(polled, "alone")
        assert outcome.code == 5
        assert outcome.failed["code"] == "target"
        assert outcome.failed["message"].endswith("can be polled for: Operation not supported")
        assert "leave out poll" in outcome.failed["hint"]
        assert not outcome.of("phase_started")
        assert is_gone(polled)


@pytest.mark.needs("root")
@pytest.mark.parametrize("depth", [1, 8])
def test_direct_requests_on_a_loop_device(engine: Engine, tmp_path: Path, depth: int) -> None:
    image = tmp_path / "image"
    with image.open("wb") as whole:
        whole.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    direct = made(tmp_path, depth)
    direct = direct.model_copy(update={"directory": str(mounted / "run")})
    (Path(direct.journal) / "plan.json").write_text(direct.to_json())
    mount = f'mount -o loop "{image}" "{mounted}"'
    words = ["unshare", "-m", "sh", "-c"]
    command = [*words, f'{mount} && exec "$@"', "sh", *engine.command(direct, "alone")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    outcome = Outcome(done.returncode, parse(done.stdout), done.stderr)
    assert outcome.code == 0, (done.stdout, done.stderr)
    assert outcome.phase("w")["target_before"]["source"].startswith("/dev/loop")
    assert outcome.phase("r")["operations"] == COUNT + 2
