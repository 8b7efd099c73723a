"""A catalogue survives its document in every part."""

import json

import pytest
from tests.support.catalogs import EXAMPLE

from fullcount.compiler import catalog, types
from fullcount.compiler.catalog_document import catalog_from_document, catalog_to_document


def test_a_value_that_is_not_known_is_never_left_out():
    """What has no form here is an error, so that no part of a catalogue is lost in silence."""
    with pytest.raises(TypeError, match="object has no place"):
        catalog_to_document(catalog.StaticCatalog({"hr": {"people": object()}}))


def test_a_document_of_something_else_is_not_a_catalogue():
    """Only a catalogue comes out."""
    with pytest.raises(TypeError, match="not the document of a catalogue"):
        catalog_from_document(["hr"])


def test_a_catalogue_is_the_same_after_its_document():
    """The example workspace, whose resources have operations of every kind, comes back equal."""
    assert catalog_from_document(json.loads(json.dumps(catalog_to_document(EXAMPLE)))) == EXAMPLE


def test_every_part_of_a_resource_and_of_an_operation_comes_back():
    """No part keeps its default on the way."""
    field = types.FieldType(types.ListOf(types.MapOf(types.SIZE)), optional=True)
    operation = catalog.Operation(
        "o",
        {"p": catalog.Parameter(field, required=False, key="k")},
        catalog.Effect.CREATE,
        catalog.Idempotency.NONE,
        reversible=True,
        undoes=frozenset({"a", "b"}),
    )
    resource = catalog.Resource(
        "s",
        "r",
        {"k": field},
        ("k", "l"),
        catalog.Consistency.UNSTABLE,
        catalog.Visibility.UNKNOWN,
        "i",
        "v",
        frozenset({"k"}),
        {"o": operation},
        counted=True,
    )
    made = catalog.StaticCatalog({"s": {"r": resource}, "empty": {}}, ("l",), ("r",))
    assert catalog_from_document(json.loads(json.dumps(catalog_to_document(made)))) == made
