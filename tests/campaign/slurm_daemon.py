"""A real Slurm of one node on the loopback interface, for tests."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

_CONFIGURATION = """\
ClusterName=onebox
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={home}/munge/munge.sock
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={node_port}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/run/slurmctld.pid
SlurmdPidFile={home}/run/slurmd.pid
SlurmctldLogFile={home}/log/slurmctld.log
SlurmdLogFile={home}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
KillWait=5
MinJobAge=300
InactiveLimit=0
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 \
ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=02:00:00 State=UP
"""


class SlurmDaemon:
    """munged, slurmctld and slurmd with all their files in one folder."""

    def __init__(self, home: Path, settings: str = "") -> None:
        """`settings` are further lines of its configuration."""
        self.home = home
        self.settings = settings
        self.configuration = home / "slurm.conf"
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        self._munged: subprocess.Popen[bytes] | None = None
        self._node: subprocess.Popen[bytes] | None = None
        self._controller: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts all three and waits till the node is idle."""
        self.home.chmod(0o755)  # munged refuses a socket that not everybody can reach
        for part in ("munge", "state", "spool", "run", "log"):
            (self.home / part).mkdir(mode=0o755)
        key = self.home / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        text = _CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            user="root",
            home=self.home,
            port=free_port(),
            node_port=free_port(),
        )
        self.configuration.write_text(text + self.settings, "utf-8")
        at = self.home / "munge"
        self._munged = self._daemon(
            "munged",
            "--foreground",
            "--num-threads=2",
            f"--key-file={key}",
            f"--socket={at}/munge.sock",
            f"--pid-file={at}/pid",
            f"--log-file={at}/log",
            f"--seed-file={at}/seed",
        )
        _wait("munged's socket", (at / "munge.sock").exists)
        self.start_controller()
        self._node = self._daemon("slurmd", "-D", "-f", str(self.configuration))
        _wait("an idle node", lambda: "idle" in self.asked("sinfo", "-h", "-o", "%t"))

    def start_controller(self) -> None:
        """Starts slurmctld, again where it was stopped: it reads the state that it kept."""
        self._controller = self._daemon("slurmctld", "-D", "-f", str(self.configuration))
        _wait("slurmctld", lambda: "UP" in self.asked("scontrol", "ping"))

    def stop_controller(self) -> None:
        """Ends slurmctld as an administrator would."""
        assert self._controller is not None
        self._controller.terminate()
        self._controller.wait(600)

    def stop(self) -> None:
        """Ends everything that this Slurm started."""
        self.asked("scancel", "--user=root")
        for daemon in (self._node, self._controller, self._munged):
            if daemon is not None:
                daemon.send_signal(signal.SIGTERM)
                try:
                    daemon.wait(600)
                except subprocess.TimeoutExpired:
                    daemon.kill()

    def asked(self, *words: str) -> str:
        """What one of Slurm's commands prints."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        return done.stdout

    def _daemon(self, *words: str) -> subprocess.Popen[bytes]:
        # Debian keeps daemons where a plain user's PATH does not look.
        program = shutil.which(words[0], path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        assert program is not None, f"{words[0]} is not installed"
        with (self.home / "log" / f"{words[0]}.out").open("ab") as out:
            return subprocess.Popen(
                [program, *words[1:]], env=self.environment, stdout=out, stderr=out
            )


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now.

    It is none of those that the kernel gives to whoever asks for any.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _wait(what: str, holds: object) -> None:
    assert callable(holds)
    until_s = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < until_s, f"no {what} in ten minutes"
        time.sleep(0.1)
