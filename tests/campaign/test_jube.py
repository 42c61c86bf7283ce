"""Suites of JUBE as campaigns: the same points, runs and table; what is refused, by its line."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest

import warm_start
from venturi.campaign.jube import script
from venturi.campaign.jube.convert import Converted, convert
from venturi.campaign.jube.node import Node
from venturi.campaign.jube.tag import holds
from venturi.campaign.space import points_of
from venturi.model.campaign import Campaign
from venturi.model.error import UserError
from venturi.model.yaml_text import parse_yaml

SUITE = Path(__file__).parent / "jube" / "suite.xml"
TABLE = """\
compiler,bytes,copies,total,write[MB/s],write_max[MB/s],write_cnt,speed[MB/s],errors,sum
"""
MACHINE = """
schema: venturi.machine/2
name: here
launcher: {command: [env, "RANKS={ranks}"]}
"""


def _converted(tmp_path: Path, text: str, tags: str = "", trust: bool = False) -> Converted:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    return convert(path, set(tags.split()), trust, tmp_path)


def _campaign(made: Converted) -> Campaign:
    return parse_yaml(made.text, "made", Campaign)


def _venturi(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_start.venturi("campaign", *words, folder=folder)


def test_a_suite_has_the_same_points_runs_and_table(tmp_path: Path) -> None:
    """Tags, includes, other files' sets, file sets, substitutions, platform, steps, patterns."""
    (tmp_path / "data").mkdir()
    (tmp_path / "here.yaml").write_text(MACHINE)
    done = _venturi(tmp_path, "import", str(SUITE), "--tag", "small", "--trust")
    assert done.returncode == 0, done.stderr
    assert "suite.xml:31: queue: the machine's file says this" in done.stderr
    run = ("run", "copying.yaml", "-d", "data", "--on", "here.yaml", "--json", "-q")
    estimate = json.loads(_venturi(tmp_path, *run, "--dry-run").stdout)
    crossed = itertools.product(
        ["gcc", "clang"], ["-O2,-g"], [(0, 4096), (1, 65536)], [(1, 1007), (3, 3007)], ["a", "b,c"]
    )
    wanted = {(c, f, *size, *copies, word) for c, f, size, copies, word in crossed}
    names = ("compiler", "flags", "index", "size", "copies", "total", "word")
    rows = [row for row in estimate["rows"] if row["step"] == "execute"]
    assert {tuple(row["parameters"][name] for name in names) for row in rows} == wanted
    assert {row["ranks"] for row in rows} == {2}
    assert estimate["runs"] == 2 + 2 * 16
    result = json.loads(_venturi(tmp_path, *run).stdout)
    assert result["states"] == {"done": 34}
    table = TABLE + "".join(
        f"{compiler},{size},{copies},{total},{size}.5,{max(size + 0.5, 1e3):g},2,"
        f"{(size + 0.5) / copies:.2f},0,{total}\n"
        for compiler in ("clang", "gcc")
        for size in (4096, 65536)
        for copies, total in ((1, 1007), (3, 3007))
        for _ in ("a", "b,c")
    )
    assert _venturi(tmp_path, "table", "copying.yaml", "speed", "--csv").stdout == table
    task = tmp_path / "copying.campaign" / "tasks" / "execute-0001" / "r1"
    out = (task / "job.log").read_text()
    assert "before\n" in out
    assert "built by gcc with -O2,-g\nsees gcc\n" in out
    assert "and rest" in out
    assert "in of_execute-0001-r1\n" in out
    assert (task / "below" / "here").read_text() == "run execute-0001-r1\n"
    assert (task / "stdout").read_text() == "fixed text\nrun execute-0001-r1\n"
    second = _venturi(tmp_path, "import", str(SUITE), "--tag", "small", "--trust")
    assert second.returncode == 2
    assert "copying.yaml: File exists" in second.stderr


def test_yaml_and_lists_that_follow_from_others(tmp_path: Path) -> None:
    """Where a list depends on another parameter, the points are those of JUBE, one by one."""
    made = _converted(
        tmp_path,
        """
name: yaml
parameterset:
  - name: a
    parameter:
      - {name: n, type: int, _: "1,2"}
      - {name: m, _: "$n,9"}
      - {name: c, _: 3}
      - {name: p, mode: python, _: $n * $c + 1}
      - {name: q, mode: python, _: $m * $n}
step:
  name: run
  use: a
  do: ["echo $n $m $HOME $$x {}", "echo $p $q ${jube_step_name}"]
""",
    )
    points = points_of(_campaign(made).space)
    assert [(p["n"], p["m"], p["p"], p["q"]) for p in points] == [
        (1, 1, 4, 1),
        (1, 9, 4, 9),
        (2, 2, 7, 4),
        (2, 9, 7, 18),
    ]
    command = _campaign(made).steps["run"].command
    assert "echo {n} {m} $HOME $x {{}}" in command
    assert "echo {p} {q} run" in command


def test_a_list_at_the_top_is_one_of_benchmarks(tmp_path: Path) -> None:
    made = _converted(tmp_path, "- name: only\n  step: {name: run, do: echo}\n")
    assert made.name == "only"
    assert list(_campaign(made).steps) == ["run"]
    with pytest.raises(UserError, match="it must have one benchmark; it has one, two"):
        _converted(tmp_path, "[{name: one}, {name: two}]")


def test_arithmetic_over_several_lists_is_derived(tmp_path: Path) -> None:
    made = _converted(
        tmp_path,
        "{name: d, parameterset: {name: a, parameter: [{name: n, _: '1,2'}, {name: m, _: '3,5'},"
        " {name: t, mode: python, _: '$n*$m'}]}, step: {name: run, use: a, do: 'echo $t'}}",
    )
    campaign = _campaign(made)
    assert campaign.space.derive == {"t": "n*m"}
    assert campaign.steps["run"].per == ["n", "m"]
    assert [point["t"] for point in points_of(campaign.space)] == [3, 5, 6, 10]


def test_what_is_not_supported_is_named_with_its_line(tmp_path: Path) -> None:
    """All of it at once."""
    text = """name: bad
parameterset: {name: a, parameter: {name: n, _: "1,2"}}
patternset:
  - name: p
    pattern:
      - {name: x, mode: perl, _: y}
step:
  - name: first
    iterations: 2
    use: a$n
    do: echo
  - name: second
    depend: first
    cycles: 3
    do: {break_file: stop, _: "echo $jube_wp_id"}
analyser: {name: an, use: p, analyse: {step: second, file: "*.out"}}
"""
    with pytest.raises(UserError) as caught:
        _converted(tmp_path, text)
    said = {
        int(line.partition("suite.yaml:")[2].partition(":")[0]): line
        for line in caught.value.message.splitlines()
    }
    assert set(said) == {6, 10, 12, 15}
    assert "named by a parameter" in said[10]
    assert "'x' would have to be run as perl; see --trust" in said[6]
    assert "break_file" in said[15]


@pytest.mark.parametrize(
    ("parameter", "line", "said"),
    [
        ("{name: n, mode: tag, _: x}", 3, "parameter mode 'tag' is not supported"),
        ("{name: n, mode: perl, _: 2 ** 3}", 3, "have to be run as perl"),
        ("{name: n, update_mode: step, _: x}", 3, "update_mode 'step'"),
        ("{name: n, _: '$m,$n'}", 3, "circle"),
        ("{name: dir, _: x}", 3, "has a meaning of its own"),
        ("{name: n, mode: python, _: '[1][0]'}", 3, "have to be run as python"),
        ("{name: n, mode: shell, _: 'touch /tmp/x'}", 3, "have to be run as shell"),
    ],
)
def test_parameters_that_are_refused(tmp_path: Path, parameter: str, line: int, said: str) -> None:
    text = (
        "name: bad\nparameterset: {name: a, parameter: [\n"
        f"  {parameter}]}}\nstep: {{name: run, use: a, do: echo $n}}\n"
    )
    with pytest.raises(UserError, match=f"suite.yaml:{line}: .*{said}"):
        _converted(tmp_path, text)


def test_nothing_runs_while_a_file_is_read(tmp_path: Path) -> None:
    """Tags of YAML, entities of XML, and files that they would bring in."""
    witness = tmp_path / "witness"
    with pytest.raises(UserError, match=r"suite.yaml:2: the tag '.*' is not read"):
        _converted(tmp_path, f"name: x\nstep: !!python/object/apply:os.system ['touch {witness}']")
    with pytest.raises(UserError, match=r"suite.yaml:1: the tag '!include' is not read"):
        _converted(tmp_path, f'step: !include \'x.yaml:["a"]:open("{witness}", "w")\'')
    path = tmp_path / "suite.xml"
    path.write_text('<!DOCTYPE jube [\n<!ENTITY x SYSTEM "file:///etc/passwd">]><jube>&x;</jube>')
    with pytest.raises(UserError, match=r"suite.xml:2: entities are not read"):
        convert(path, set(), True, tmp_path)
    path.write_text("<jube>\n<benchmark></jube>")
    with pytest.raises(UserError, match=r"suite.xml:2: not valid XML"):
        convert(path, set(), True, tmp_path)
    assert not witness.exists()


def test_a_trusted_snippet_has_its_own_process_and_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    node = Node("parameter", tmp_path / "x.xml", 7)
    scripts = script.Scripts(True)
    assert scripts.value(node, "python", "','.join(str(2**i) for i in range(3))") == "1,2,4"
    assert scripts.value(node, "shell", "echo $((3 * 4)); touch left") == "12"
    assert scripts.value(node, "perl", r"join(',', map {2 ** \$_} 0..2)") == "1,2,4"
    with pytest.raises(UserError, match="ZeroDivisionError"):
        scripts.value(node, "python", "1.5 / 0")
    with pytest.raises(UserError, match=r"x.xml:7: '1 \+': "):
        scripts.value(node, "perl", "1 +")
    monkeypatch.setattr(script, "_PATIENCE_S", 0.3)
    with pytest.raises(UserError, match=r"x.xml:7: .* did not end in 0.3 s"):
        scripts.value(node, "python", "__import__('time').sleep(5)")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("expression", "tags", "value"),
    [
        ("a", "a", True),
        ("!a", "a", False),
        ("a+b", "a", False),
        ("a|b", "b", True),
        ("a^b", "a b", False),
        ("!(a|b)+c", "c", True),
        ("a|b+c", "a", True),
        ("!a+b", "b", True),
    ],
)
def test_expressions_of_tags(expression: str, tags: str, value: bool) -> None:
    assert holds(Node("x", Path("f"), 1), expression, set(tags.split())) is value


@pytest.mark.parametrize("expression", ["a,b", "a b", "(a", "+a", "a+", ")"])
def test_what_is_no_expression_of_tags(expression: str) -> None:
    with pytest.raises(UserError, match=r"f:1: .* is no expression of tags"):
        holds(Node("x", Path("f"), 1), expression, {"a"})
