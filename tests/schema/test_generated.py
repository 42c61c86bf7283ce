"""The generated files are those that the models demand, and what has no C++ is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from codec_program import PROJECT
from pydantic import BaseModel, Field, field_validator

from generate import finding
from generate.__main__ import generated
from generate.cpp_type import cpp_type, parts_of
from generate.documents import DOCUMENTS
from generate.shape import CannotExpress, Choice, members_of, shape_of, tag_word
from venturi.cli.main import COMMANDS, venturi
from venturi.derive.finding_counter import CAPTURE_RULE, CASE_RULES, STDIO_RULE
from venturi.derive.finding_data import DATA_RULES
from venturi.derive.finding_name import LOOKUP_RULES, NAME_RULES
from venturi.derive.finding_place import PLACE_RULES
from venturi.derive.finding_time import TIME_RULES, TIMELINE_RULES
from venturi.model import plan
from venturi.model.document import Count, Document


def test_no_generated_file_is_stale() -> None:
    done = check(PROJECT)
    assert (done.returncode, done.stderr) == (0, ""), "run `make gen`"


def test_every_document_has_its_files() -> None:
    paths = {str(path) for path, _ in generated()}
    for kind in DOCUMENTS:
        assert f"schema/{kind.name}.schema.json" in paths
        assert f"docs/reference/{kind.name}.md" in paths
        assert (f"engine/schema/{kind.name}.hpp" in paths) == kind.engine


def test_every_command_and_every_option_has_its_place() -> None:
    pages = {path.stem: text for path, text in generated() if path.parent == Path("docs/command")}
    assert set(pages) == {*COMMANDS, "index"}
    for path, command in commands(venturi, "venturi"):
        page = pages[path.split()[1]]
        assert f"\n{path} " in page
        for parameter in command.params:
            # The page is what `--help-all` shows, which does not show itself.
            if isinstance(parameter, click.Option) and parameter.opts[-1] != "--help-all":
                assert f"{parameter.opts[-1]}" in page, (path, parameter.name)


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, but old names of others, with its whole name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def test_every_finding_has_a_sentence_an_advice_and_a_place() -> None:
    rules = (*DATA_RULES, *PLACE_RULES, *NAME_RULES, *TIME_RULES, *LOOKUP_RULES, *TIMELINE_RULES)
    page = finding.text()
    for rule in (*rules, *CASE_RULES, STDIO_RULE, CAPTURE_RULE):
        assert f"\n## {rule.id}\n" in page
        assert rule.advice in page
        told = finding.sentences(rule.look)
        assert told, rule.id
        assert all(len(re.findall(r"[a-z]+", sentence)) >= 2 for sentence in told), told
        assert all(f"*{sentence}*" in page for sentence in told)


def test_check_names_what_is_stale(tmp_path: Path) -> None:
    assert generate("--project", str(tmp_path)).returncode == 0
    assert check(tmp_path).returncode == 0
    changed = tmp_path / "engine/schema/plan.hpp"
    changed.write_text(changed.read_text().replace("kUring", "kRing"))
    shutil.rmtree(tmp_path / "docs/reference")
    done = check(tmp_path)
    assert done.returncode == 1
    assert "engine/schema/plan.hpp is stale" in done.stderr
    assert "docs/reference/event.md is stale" in done.stderr
    assert "plan.cpp" not in done.stderr
    assert "kRing" in changed.read_text(), "a check must write nothing"


def check(project: Path) -> subprocess.CompletedProcess[str]:
    """Runs the generator's check on a project folder."""
    return generate("--check", "--project", str(project))


def generate(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the generator, in a process of its own: models know their descriptions only there."""
    command = [sys.executable, str(PROJECT / "schema/generate"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_only_the_codec_knows_json() -> None:
    knowing = [
        path.name
        for path in (PROJECT / "engine").rglob("*.?pp")
        if re.search(r"#include\s*[<\"]nlohmann/", path.read_text())
    ]
    assert knowing == ["codec.hpp"]
    including = {
        path.name
        for path in (PROJECT / "engine").rglob("*.hpp")
        if "schema/codec.hpp" in path.read_text()
    }
    assert including == set()


class Circle(Document):
    kind: Literal["circle"] = "circle"


class Square(Document):
    kind: Literal["square"] = "square"


class Shared(Document):
    number: Count = 3


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "mapping": (dict[str, Count], ..., "dict"),
    "anything": (Any, ..., "unknown"),
    "tuple": (tuple[Count, Count], ..., "unknown"),
    "bytes": (bytes, ..., "unknown"),
    "integer without bounds": (int, ..., "bounds"),
    "integer with one bound": (Annotated[int, Field(ge=0)], ..., "bounds"),
    "integer above 64 bits": (Annotated[int, Field(ge=0, le=2**63)], ..., "64 bits"),
    "real that may be infinite": (float, ..., "allow_inf_nan"),
    "open bound": (Annotated[float, Field(gt=0, allow_inf_nan=False)], ..., "constraint"),
    "multiple": (Annotated[int, Field(ge=0, le=9, multiple_of=3)], ..., "constraint"),
    "pattern": (Annotated[str, Field(pattern="a+")], ..., "constraint"),
    "longest text": (Annotated[str, Field(max_length=9)], ..., "constraint"),
    "text of two characters": (Annotated[str, Field(min_length=2)], ..., "bytes"),
    "longest list": (Annotated[list[str], Field(max_length=9)], ..., "constraint"),
    "union": (Count | str, ..., "discriminator"),
    "union of models": (Circle | Square, ..., "discriminator"),
    "two literals": (Literal["a", "b"], ..., "unknown"),
    "literal number": (Literal[1], ..., "unknown"),
    "unbounded in a list": (list[int], ..., "bounds"),
    "default list with items": (list[str], ["a"], "empty list"),
    "default beside null": (Count | None, 3, "null"),
    "default of a part": (Shared, Shared(number=4), "own defaults"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cpp_cannot_express_is_refused_by_name(what: str) -> None:
    hint, default, reason = REFUSED[what]
    members = {"__annotations__": {"field": hint}, "__module__": __name__}
    if default is not ...:
        members["field"] = default
    model = type("Strange", (BaseModel,), members)
    with pytest.raises(CannotExpress, match=rf"^Strange\.field: .*{reason}"):
        members_of(model)


def test_bounds_beside_a_default_are_seen() -> None:
    class Strange(Document):
        field: Count = Field(3, multiple_of=3)

    with pytest.raises(CannotExpress, match=r"^Strange\.field: .*constraint"):
        members_of(Strange)


def test_a_validator_in_python_is_refused() -> None:
    class Strange(Document):
        field: Count

        @field_validator("field")
        @classmethod
        def _even(cls, value: int) -> int:
            return value

    with pytest.raises(CannotExpress, match=r"^Strange: validators"):
        members_of(Strange)


def test_a_default_factory_is_refused() -> None:
    class Strange(Document):
        field: list[str] = Field(default_factory=list)

    with pytest.raises(CannotExpress, match=r"^Strange\.field: .*factory"):
        members_of(Strange)


def test_a_union_without_a_name_is_refused() -> None:
    choice = shape_of(Annotated[Circle | Square, Field(discriminator="kind")])
    assert choice == Choice("kind", (Circle, Square))
    with pytest.raises(CannotExpress, match="name"):
        cpp_type(choice)


def test_a_union_told_apart_by_a_free_text_is_refused() -> None:
    class Free(Document):
        kind: str

    with pytest.raises(CannotExpress, match=r"Free\.kind"):
        tag_word(Free, "kind")


def test_parts_are_found_in_the_order_of_the_module_behind_all_enums() -> None:
    names = [part.name for part in parts_of(plan)]
    assert names.index("Operator") < names.index("Instruction") < names.index("Expression")
    assert names.index("FaultKind") < names.index("Sharing") < names.index("Fault")
    assert names.index("Slot") < names.index("Fault") < names.index("PathPart")
    assert names.index("Pattern") < names.index("Transfer") < names.index("Step")
    assert "Count" not in names
