"""Takes what pages link to beside docs/ (ARCHITECTURE.md, schemas, examples) into the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"(?<=\]\()[^)#\s]+")
_BESIDE = "project"
"""The folder of the site that has the files from beside docs/."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add each file beside docs/ that a page names, and what those files name in turn."""
    root = Path(config.config_file_path).parent
    pages = [file.src_uri for file in files.documentation_pages()]
    while pages:
        source = _source(pages.pop())
        for link in _LINK.findall((root / source).read_text("utf-8")):
            target = _target(source, link)
            uri = _uri(target)
            if (
                uri.startswith(f"{_BESIDE}/")
                and (root / target).is_file()
                and uri not in files.src_uris
            ):
                files.append(File.generated(config, uri, abs_src_path=str(root / target)))
                pages += [uri] if uri.endswith(".md") else []
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where the site has those files."""
    own = page.file.src_uri

    def placed(match: re.Match[str]) -> str:
        uri = _uri(_target(_source(own), match[0]))
        is_moved = own.startswith(f"{_BESIDE}/") or uri.startswith(f"{_BESIDE}/")
        if not is_moved or uri not in files.src_uris:
            return match[0]
        return posixpath.relpath(uri, posixpath.dirname(own) or ".")

    return _LINK.sub(placed, markdown)


def _source(uri: str) -> str:
    """Return where the project has a file of the site."""
    return uri.removeprefix(f"{_BESIDE}/") if uri.startswith(f"{_BESIDE}/") else f"docs/{uri}"


def _uri(source: str) -> str:
    """Return where the site has a file of the project."""
    return source.removeprefix("docs/") if source.startswith("docs/") else f"{_BESIDE}/{source}"


def _target(source: str, link: str) -> str:
    """Return the file of the project to which a link of another one leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
