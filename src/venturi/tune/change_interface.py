"""Another interface: the same requests through io_uring, the C library's streams or pwrite."""

from __future__ import annotations

from venturi.model.plan import Interface
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec, PatternKind
from venturi.tune.change import Change, Variant, one_of
from venturi.tune.rewrite import with_files
from venturi.tune.scene import DoesNotApply, Scene, uses_of

_PLAIN = {
    Interface.POSIX: "pwrite() and pread()",
    Interface.URING: "io_uring (io_uring_prep_write(), io_uring_submit())",
    Interface.STDIO: "fwrite() and fread()",
    Interface.MMAP: "mmap() and stores into memory",
}


def _values(scene: Scene) -> list[str]:
    return [word.value for word in _PLAIN if word in scene.interfaces]


def _make(scene: Scene, value: str) -> Variant:
    wanted = Interface(one_of(value, "interface", [word.value for word in _PLAIN]))
    used = {use.name for use in uses_of(scene.workload)}
    if wanted is Interface.MMAP:
        uses = list(uses_of(scene.workload))
        used -= {use.name for use in uses if use.step.pattern is PatternKind.APPEND}
    touched: list[str] = []

    def reach(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in used or spec.interface is wanted or spec.interface not in _PLAIN:
            return None
        touched.append(name)
        return spec.model_copy(update={"interface": wanted, "options": {}})

    workload = with_files(scene.workload, reach)
    if not touched:
        raise DoesNotApply(f"no plain file is reached otherwise than by {value} or a library")
    now = scene.workload.files[touched[0]].interface
    return Variant(
        workload,
        f"through {value}",
        f"Use {_PLAIN[wanted]} for {scene.listed(touched)} instead of {_PLAIN[now]}.",
        Meaning(assumes="data wait in the stream's buffer until it is full, synced or closed")
        if wanted is Interface.STDIO
        else Meaning(),
    )


CHANGE = Change("interface", "posix, uring, stdio or mmap", _values, _make)
