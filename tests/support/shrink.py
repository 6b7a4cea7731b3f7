"""The smallest schema that still fails."""


def smaller(schema):
    """Schemas with one part less, larger cuts first."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("not", "if", "then", "else", "contains", "items"):
                yield value
            if key in ("allOf", "anyOf", "oneOf"):
                yield from value
        for key in schema:
            if key != "$schema":
                yield {name: value for name, value in schema.items() if name != key}
        for key, value in schema.items():
            yield from ({**schema, key: each} for each in smaller(value))
    elif isinstance(schema, list):
        for at, value in enumerate(schema):
            if len(schema) > 1:
                yield schema[:at] + schema[at + 1 :]
            for each in smaller(value):
                yield [*schema[:at], each, *schema[at + 1 :]]


def shrunk(schema, fails, most=400):
    """Leaves out parts while `fails` holds, which is asked at most so often."""
    tries = 0
    candidates = smaller(schema)
    while tries < most:
        each = next(candidates, None)
        if each is None:
            break
        tries += 1
        if fails(each):
            schema, candidates = each, smaller(each)
    return schema
