"""Prints rows of a DuckDB file as JSON: {list: [{field: value}]}. Versions of DuckDB differ, so its writer's one reads it.

python rows.py DATABASE SCHEMA '{"contacts": ["id", "firstName", "tags"]}'

A field is found in the column of its name, whatever the case and the underscores. `tags` may be a table of its own.
"""

import json
import sys

import duckdb


def plain(name):
    return name.replace("_", "").lower()


def rows_of(database, schema, table, fields, tables):
    columns = [row[0] for row in database.execute(f'DESCRIBE "{schema}"."{table}"').fetchall()]
    named = {plain(column): f'"{column}"' for column in columns}
    if f"{table}__tags" in tables:
        named["tags"] = f'(SELECT list(value) FROM "{schema}"."{table}__tags" AS t WHERE t._dlt_parent_id = r._dlt_id)'
    wanted = ", ".join(f'{named.get(plain(field), "NULL")} AS "{field}"' for field in fields)
    found = database.execute(f'SELECT {wanted} FROM "{schema}"."{table}" AS r').fetchall()
    return [dict(zip(fields, row)) for row in found]


path, schema, wanted = sys.argv[1:]
with duckdb.connect(path, read_only=True) as database:
    database.execute("SET TimeZone = 'UTC'")
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
    tables = {row[0] for row in database.execute(query, [schema]).fetchall()}
    result = {
        name: rows_of(database, schema, name, fields, tables)
        for name, fields in json.loads(wanted).items()
        if name in tables
    }
json.dump(result, sys.stdout, default=lambda value: value.isoformat() if hasattr(value, "isoformat") else str(value))
