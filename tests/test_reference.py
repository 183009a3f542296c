"""The reference: every public name has an example, and the examples that are not in docstrings run."""

import doctest
import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from reference import MODULES, borrowed, examples, public_names  # noqa: E402

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.slow
def test_every_public_name_has_an_example():
    apart, seen, without = examples().keys() | borrowed().keys(), set(), []
    for module, _, _ in MODULES:
        for name in public_names(module):
            value = getattr(import_module(module), name)
            if callable(value) and id(value) not in seen:
                seen.add(id(value))
                if ">>>" not in (inspect.getdoc(value) or "") and f"{module}.{name}" not in apart:
                    without.append(f"{module}.{name}")
    assert not without, "give these an example in their docstring, or in docs/_ext/examples.txt"


@pytest.mark.slow
@pytest.mark.parametrize("name", {text: name for name, text in examples().items()}.values())
def test_examples_run(name):
    test = doctest.DocTestParser().get_doctest(examples()[name], {}, name, "docs/_ext/examples.txt", 0)
    said = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert result.failed == 0, "".join(said)
