/** Compares a PostgreSQL database with a release, value by value, by programs that are not sluice's. */
/**
 * Arguments: the address, the schema, the DuckDB file. Prints what differs, one line each; `rows` and a number at the end.
 * NUL characters, which PostgreSQL cannot store, are left out on both sides.
 */
export const compareDatabase = `
import collections, datetime, decimal, json, sys
import duckdb, psycopg
url, schema, file = sys.argv[1:4]
def plain(value):
    if isinstance(value, bool) or value is None: return value
    if isinstance(value, str): return value.replace("\\0", "")
    if isinstance(value, datetime.datetime): return value.astimezone(datetime.timezone.utc).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)): return str(value)
    if isinstance(value, (int, float, decimal.Decimal)): return str(decimal.Decimal(str(value)).normalize())
    if isinstance(value, (list, tuple)): return [plain(one) for one in value]
    if isinstance(value, dict): return {plain(key): plain(one) for key, one in value.items()}
    return str(value)
release = duckdb.connect(file, read_only=True)
release.execute("SET TimeZone = 'UTC'")
total = 0
with psycopg.connect(url) as database:
    database.execute("SET TimeZone = 'UTC'; BEGIN ISOLATION LEVEL REPEATABLE READ")
    wanted = release.execute("""SELECT table_schema, table_name FROM information_schema.tables
      WHERE table_schema IN ('main', 'bi') AND (table_type = 'BASE TABLE' OR table_name LIKE '%_wide'
        OR (table_schema = 'bi' AND NOT regexp_matches(table_name, '^stg_|^stated_currencies$|^location_time_zones$|^payment_versions$')))""").fetchall()
    found = {(s, t) for s, t in database.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s)", [[schema, schema + "_bi"]]).fetchall()}
    found.discard((schema, "_sluice"))
    for kind, table in wanted:
        target = schema if kind == "main" else schema + "_bi"
        if (target, table) not in found:
            print("missing", target, table); continue
        found.discard((target, table))
        columns = [(row[0], row[1]) for row in release.execute(f'DESCRIBE {kind}."{table}"').fetchall()]
        names = ", ".join('"' + name.replace('"', '""') + '"' for name, _ in columns)
        loads = [json.loads if type == "JSON" else (lambda value: value) for _, type in columns]
        def of_release(row): return [plain(value if value is None else load(value)) for value, load in zip(row, loads)]
        here = collections.Counter(json.dumps(of_release(row), sort_keys=True) for row in release.execute(f'SELECT {names} FROM {kind}."{table}"').fetchall())
        there = collections.Counter(json.dumps(plain(row), sort_keys=True) for row in database.execute(f'SELECT {names} FROM "{target}"."{table}"').fetchall())
        total += sum(here.values())
        if here != there:
            print("differs", target, table, sum((here - there).values()), sum((there - here).values()), list((here - there).elements())[:1], list((there - here).elements())[:1])
    for target, table in sorted(found): print("further", target, table)
print("rows", total)
`
