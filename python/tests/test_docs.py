# SPDX-License-Identifier: Apache-2.0
"""Every public name has a docstring, and docs/python-api.md is made of them."""
from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.util
import inspect

import pytest

import calder

from conftest import ROOT


def generator():
    """tools/python_docs as a module."""
    loader = importlib.machinery.SourceFileLoader("python_docs", str(ROOT / "tools/python_docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("python_docs", loader))
    loader.exec_module(module)
    return module


docs = generator()
CLASSES = {**{name: getattr(calder, name) for name in docs.public()}, **docs.returned()}


def test_the_reference_is_up_to_date():
    assert docs.PAGE.read_text() == docs.page(), "run PYTHONPATH=python tools/python_docs"


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_name_has_a_docstring(name):
    value = CLASSES[name]
    assert (value.__doc__ or "").strip() and not value.__doc__.startswith(f"{name}("), name
    if not inspect.isclass(value):
        return
    for member, thing, _ in docs.members(value):
        if isinstance(thing, property) or inspect.isfunction(thing):
            assert (thing.__doc__ or "").strip(), f"{name}.{member}"


def test_numbers_of_results_have_units_or_a_meaning():
    bare = [f"{name}.{field.name}" for name, value in CLASSES.items() if dataclasses.is_dataclass(value)
            for field in dataclasses.fields(value)
            if "float" in str(field.type) and field.name not in docs.field_docs(value)]
    assert bare == []
