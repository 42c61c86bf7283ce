"""What of a submission may be shown: fields of the schema, answers, names of files; no more."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest
from io500_submission import made, write

from venturi.compat.io500.description import read_information
from venturi.compat.io500.submission import import_results
from venturi.compat.io500.submitted import configuration_of, questionnaire_of
from venturi.model.document import parse_json
from venturi.model.published import Io500Result
from venturi.store.published import richest

TEXT = """
io500_info_institution="A Lab"
io500_info_system="Big"
io500_info_storage_vendor="Megware"
io500_info_md_nodes="2"
io500_info_ds_storage_type="NVMe"
io500_info_ds_network=""
io500_info_md_network="unknown"
io500_info_note="call Eve"
io500_info_submitter="Eve Example"
io500_info_client_operating_system="built by eve@lab.example"
io500_info_storage_capacity="see /home/eve/plan"
io500_info_availability="commercially"
io500_info_feedback="for the committee"
io500_info_list_name="isc24"
"""


def imported(folder: Path) -> Io500Result:
    found = list(import_results(folder))
    assert len(found) == 1
    assert isinstance(found[0], Io500Result)
    return found[0]


def test_a_submission_says_its_configuration_and_nothing_private(tmp_path: Path) -> None:
    write(made(random.Random(1)), tmp_path / "run")
    (tmp_path / "run/system-information.txt").write_text(TEXT)
    found = imported(tmp_path)
    assert found.storage_vendor == "Megware"
    assert found.release == "ISC24"
    assert found.configuration == {
        "storage_vendor": "Megware",
        "md_nodes": "2",
        "ds_storage_type": "NVMe",
    }
    assert found.questionnaire == {"availability": "commercially"}
    text = found.to_json().lower()
    for word in ("eve", "committee", "/home"):
        assert word not in text


def test_files_that_were_read_are_named_with_size_and_digest(tmp_path: Path) -> None:
    write(made(random.Random(2)), tmp_path / "run")
    for name in ("id_rsa", "job-of-eve.sh", "ior-eve.txt", ".history"):
        (tmp_path / "run" / name).write_text("private")
    (tmp_path / "run/find.csv").unlink()
    (tmp_path / "run/find.csv").symlink_to("/etc/passwd")
    files = {one.name: one for one in imported(tmp_path).files}
    assert {"result_summary.txt", "result.txt", "config.ini", "ior-easy-write.txt"} < set(files)
    assert not set(files) & {"id_rsa", "job-of-eve.sh", "ior-eve.txt", ".history", "find.csv"}
    for name, one in files.items():
        data = (tmp_path / "run" / name).read_bytes()
        assert one.bytes == len(data)
        assert one.sha256 == hashlib.sha256(data).hexdigest()


def test_the_names_of_the_first_years_are_understood() -> None:
    old = 'io500_info_num_client_nodes="10"\nio500_info_num_data_storage_devices="8"\n'
    old += 'io500_info_metadata_storage_type="SSD"\n'
    wanted = {"client_nodes": "10", "md_storage_type": "SSD", "ds_storage_devices": "8"}
    assert configuration_of(read_information(old)) == wanted
    row = {"info_num_client_nodes": "10", "info_num_data_storage_devices": "8"}
    assert configuration_of(row) == {"client_nodes": "10", "ds_storage_devices": "8"}


@pytest.mark.parametrize("prefix", ["", "questionnaire_", "questionnaires_"])
def test_answers_to_the_questionnaire(prefix: str) -> None:
    answers = {f"{prefix}caching": "none\nat all", f"{prefix}feedback": "x", f"{prefix}trust": "-"}
    assert questionnaire_of(answers) == {"caching": "none at all"}


def test_values_are_plain_lines_of_bounded_length() -> None:
    found = configuration_of({"md_network": "\u202eabc\x00\x1b[31m" + "x" * 10_000})
    assert found["md_network"].startswith("abc [31mxxx")
    assert len(found["md_network"]) == 500


def test_a_copy_with_less_beside_it_completes_the_other(tmp_path: Path) -> None:
    write(made(random.Random(3)), tmp_path / "run")
    (tmp_path / "run/system-information.txt").unlink()
    bare = imported(tmp_path)
    told = bare.model_copy(
        update={"evidence": 0, "files": [], "configuration": {"md_nodes": "2"}, "release": "SC23"}
    )
    for both in (richest(bare, told), richest(told, bare)):
        assert both.configuration == {"md_nodes": "2"}
        assert both.release == "SC23"
        assert both.files == bare.files != []


def test_a_document_without_the_new_fields_is_read(tmp_path: Path) -> None:
    write(made(random.Random(4)), tmp_path / "run")
    data = imported(tmp_path).to_data()
    for name in ("configuration", "questionnaire", "files", "storage_vendor", "release"):
        data.pop(name, None)
    data.pop("reproducibility", None)
    old = parse_json(Io500Result, json.dumps(data).encode())
    assert (old.files, old.configuration, old.release) == ([], {}, "")
