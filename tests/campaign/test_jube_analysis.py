"""Patterns and tables of JUBE's files: several files, brackets and steps; texts; scripts."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import pytest

import warm_start
from venturi.campaign.jube.convert import convert
from venturi.campaign.jube.step import _pattern
from venturi.campaign.metric import metrics_in
from venturi.campaign.space import points_of
from venturi.model.campaign import Campaign, CampaignMetric
from venturi.model.error import UserError
from venturi.model.yaml_text import parse_yaml

MACHINE = """
schema: venturi.machine/2
name: here
launcher: {command: [env, "RANKS={ranks}"]}
"""
HEAD = "name: own\nparameterset: {name: s, parameter: [{name: n, _: '1,2'}, {name: w, _: 'a b'}]}\n"


def _campaign(tmp_path: Path, text: str, trust: bool = False) -> Campaign:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    return parse_yaml(convert(path, set(), trust, tmp_path).text, "made", Campaign)


def _table(tmp_path: Path, text: str) -> list[str]:
    """The lines of the only table after all has run, with `--trust`."""
    (tmp_path / "suite.yaml").write_text(text)
    (tmp_path / "here.yaml").write_text(MACHINE)
    (tmp_path / "data").mkdir()

    def venturi(*words: str) -> str:
        done = warm_start.venturi("campaign", *words, folder=tmp_path, limit_s=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    venturi("import", "suite.yaml", "--trust", "-o", "own.yaml")
    venturi("run", "own.yaml", "-d", "data", "--on", "here.yaml", "-q")
    return venturi("table", "own.yaml", "t", "--csv").splitlines()


def test_patterns_of_several_files_and_brackets_and_texts(tmp_path: Path) -> None:
    """The first match in the order of the files; all brackets, without the empty ones."""
    lines = _table(
        tmp_path,
        HEAD
        + r"""
step:
  name: go-on
  use: s
  do: |
    echo "x 3.5"; echo "pair $n 7"; echo "unit MB per s"
    echo "x $n.25" > one-$n.log; echo "only here" > two.log
patternset:
  name: p
  pattern:
    - {name: x, type: float, _: x $jube_pat_fp}
    - {name: both, type: int, _: '^pair (\d+)(z)? (\d+)'}
    - {name: unit, _: 'unit (.*)$'}
    - {name: whole, _: only \w+}
    - {name: none, type: int, _: nothing $jube_pat_int}
    - {name: also, mode: text, _: $n}
analyser: {name: a, use: p, analyse: {step: go-on, file: ['*.log', stdout]}}
result:
  use: a
  table:
    name: t
    sort: n
    column:
      [n, x, x_last, x_cnt, both, both_sum, unit, whole, none, also, w, what,
       {title: more, _: unit_first}]
""",
    )
    assert lines == [
        "n,x,x_last,x_cnt,both,both_sum,unit,whole,none,also,w,what,more",
        "1,1.25,3.5,2,1,8,MB per s,only here,,1,a b,,MB per s",
        "2,2.25,3.5,2,2,9,MB per s,only here,,2,a b,,MB per s",
    ]


def test_scripts_compute_from_what_was_found(tmp_path: Path) -> None:
    """Each in a process of its own; what fails has its default, or no value."""
    lines = _table(
        tmp_path,
        HEAD
        + r"""
step: {name: run, use: s, do: 'echo "job ${n}0"; echo "bad"'}
patternset:
  name: p
  pattern:
    - {name: word, mode: python, _: '"$w".replace(" ", ";") + "$bad"'}
    - {name: twice, mode: shell, type: int, _: 'echo $$(( $job * 2 ))'}
    - {name: power, mode: perl, type: float, _: $job ** $n / 8}
    - {name: is_bad, mode: python, default: 'False', _: "'$bad' == 'bad'"}
    - {name: not_there, mode: python, type: int, default: '7', _: '$missing + len("$w")'}
    - {name: nothing, mode: python, type: int, _: '$missing + len("$w")'}
    - {name: sum, mode: python, type: float, unit: s, _: $twice + $job}
    - {name: job, type: int, _: job $jube_pat_int}
    - {name: bad, _: bad}
    - {name: missing, type: int, _: missing $jube_pat_int}
analyser: {name: a, use: p, analyse: {step: run, file: stdout}}
result:
  use: a
  table:
    name: t
    sort: n
    column: [n, word, twice, power, is_bad, not_there, nothing, sum, {title: s, _: job_max}]
""",
    )
    assert lines == [
        "n,word,twice,power,is_bad,not_there,nothing,sum[s],s",
        "1,a;bbad,20,1.25,True,7,,30,10",
        "2,a;bbad,40,50,True,7,,60,20",
    ]


def test_scripts_are_refused_without_trust(tmp_path: Path) -> None:
    text = """name: x
patternset:
  name: p
  pattern:
    - {name: a, mode: shell, _: date}
    - {name: b, mode: python, _: len("x")}
step: {name: run, do: echo}
analyser: {name: a, use: p, analyse: {step: run, file: stdout}}
"""
    with pytest.raises(UserError) as caught:
        _campaign(tmp_path, text)
    said = caught.value.message.splitlines()
    assert [re.sub(r".*suite", "suite", line) for line in said] == [
        "suite.yaml:5: the pattern 'a' would have to be run as shell; see --trust",
        "suite.yaml:6: the pattern 'b' would have to be run as python; see --trust",
    ]


def test_a_table_has_what_steps_before_found(tmp_path: Path) -> None:
    lines = _table(
        tmp_path,
        HEAD
        + r"""
step:
  - {name: make, use: s, do: 'echo "made $n.5"'}
  - {name: check, depend: make, do: 'echo "ok for $n"'}
patternset:
  - {name: p, pattern: {name: made, type: float, unit: s, _: made $jube_pat_fp}}
  - {name: q, pattern: {name: ok, _: 'ok (for \d)'}}
analyser:
  name: a
  analyse:
    - {step: make, file: {use: p, _: stdout}}
    - {step: check, file: {use: q, _: stdout}}
result: {use: a, table: {name: t, sort: n, column: [n, n_make, made, made_max, ok]}}
""",
    )
    assert lines == [
        "n,n_make,made[s],made_max[s],ok",
        "1,1,1.5,1.5,for 1",
        "2,2,2.5,2.5,for 2",
    ]


def test_work_packages_of_the_only_step_have_numbers(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
step: {name: run, use: s, do: 'echo $n'}
analyser: {name: a, analyse: {step: run, file: stdout}}
result: {use: a, table: {name: t, column: [jube_wp_id, n]}}
"""
    )
    campaign = _campaign(tmp_path, text)
    assert [(p["jube_wp_id"], p["n"]) for p in points_of(campaign.space)] == [(0, 1), (1, 2)]
    assert [column.of for column in campaign.tables["t"].columns] == ["jube_wp_id", "n"]


def test_nothing_waits_for_the_file_of_a_job_that_has_ended(tmp_path: Path) -> None:
    """A job's own file is not waited for, in whichever command; one of the program is."""
    text = """name: x
parameterset: {name: systemParameter, init_with: platform.xml, parameter: {name: out, _: own}}
step:
  name: run
  use: [systemParameter, {from: platform.xml, _: executeset}]
  do:
    - $submit $submit_script
    - {done_file: $done_file, error_file: $error_file, _: ''}
    - {done_file: $out.nc, _: echo}
"""
    command = _campaign(tmp_path, text).steps["run"].command
    assert re.findall(r"test -e (\S+);", command) == ["{out}.nc"]
    assert "error_file" not in command


def test_steps_without_relation_are_no_table(tmp_path: Path) -> None:
    text = """name: x
step: [{name: one, do: echo}, {name: two, do: echo}]
analyser: {name: a, analyse: [{step: one, file: stdout}, {step: two, file: stdout}]}
result:
  use: a
  table: {name: t, column: n}
"""
    with pytest.raises(UserError, match=r"suite.yaml:5: its rows are those of several steps"):
        _campaign(tmp_path, text)


@pytest.mark.parametrize(
    ("how", "values"),
    [
        ("", ["3", "4"]),
        ("duplicate: replace, ", ["3", "4"]),
        ("duplicate: concat, ", ["1", "3", "4"]),
    ],
)
def test_a_parameter_that_stands_twice(tmp_path: Path, how: str, values: list[str]) -> None:
    text = (
        "name: x\nparameterset: {name: s, parameter: "
        f"[{{name: n, {how}_: '1,3'}}, {{name: n, {how}_: '3,4'}}]}}\n"
        "step: {name: run, use: s, do: echo $n}\n"
    )
    assert [str(p["n"]) for p in points_of(_campaign(tmp_path, text).space)] == values


def test_a_folder_above_and_a_shared_command(tmp_path: Path) -> None:
    """The folder of a work package, of one before it, and of all; a command that runs once."""
    lines = _table(
        tmp_path,
        r"""name: own
parameterset:
  - name: s
    parameter:
      {name: place, export: true, _: $jube_benchmark_home/$jube_wp_relpath/sub}
  - name: own
    parameter: {name: mine, _: '${jube_benchmark_rundir}/${jube_wp_padid}_use/DONE_IN/here'}
step:
  - {name: make-it, use: s, do: 'mkdir "$place"; echo 3 > $$place/number'}
  - name: use
    depend: make-it
    shared: all
    use: [s, own]
    do:
      - {shared: true, _: echo once > said}
      - touch here
      - 'echo "number $(cat $place/number) in $(ls $mine | grep -c here) $(cat all/said)"'
      - test -d ${jube_benchmark_rundir}/tasks && echo "above"
patternset:
  name: p
  pattern: [{name: line, _: number (.*)}, {name: above, _: above}]
analyser: {name: a, use: p, analyse: {step: use, file: stdout}}
result: {use: a, table: {name: t, column: [line, above]}}
""".replace("DONE_IN", "work"),
    )
    assert lines == ["line,above", "3 in 1 once,above"]


def test_random_outputs_give_jubes_statistics(tmp_path: Path) -> None:
    """Of texts made at random: first, last, extremes, sum and count over files in their order."""
    chance = random.Random(11)
    for _ in range(60):
        texts = {
            f"{index}.log": " ".join(
                chance.choice([f"v={chance.randint(-9, 99)}", "word", "v=", "u=4"])
                for _ in range(chance.randint(0, 6))
            )
            for index in range(3)
        }
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        found = [
            int(number) for text in texts.values() for number in re.findall(r"v=(-?\d+)", text)
        ]
        base = {"regex": r"v=([+-]?\d+)", "file": "?.log", "optional": True}
        picks = ("first", "last", "least", "most", "sum", "count", "mean")
        metrics = {p: CampaignMetric.model_validate_json(_json(base | {"pick": p})) for p in picks}
        values = metrics_in(tmp_path, metrics, {})
        expected: dict[str, float] = {}
        if found:
            expected = {
                "first": found[0],
                "last": found[-1],
                "least": min(found),
                "most": max(found),
                "sum": sum(found),
                "count": len(found),
                "mean": sum(found) / len(found),
            }
        assert values == pytest.approx(expected)


def test_random_sets_are_crossed_as_jube_does(tmp_path: Path) -> None:
    """Lists in text, lists out of Python, what follows from both; a second step uses more."""
    chance = random.Random(5)
    for _ in range(25):
        own = [chance.sample(range(1, 50), chance.randint(1, 3)) for _ in range(3)]
        factor = chance.randint(2, 5)
        text = f"""
name: made
parameterset:
  - name: s
    parameter:
      - {{name: a, _: "{_listed(own[0])}"}}
      - {{name: b, separator: ";", _: "{_listed(own[1], ";")}"}}
      - {{name: c, mode: python, _: $a * {factor}}}
      - {{name: d, mode: python, _: '"$c" if $a % 2 else "$c,$b"'}}
      - {{name: a, _: "{_listed(own[0])}"}}
  - {{name: t, parameter: {{name: e, _: "{_listed(own[2])}"}}}}
step:
  - {{name: one, use: s, do: echo $a $b $c $d}}
  - {{name: two, depend: one, use: t, do: echo $e}}
"""
        wanted = {
            (a, b, a * factor, d, e)
            for a in own[0]
            for b in own[1]
            for d in ([a * factor] if a % 2 else [a * factor, b])
            for e in own[2]
        }
        campaign = _campaign(tmp_path, text, trust=True)
        found = [tuple(int(p[name]) for name in "abcde") for p in points_of(campaign.space)]
        assert sorted(found) == sorted(wanted)


def _listed(values: list[int], separator: str = ",") -> str:
    return separator.join(map(str, values))


def test_all_that_is_refused_is_said_at_once(tmp_path: Path) -> None:
    text = """name: bad
parameterset:
  name: s
  parameter:
    - {name: a, mode: tag, _: x}
    - {name: b, update_mode: step, _: y}
    - {name: c, _: '1,2'}
step:
  - name: run
    use: [s, missing]
    do:
      - {active: '$c == 1', _: echo}
      - {break_file: done, _: echo}
analyser: {name: r, use: unknown, analyse: {step: run, file: stdout}}
"""
    with pytest.raises(UserError) as caught:
        _campaign(tmp_path, text)
    said = [line.partition("suite.yaml:")[2] for line in caught.value.message.splitlines()]
    assert sorted(int(line.partition(":")[0]) for line in said) == [5, 6, 10, 12, 13, 14]
    assert not list(tmp_path.glob("own*"))


def _json(rule: dict[str, object]) -> str:
    return json.dumps(rule)


@pytest.mark.parametrize("seed", range(20))
def test_names_of_analysed_files_mean_themselves_to_the_shell(seed: int) -> None:
    """Whatever stands in them, but what stands for several files and for parameters."""
    chance = random.Random(seed)
    name = "".join(chance.choices("ab.-_ '\"\\$`;&|<>()!#~^\té", k=12)).replace("/", "")
    said = subprocess.run(
        ["sh", "-c", f"printf '<%s>' {_pattern(name)}"], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"<{name}>"
    assert _pattern("run_{n}/*.l?g") == "run_{n}/*.l?g"
