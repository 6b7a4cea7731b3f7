"""What the option `closed` means, written as a schema (src/foundation/schema/close.h).

    closed({"properties": {"a": A}, "allOf": [{"properties": {"b": B}}]})

is a schema of draft 2020-12 that says the same with additionalProperties,
unevaluatedProperties, items and unevaluatedItems.  `contains` evaluates nothing
for the rules that it adds; so it hides `contains` behind two `not`.
"""

IN_PLACE = ("allOf", "anyOf", "oneOf")
LEVELS = ("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties")
LEVEL_MAPS = ("properties", "patternProperties")
CONTAINS = ("contains", "minContains", "maxContains")


def target(reference, root):
    """The schema that "#" or "#/$defs/NAME" refers to."""
    return root if reference == "#" else root["$defs"][reference.removeprefix("#/$defs/")]


def in_place(schema, root):
    for key in IN_PLACE:
        yield from schema.get(key, [])
    if "if" in schema:
        yield from (schema[key] for key in ("if", "then", "else") if key in schema)
    yield from schema.get("dependentSchemas", {}).values()
    if "$ref" in schema:
        yield target(schema["$ref"], root)


def says(schema, root, kinds):
    """Whether the schemas in place in `schema` have one of the keywords."""
    return isinstance(schema, dict) and (
        any(schema.get(kind, {}) not in ({}, []) or (kind in LEVELS and kind in schema) for kind in kinds)
        or any(says(part, root, kinds) for part in in_place(schema, root))
    )


def is_choice(schema):
    """Whether a level is one of the levels in its anyOf."""
    others = ("oneOf", "allOf", "$ref", "if", "dependentSchemas", "prefixItems")
    return "anyOf" in schema and not any(
        key in schema for key in (*others, *LEVELS, *LEVEL_MAPS)
    )


def closing(schema, root, lists, others):
    """"", "own", or "level": how the level is closed."""
    if any(key in schema for key in others) or not says(schema, root, lists):
        return ""
    inside = any(says(part, root, lists + others) for part in in_place(schema, root))
    return "level" if inside else "own"


def rewritten(schema, role, root):
    if not isinstance(schema, dict):
        return schema
    is_open = role == "open"
    part, level = ("open", "open") if is_open else ("part", "level")
    out = {}
    for key, value in schema.items():
        if key == "$defs":
            continue
        if key == "$ref":
            out[key] = f"#/$defs/{part}:{value.removeprefix('#/$defs/')}"
        elif key in IN_PLACE:
            as_ = role if key == "anyOf" and is_choice(schema) else part
            out[key] = [rewritten(one, as_, root) for one in value]
        elif key in ("then", "else"):
            out[key] = rewritten(value, part, root)
        elif key in ("not", "if", "contains", "propertyNames"):
            out[key] = rewritten(value, "open", root)
        elif key == "dependentSchemas":
            out[key] = {name: rewritten(one, part, root) for name, one in value.items()}
        elif key in LEVELS:
            out[key] = rewritten(value, level, root)
        elif key in LEVEL_MAPS:
            out[key] = {name: rewritten(one, level, root) for name, one in value.items()}
        elif key == "prefixItems":
            out[key] = [rewritten(one, level, root) for one in value]
        else:
            out[key] = value
    hidden = {key: out.pop(key) for key in CONTAINS if key in out}
    if hidden:
        out["allOf"] = [*out.get("allOf", []), {"not": {"not": hidden}}]
    if role == "level" and not is_choice(schema):
        members = closing(
            schema,
            root,
            ("properties", "patternProperties"),
            ("additionalProperties", "unevaluatedProperties"),
        )
        items = closing(schema, root, ("prefixItems", "items"), ("items", "unevaluatedItems"))
        if members:
            out["additionalProperties" if members == "own" else "unevaluatedProperties"] = False
        if items:
            out["items" if items == "own" else "unevaluatedItems"] = False
    return out


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for one in value.values():
            yield from references(one)
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


def closed(schema):
    if not isinstance(schema, dict):
        return schema
    made, left = {}, ["level:#"]
    while left:  # definitions that nothing refers to are not read
        name = left.pop()
        if name in made:
            continue
        role, _, key = name.partition(":")
        made[name] = rewritten(schema if key == "#" else schema["$defs"][key], role, schema)
        left += [one.removeprefix("#/$defs/") for one in references(made[name])]
    return {"$ref": "#/$defs/level:#", "$defs": made}
