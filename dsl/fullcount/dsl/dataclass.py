"""`@dataclass` as in the standard library, with less work done while modules are imported.

The language and the compiler consist of some two hundred small values. For each the standard decorator writes and
compiles half a dozen methods at import, which together takes longer than compiling a workflow. This one shares those
methods between classes and writes no code. To a type checker it *is* the standard one; `dataclasses.fields`, `replace`
and `asdict` take its objects; a test holds the two equal.

It makes classes with `slots=True`, frozen or not, and no other form: where more is needed, use the standard one.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

__all__ = ["dataclass", "field"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from dataclasses import MISSING, Field, FrozenInstanceError
    from dataclasses import dataclass as _standard
    from inspect import get_annotations
    from operator import attrgetter
    from reprlib import recursive_repr

    _set = object.__setattr__
    _parts_of = {}
    """The fields of each class that was made here, in order."""

    def dataclass(*, slots, frozen=False):
        """Return the decorator. `slots` must be true."""
        if not slots:
            raise TypeError("a class without slots is made by the standard decorator")
        return lambda cls: _made(cls, frozen)

    def _made(cls, frozen):
        parts = _declared(cls)
        names = {part.name for part in parts}
        inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
        body = {name: value for name, value in vars(cls).items() if name not in {"__dict__", "__weakref__", *names}}
        body = {**_methods(parts, frozen), **body}
        body["__slots__"] = tuple(part.name for part in parts if part.name not in inherited)
        body["__match_args__"] = tuple(part.name for part in parts if part.init)
        body["__dataclass_fields__"] = _StandardFields()
        # slots can only be given to a class as it is made, so it is made once more
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        _parts_of[made] = parts
        if "__init__" not in body:
            made.__init__ = _init(made, parts)
        return made

    def _declared(cls):
        """Return the fields of a class: those of its bases, then its own, as `dataclasses` understands them."""
        parts = {part.name: part for base in reversed(cls.__mro__[1:]) for part in _parts_of.get(base, ())}
        for name, annotation in get_annotations(cls).items():
            if annotation.partition("[")[0].rpartition(".")[2] in {"ClassVar", "InitVar", "KW_ONLY"}:
                raise TypeError(f"`{cls.__name__}.{name}`: only plain fields are made here")
            given = vars(cls).get(name, MISSING)
            part = given if isinstance(given, Field) else field(default=given)
            part.name, part.type = name, annotation
            parts[name] = part
        return tuple(parts.values())

    def _init(made, parts):
        """Return `__init__`: it puts the arguments into their slots, then the fields that take none."""
        taken = [part for part in parts if part.init]
        count = len(taken)
        slots = [getattr(made, part.name).__set__ for part in taken]
        rest = [part for part in parts if not part.init and _default(part) is not MISSING]
        finish = getattr(made, "__post_init__", None)

        def initialise(self, *args, **given):
            if given or len(args) != count:
                args = _bound(self, taken, args, given)
            for put, value in zip(slots, args, strict=True):
                put(self, value)
            for part in rest:
                _set(self, part.name, _default(part))
            if finish is not None:
                finish(self)

        return initialise

    def _bound(made, taken, args, given):
        """Return the value of each field: as given by place, as given by name, or its default."""
        name = f"{type(made).__qualname__}()"
        if len(args) > len(taken):
            raise TypeError(f"{name} takes {len(taken)} values but {len(args)} were given")
        values = list(args)
        for part in taken[len(args) :]:
            if part.name in given:
                values.append(given.pop(part.name))
            else:
                values.append(_default(part))
                if values[-1] is MISSING:
                    raise TypeError(f"{name} misses a value for `{part.name}`")
        if given:
            raise TypeError(f"{name} was given `{next(iter(given))}`, which it does not take or already has")
        return values

    def _default(part):
        return part.default if part.default_factory is MISSING else part.default_factory()

    def _methods(parts, frozen):
        """Return what a class has besides `__init__`, unless it says so itself."""
        shown = [part.name for part in parts if part.repr]
        compared = _reader([part.name for part in parts if part.compare])
        hashed = _reader([part.name for part in parts if (part.compare if part.hash is None else part.hash)])

        @recursive_repr()
        def represent(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

        def equal(self, other):
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        def hash_value(self):
            return hash(hashed(self))

        def state(self):
            return [getattr(self, part.name) for part in parts]

        def restore(self, values):
            for part, value in zip(parts, values, strict=True):
                _set(self, part.name, value)

        methods = {"__repr__": represent, "__eq__": equal, "__hash__": hash_value if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            methods |= {"__getstate__": state, "__setstate__": restore}
        return methods

    def _reader(names):
        """Return a function from an object to the tuple of these fields."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple(getattr(self, name) for name in names)

    def _refuse_to_set(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    class _StandardFields:
        """What `dataclasses.fields` and its kin look for, made by the standard decorator when they first ask."""

        def __get__(self, _object, asked):
            owner = next(base for base in asked.__mro__ if base in _parts_of)
            parts = _parts_of[owner]
            body = {"__annotations__": {part.name: part.type for part in parts}}
            for part in parts:
                defaults = {"default": part.default, "default_factory": part.default_factory}
                body[part.name] = field(
                    **{key: value for key, value in defaults.items() if value is not MISSING},
                    init=part.init,
                    repr=part.repr,
                    hash=part.hash,
                    compare=part.compare,
                )
            only_fields = _standard(init=False, repr=False, eq=False, match_args=False)
            owner.__dataclass_fields__ = only_fields(type(owner.__name__, (), body)).__dataclass_fields__
            return owner.__dataclass_fields__
