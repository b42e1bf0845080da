/**
 * Workers of a fleet that commit to one lake and are killed meanwhile. With SLUICE_FLEET_LOCATIONS and SLUICE_FLEET_KILLS, the
 * test is as large as the machine permits.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { lakeExtensions, withLake } from "../support/extensions.ts"
import { type Fleet, assertComplete, limited, seconds, startFleet } from "../support/fleet.ts"
import { keyValuesOf, postgresPrograms, withoutPostgres } from "../support/postgres.ts"
import { python, runPython } from "../support/python.ts"
import { randomFrom } from "../support/random.ts"
import type { Running } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)
const locations = Number(process.env["SLUICE_FLEET_LOCATIONS"] ?? 6)
const kills = Number(process.env["SLUICE_FLEET_KILLS"] ?? 2)

/** Compares every table of every location with its warehouse, and the numbers of rows with sluice.commits. */
const compare = `
import duckdb, glob, json, os, sys
extensions, catalog, state = sys.argv[1:4]
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute("SET enable_progress_bar = false") # It would be on stdout.
for name in ["ducklake", "postgres_scanner"]: c.execute(f"LOAD '{extensions}/{name}.duckdb_extension'")
c.execute(f"ATTACH 'ducklake:{catalog}' AS lake (READ_ONLY)")
names = {}
def sums(database, schema, table):
    # duckdb_columns() would also read the catalog of the lake.
    if (schema, table) not in names: names[schema, table] = [one[0] for one in c.execute(f'SELECT * FROM warehouse.{schema}."{table}" LIMIT 0').description]
    columns = ", ".join(f'"{name}"' for name in names[schema, table])
    return {location: (n, value) for location, n, value in c.execute(f'SELECT location_id, count(*), sum(hash({columns})) FROM {database}.{schema}."{table}" GROUP BY 1').fetchall()}
said = {(location, table): (n, m) for location, table, n, m in c.execute("SELECT location_id, table_name, rows, history_rows FROM lake.sluice.commits QUALIFY row_number() OVER (PARTITION BY location_id, table_name ORDER BY run_id DESC, committed_at DESC) = 1").fetchall()}
differ, rows, tables, lake, every = [], 0, set(), {}, []
for path in sorted(glob.glob(state + "/*/warehouse.duckdb")):
    location = os.path.basename(os.path.dirname(path))
    c.execute(f"ATTACH '{path}' AS warehouse (READ_ONLY)")
    every = every or c.execute("SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'warehouse' AND schema_name LIKE 'crm%'").fetchall()
    for schema, table in every:
        if (schema, table) not in lake: lake[schema, table] = sums("lake", schema, table)
        mine, other = lake[schema, table].get(location, (0, None)), sums("warehouse", schema, table).get(location, (0, None))
        committed = said.get((location, table), (0, 0))[schema == "crm_history"]
        if mine != other or committed != other[0]: differ.append(f"{location} {schema}.{table}: {mine}, {other} in the warehouse, commits say {committed}")
        rows += other[0]
        if other[0]: tables.add(table)
    c.execute("DETACH warehouse")
print(json.dumps({"differ": differ[:20], "rows": rows, "tables": len(tables)}))
`

describe.skipIf(postgresPrograms === undefined || python === undefined)(
  postgresPrograms === undefined ? withoutPostgres : `a fleet of ${locations} locations with a lake`,
  () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet("--locations", String(locations), "--contacts", "20", ...limited)
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(() => fleet.stop())

    it(
      `has every row of every location once after ${kills} kills (seed ${seed})`,
      async () => {
        const random = randomFrom(seed)
        const catalog = `postgres:${keyValuesOf(fleet.postgres)}`
        const extensions = lakeExtensions(python!)
        const lake = newFolder()
        const config = withLake(python!, { lake: join(lake, "data"), catalog })
        const worker = () => fleet.worker({}, ...config)
        const workers: Array<Running> = [worker(), worker(), worker()]
        assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
        for (let killed = 0; killed < kills; killed++) {
          await seconds(6 + random() * 10)
          const index = Math.floor(random() * workers.length)
          workers[index]!.kill("SIGKILL")
          workers[index] = worker()
        }
        await fleet.reached(["done"], 300_000 + locations * 15_000)
        await assertComplete(fleet)
        const { differ, rows, tables } = JSON.parse(runPython(python!, compare, extensions, catalog, fleet.state))
        assert.deepStrictEqual(differ, [])
        assert.isAtLeast(tables, 40)
        assert.isAbove(rows, locations * 200)
      },
      600_000 + locations * 15_000
    )
  }
)
