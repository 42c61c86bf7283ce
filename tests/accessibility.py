"""What axe-core finds on a page that is open in a browser."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from browser import Browser
    from firefox import Firefox

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""The success criteria of WCAG 2.2, levels A and AA, and what axe-core advises beside them."""
_FOUND = f"""
axe.run(document, {{runOnly: {_RULES}, resultTypes: ['violations']}}).then(result =>
  result.violations.map(rule => [
    rule.impact, rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(' | ')
  ]))
"""


@functools.cache
def source_file() -> Path | None:
    """Where npm put axe-core; None: it is not there."""
    if shutil.which("npm") is None:
        return None
    where = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=True)
    found = Path(where.stdout.strip(), "axe-core", "axe.min.js")
    return found if found.is_file() else None


def violations(browser: Browser | Firefox) -> list[str]:
    """Each rule that the page breaks: how grave that is, the rule, and where."""
    source = source_file()
    assert source is not None, "npm install --global axe-core (packaging/prepare test)"
    browser.evaluate(f"(() => {{ {source.read_text()}; return null; }})()")
    found: list[list[Any]] = browser.evaluate(_FOUND)
    return [": ".join(str(part) for part in one) for one in found]
