"""A step of JUBE as a step of a campaign: its sets, its files, its commands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from venturi.campaign.jube.expand import CLOCK, JubeParameter, parameter_of
from venturi.campaign.jube.node import Findings, Node, failed
from venturi.campaign.jube.platform import SHARED, SITE, SUBMISSION, SUBMITTING, USUAL
from venturi.campaign.jube.script import Scripts
from venturi.campaign.jube.suite import Suite, used_names
from venturi.campaign.jube.text import identifier, names_of, substituted, translated
from venturi.model.error import UserError
from venturi.model.expression import names_in, tree_of

_RESERVED = ("dir", "home", "launch", "python", "repetition")
_EXPORTED = ".exported"
_ENVIRONMENT = "export -p | grep -v '^export [OLD]*PWD='"
_FOLDER = "$PWD"
_CAMPAIGN = "$campaign_folder"
_WORK = r"\$\{?jube_benchmark_rundir\}?/\$\{?jube_wp_padid\}?_%s/work\b"
_RELATIVE = r"\$\{?jube_benchmark_home\}?/\$\{?jube_wp_relpath\b\}?"
"""The folder of a work package, as suites write it."""
_NUMBERS = ("jube_wp_id", "jube_wp_padid")
"""What tells a run from others: here its name."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_TRUE = ("true", "1")
_FALSE = ("false", "0")


@dataclass
class JubeStep:
    """A step with what its sets bring."""

    node: Node
    parameters: dict[str, JubeParameter]
    """Its own and those of the steps before it."""
    lists: list[str]
    """What its own sets bring."""
    files: list[Node]
    substitutions: list[Node]
    before: list[JubeStep]
    is_submitting: bool
    analysed: list[str] = field(default_factory=list)
    """Files that patterns are looked for in."""
    columns: set[str] = field(default_factory=set)
    """Parameters that tables show."""

    shared: list[Node] = field(default_factory=list)
    """Commands that JUBE runs once for all work packages."""
    lines_after: list[str] = field(default_factory=list)
    """What its command does at the end."""

    @property
    def name(self) -> str:
        """The step's, as campaigns' files have names; its folder has JUBE's beside it."""
        return identifier(self.node.name)


def all_before(step: JubeStep) -> list[JubeStep]:
    """The steps that a step depends on, the nearest first."""
    found: list[JubeStep] = []
    for parent in step.before:
        found += [own for own in (parent, *all_before(parent)) if own not in found]
    return found


def steps_of(suite: Suite, findings: Findings, scripts: Scripts) -> dict[str, JubeStep]:
    """All steps that are active by JUBE's names, each after those before it.

    Raises UserError for a circle.
    """
    nodes = {node.name: node for node in suite.benchmark.of("step")}
    found: dict[str, JubeStep] = {}

    def visit(node: Node, above: tuple[str, ...]) -> None:
        if not node.name:
            raise failed(node, "the step has no name")
        if node.name in above:
            raise failed(node, f"{' depends on '.join([*above, node.name])} is a circle")
        if node.name in found:
            return
        names = [name.strip() for name in node.get("depend").split(",") if name.strip()]
        for name in names:
            if name not in nodes:
                raise failed(node, f"it depends on '{name}', which is no step")
            visit(nodes[name], (*above, node.name))
        step = _step(suite, node, [found[n] for n in names if n in found], findings)
        try:
            is_chosen = is_active(node, step.parameters, scripts)
        except UserError as error:
            findings.refuse_as(error)
            is_chosen = True
        if len(step.before) == len(names) and is_chosen:
            found[node.name] = step

    for node in nodes.values():
        visit(node, ())
    names = [step.name for step in found.values()]
    for step in found.values():
        if names.count(step.name) > 1:
            findings.refuse(step.node, f"two steps would be called '{step.name}' here: rename one")
    return found


def _step(suite: Suite, node: Node, before: list[JubeStep], findings: Findings) -> JubeStep:
    parameters: dict[str, JubeParameter] = {}
    for parent in before:
        parameters |= parent.parameters
    own: dict[str, JubeParameter] = {}
    step = JubeStep(node, parameters, [], [], [], before, False)
    for use in node.of("use"):
        if names_of(use.text) or names_of(use.get("from")):
            findings.refuse(use, "a set that is named by a parameter is not supported")
            continue
        for name in used_names(use):
            try:
                used = suite.set_named(use, name)
            except UserError as error:
                findings.refuse_as(error)
                continue
            if used.tag == "platform":
                step.is_submitting = step.is_submitting or name in SUBMITTING
                _take(own, used, findings)
            elif used.tag == "fileset":
                step.files.append(used)
            elif used.tag == "substituteset":
                step.substitutions.append(used)
            elif used.tag == "parameterset":
                _take(own, used, findings)
            else:
                findings.refuse(use, f"a step uses the {used.tag} '{name}'")
    step.lists = list(own)
    step.parameters |= own
    if "timelimit" in own:
        limit = own["timelimit"]
        step.parameters[CLOCK] = replace(
            limit, node=limit.node.named(CLOCK), text="$timelimit", mode="clock"
        )
    return step


def _take(own: dict[str, JubeParameter], used: Node, findings: Findings) -> None:
    """Adds a set's parameters; one that stands in another set, too, must be the same there."""
    for name, made in parameters_of(used, findings).items():
        if name in own and own[name].is_same_as != made.is_same_as:
            other = own[name].node.where
            findings.refuse(made.node, f"the parameter '{name}' is another one at {other}")
        own[name] = made


def parameters_of(used: Node, findings: Findings) -> dict[str, JubeParameter]:
    """The parameters of a set: of several with one name the last, or their values together."""
    found: dict[str, JubeParameter] = {}
    for node in used.of("parameter"):
        if node.name in _RESERVED or node.name.startswith("folder_"):
            findings.refuse(node, f"'{node.name}' has a meaning of its own here: rename it")
        made = parameter_of(node, findings)
        how = node.get("duplicate", "none")
        how = used.get("duplicate", "replace") if how == "none" else how
        known = found.get(node.name)
        if known is not None and how == "concat":
            both = {*known.text.split(made.separator), *made.text.split(made.separator)}
            text = made.separator.join(sorted(part.strip() for part in both))
            made = replace(made, text=text)
        elif known is not None and how == "error":
            findings.refuse(node, f"the parameter '{node.name}' stands at {known.node.where}, too")
        found[node.name] = made
    return found


def is_active(node: Node, parameters: Mapping[str, JubeParameter], scripts: Scripts) -> bool:
    """What `active` says; UserError where that differs from point to point."""
    text = substituted(node.get("active", "true"), constants_of(parameters)).strip()
    if text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    if names_of(text):
        raise failed(node, f"active '{text}' differs from point to point", "split the step")
    return scripts.value(node, "python", text).lower() not in (*_FALSE, "", "none")


def constants_of(parameters: Mapping[str, JubeParameter]) -> dict[str, str]:
    """The texts of parameters that are the same everywhere."""
    return {
        name: own.text
        for name, own in parameters.items()
        if own.mode == "text" and not own.is_list and not own.names
    }


class StepMaker:
    """Makes the text of one step."""

    def __init__(
        self, step: JubeStep, findings: Findings, scripts: Scripts, home: Path, name: str
    ) -> None:
        self._step = step
        self._findings = findings
        self._scripts = scripts
        self._home = home
        self._variables = {
            "jube_benchmark_name": name,
            "jube_benchmark_home": "{home}",
            "jube_step_name": step.node.name,
            "jube_step_iterations": step.node.get("iterations", "1"),
            "jube_wp_abspath": _FOLDER,
            "jube_benchmark_rundir": _CAMPAIGN,
            **dict.fromkeys(_NUMBERS, "{run}"),
        }
        self._owner = step
        """The step whose folder the text means that is being translated."""
        self.named: set[str] = set()
        """Parameters that must be some of the campaign's."""

    def made(self) -> dict[str, Any]:
        """The step as in a campaign's file."""
        node = self._step.node
        self._check(node)
        result: dict[str, Any] = {}
        if self._step.before:
            result["after"] = [parent.name for parent in self._step.before]
        lines = [*self._arrival(), *self._files(), *self._substitutions()]
        jobs = [do for do in node.of("do") if self._is_job(do)]
        if jobs:
            result |= self._sizes()
        result["repeat"] = int(node.get("iterations", "1"))
        dos = [do for do in node.of("do") if self._is_active(do)]
        many = len(dos) > 1
        for index, do in enumerate(dos):
            lines += self._do(do, jobs, many, index)
        exported = {
            name: self._text(f"${{{name}}}")
            for name, own in self._step.parameters.items()
            if own.node.get("export").lower() in _TRUE
        }
        for name in [own for own in exported if _FOLDER in exported[own]]:
            lines.insert(0, f"export {name}={_word(exported.pop(name))}")
        exported |= {
            name: "{run}"
            for name in _NUMBERS
            if any(name in own.names for own in self._step.parameters.values())
        }  # for the shell, where it stands in a parameter's value
        lines += self._departure()
        if any(_CAMPAIGN in line for line in lines):
            self._findings.note(node, "the folder of all runs: its parts have other names here")
            lines.insert(0, f"{_CAMPAIGN[1:]}=${{{{PWD%/tasks/*}}}}")
        result["command"] = "\n".join(lines) + "\n"
        if exported:
            result["environment"] = exported
        return result

    def _is_active(self, part: Node) -> bool:
        try:
            return is_active(part, self._step.parameters, self._scripts)
        except UserError as error:
            self._findings.refuse_as(error)
            return False

    def _text(self, text: str) -> str:
        """A text as a campaign's, with braces around the parameters that it names."""

        def value(name: str) -> str | None:
            if name == "jube_wp_abspath" and self._owner is not self._step:
                return f"{{folder_{self._owner.name}}}"
            if name in self._variables:
                return self._variables[name]
            own = self._step.parameters.get(name)
            if own is None:
                if name.startswith("jube_"):
                    self._findings.refuse(self._step.node, f"the variable ${name} is not supported")
                return None
            if is_inlined(own, name in self._step.columns):
                self._owner = self._owner_of(name)
                text = translated(self._beside(own.text), value)
                self._owner = self._step
                return text
            self.named.add(name)
            return f"{{{name}}}"

        return translated(self._beside(text), value)

    def _owner_of(self, name: str) -> JubeStep:
        """The step that gives a parameter its value, which later ones only take over."""
        return next(
            (other for other in reversed(all_before(self._step)) if name in other.parameters),
            self._owner,
        )

    def _beside(self, text: str) -> str:
        """The text with its own folder where that is named from above."""
        own = re.escape(self._step.node.name)
        return re.sub(f"{_WORK % own}|{_RELATIVE}", "${jube_wp_abspath}", text)

    def _constant(self, name: str) -> str:
        own = self._step.parameters.get(name)
        return "" if own is None else own.text

    def _check(self, node: Node) -> None:
        for name in ("cycles",):
            if node.get(name, "1") != "1":
                self._findings.refuse(node, f"{name}='{node.get(name)}' is not supported")
        if not node.get("iterations", "1").isdecimal():
            raise failed(node, f"iterations '{node.get('iterations')}' is no number")
        for name in ("max_async", "procs"):
            if node.get(name, "0") not in ("0", "1"):
                self._findings.note(node, f"{name}: most_jobs of the machine's file says this")
        texts = [(do, do.text) for do in node.of("do")]
        texts += [(own.node, own.text) for own in self._step.parameters.values()]
        for place, text in texts:
            if "module load" in text:
                self._findings.note(place, "modules: 'software' of the machine's file may say this")
        if node.get("suffix"):
            self._findings.note(node, "suffix: folders are numbered, their parameters are listed")
        for parent in self._step.before:
            if parent.node.get("iterations", "1") != "1":
                self._findings.refuse(node, f"it depends on '{parent.name}', which is iterated")

    def _arrival(self) -> list[str]:
        lines = []
        node = self._step.node
        for parent in self._step.before:
            link = shlex.quote(parent.node.name)
            lines.append(f'ln -s "{{folder_{parent.name}}}" {link} || exit 1')
            if parent.node.get("export").lower() in _TRUE:
                lines.append(f". ./{link}/{_EXPORTED}")
        if node.get("shared") and SHARED in names_of(node.get("shared")):
            self._findings.note(node, "chained jobs: most_jobs of the machine's file says this")
        elif node.get("shared"):
            shared = f"../../{self._step.name}.shared"
            lines.append(f"mkdir -p {shared} && ln -s {shared} {self._text(node.get('shared'))}")
        if node.get("work_dir"):
            place = f'"{self._text(node.get("work_dir"))}"'
            lines += ["run_folder=$PWD", f"mkdir -p {place} && cd {place} || exit 1"]
        return lines

    def _departure(self) -> list[str]:
        node = self._step.node
        lines = []
        if node.get("work_dir"):
            files = [file for file in self._step.analysed if file not in ("stdout", "stderr")]
            lines += [f'cp {_pattern(file)} "$run_folder/"' for file in files]
            if self._step.lines_after:
                lines.append('cd "$run_folder" || exit 1')
        lines += self._step.lines_after
        if node.get("export").lower() in _TRUE:
            lines.append(f"{_ENVIRONMENT} > {_EXPORTED}")
        return lines

    def _files(self) -> list[str]:
        lines = []
        for files in self._step.files:
            for part in files.children:
                if not self._is_active(part):
                    continue
                if part.tag == "prepare":
                    place = part.get("work_dir")
                    go = [f'cd "{self._text(place)}" || exit 1'] if place else []
                    body = "\n".join([*go, self._text(part.text.strip())])
                    lines.append(f"(\n{body}\n) || exit 1")
                elif part.tag in ("copy", "link"):
                    lines += self._copied(part)
        return lines

    def _copied(self, part: Node) -> list[str]:
        """`copy` and `link` of files beside the JUBE file, or in the run's own folder."""
        command = "cp -R" if part.tag == "copy" else "ln -s"
        separator = part.get("separator", ",")
        names = [name.strip() for name in part.get("name").split(separator)]
        target = self._text(part.get("target_dir") or part.get("directory_target"))
        lines = [f'mkdir -p "{target}" || exit 1'] if target else []
        for index, file in enumerate(part.text.split(separator)):
            path = Path(part.get("source_dir"), file.strip())
            name = self._text(names[index]) if index < len(names) else ""
            lines.append(
                f"{command} {self._source(part, path)} {_quoted(target or '.', name)} || exit 1"
            )
        return lines

    def _source(self, part: Node, path: Path) -> str:
        text = str(path)
        if part.get("rel_path_ref") != "internal" and not path.is_absolute() and text[0] != "$":
            beside = os.path.relpath(part.file.parent / path, self._home)
            return f'"{{home}}"/{self._text(beside)}'
        return self._text(text)

    def _substitutions(self) -> list[str]:
        lines = []
        for substitution in self._step.substitutions:
            rules: list[str] = []
            for sub in substitution.of("sub"):
                new = sub.get("dest") or sub.text
                rules += [sub.get("mode", "text"), self._text(sub.get("source")), self._text(new)]
            for file in substitution.of("iofile"):
                mode = "append" if file.get("out_mode", "w") == "a" else "write"
                words = [self._text(file.get("in")), self._text(file.get("out")), mode, *rules]
                said = " ".join(map(_word, words))
                lines.append(f"{{python}} -m venturi.campaign.replace {said} || exit 1")
        return lines

    def _is_job(self, do: Node) -> bool:
        return self._step.is_submitting and bool(SUBMISSION & set(names_of(do.text)))

    def _sizes(self) -> dict[str, Any]:
        """Ranks, nodes and time as the platform's parameters say."""
        parameters = self._step.parameters
        for name in SITE:
            own = parameters.get(name)
            if own is not None and own.text and not own.node.get(USUAL):
                self._findings.note(own.node, f"{name}: the machine's file says this")
        self.named |= {"nodes", CLOCK} & set(parameters)
        ranks = "tasks" if self._constant("tasks") else "nodes * taskspernode"
        self.named |= names_in(tree_of(ranks)) & set(parameters)
        return {"ranks": ranks, "nodes": "nodes", "time": CLOCK}

    def _do(self, do: Node, jobs: list[Node], many: bool, index: int) -> list[str]:
        """One `do`: of several, each has its folder and its exit, and hands on its environment."""
        if do.get("break_file"):
            self._findings.refuse(do, "break_file of a 'do' is not supported")
        is_shared = do.get("shared").lower() in _TRUE
        body = self._job() if do in jobs else self._text(do.text.strip())
        if is_shared:
            self._step.shared.append(do)
            body = f'cd "../../{self._step.name}.shared" || exit 1\n{body}'
        if do.get("work_dir"):
            body = f'cd "{self._text(do.get("work_dir"))}" || exit 1\n{body}'
        waiting = "" if do in jobs else self._waiting(do)
        redirected = "".join(
            f" {sign}> {shlex.quote(do.get(name))}"
            for name, sign in (("stdout", ">"), ("stderr", "2>"))
            if do.get(name)
        )
        if not many and not redirected and not waiting and not self._has_departure():
            return [body]
        handed = f".environment{index}"
        lines = [f"{'do_folder=$PWD; ' if many else ''}({chr(10)}{body}"]
        if many:
            lines[-1] += f'\ncode=$?; {_ENVIRONMENT} > "$do_folder/{handed}"; exit $code'
        lines.append(f"){redirected} || exit 1")
        if waiting:
            lines.append(waiting)
        if many:
            lines.append(f"test ! -e {handed} || . ./{handed}")
        return lines

    def _has_departure(self) -> bool:
        node = self._step.node
        is_exported = node.get("export").lower() in _TRUE
        return bool(node.get("work_dir") or self._step.lines_after) or is_exported

    def _job(self) -> str:
        """What the job's script would do: prepare, start the program on its ranks, finish."""
        known = self._step.parameters
        texts = {
            name: self._text(f"${name}") if name in known else ""
            for name in (
                "env",
                "preprocess",
                "measurement",
                "executable",
                "args_exec",
                "postprocess",
                "outlogfile",
                "errlogfile",
            )
        }
        words = ("{launch}", texts["measurement"], texts["executable"], texts["args_exec"])
        start = " ".join(filter(None, words))
        out, err = texts["outlogfile"] or "job.out", texts["errlogfile"] or "job.err"
        lines = [texts["env"], texts["preprocess"], start]
        if texts["postprocess"]:
            lines += ["code=$?", texts["postprocess"], "(exit $code)"]
        return "\n".join(["{{", *filter(None, lines), f"}}}} > {out} 2> {err}"])

    def _is_of_job(self, file: str) -> bool:
        """Whether only a job's script makes a file; here the job ends before its command does."""
        names = set(names_of(file))
        return self._step.is_submitting and bool(names - set(self._step.parameters))

    def _waiting(self, do: Node) -> str:
        """Waiting for the file that says that a command in the background is done."""
        done, error = (
            "" if self._is_of_job(do.get(name)) else self._text(do.get(name))
            for name in ("done_file", "error_file")
        )
        stop = f"test ! -e {error} || exit 1" if error else ""
        if not done:
            return stop
        return f"until test -e {done}; do {stop + '; ' if stop else ''}sleep 1; done"


def is_inlined(own: JubeParameter, is_column: bool) -> bool:
    """Whether a parameter's text stands where it is named, and is no parameter of the campaign."""
    if own.mode != "text" or own.is_list:
        return False
    return not own.text or "\n" in own.text or ("$" in own.text and not is_column)


def _word(text: str) -> str:
    """A word for the shell in which nothing has a meaning but the run's own folder."""
    quoted = shlex.quote(text)
    for name in (_FOLDER, _CAMPAIGN):
        quoted = quoted.replace(name, f"'\"{name}\"'")
    return quoted.replace("''", "") or "''"


def _pattern(file: str) -> str:
    """A file's name for the shell in which only what stands for several files has a meaning, and
    braces, which stand for parameters."""
    return re.sub(r"([^\w./*?\[\]{}=+,@%:-])", r"\\\1", file)


def _quoted(folder: str, name: str) -> str:
    return f'"{folder}/{name}"' if name else f'"{folder}"'
