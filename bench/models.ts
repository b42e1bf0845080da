/**
 * Seconds for which a release is longer with models: written anew, and after a night in which 1 % of the contacts and messages have changed.
 *
 *     node_modules/.bin/node bench/models.ts [contacts]
 */
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../src/catalog/discover.ts"
import { publishNow } from "../src/run/release.ts"
import { changeVersions, recordChangedKeys } from "../src/stores/warehouse/meta/content-versions.ts"
import { prepare } from "../src/stores/warehouse/schema.ts"
import { Warehouse } from "../src/stores/warehouse/warehouse.ts"
import { newFolder } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 100_000)
const memoryMb = 128

/** Three messages and a deal for each contact, in conversations of six messages. */
const rows = [
  `INSERT INTO crm.locations BY NAME SELECT 'L' AS location_id, 'L' AS id, 'America/New_York' AS timezone, 'USD' AS currency, now() AS _synced_at`,
  `INSERT INTO crm.contacts BY NAME SELECT 'L' AS location_id, 'c' || i AS id, 'Contact ' || i AS name, 'c' || i || '@example.com' AS email,
     'source ' || i % 20 AS source, TIMESTAMPTZ '2024-01-01 00:00:00Z' + to_minutes(i * 7) AS date_added, now() AS _synced_at FROM range(${contacts}) AS t (i)`,
  `INSERT INTO crm.contact_tags BY NAME SELECT 'L' AS location_id, 'c' || i % ${contacts} AS contact_id, 'tag ' || i % 30 AS tag, now() AS _synced_at FROM range(${contacts * 2}) AS t (i)`,
  `INSERT INTO crm.messages BY NAME SELECT 'L' AS location_id, 'm' || i AS id, 'v' || i // 6 AS conversation_id, 'c' || (i // 6) % ${contacts} AS contact_id,
     'TYPE_SMS' AS message_type, CASE WHEN hash(i) % 2 = 0 THEN 'inbound' ELSE 'outbound' END AS direction, 'delivered' AS status,
     TIMESTAMPTZ '2024-01-01 00:00:00Z' + to_minutes(i * 3) AS date_added, now() AS _synced_at FROM range(${contacts * 3}) AS t (i)`,
  `INSERT INTO crm.opportunities BY NAME SELECT 'L' AS location_id, 'o' || i AS id, 'p1' AS pipeline_id, 's' || i % 5 AS pipeline_stage_id,
     ['open', 'won', 'lost'][1 + i % 3] AS status, 'c' || i AS contact_id, i % 9000 AS monetary_value,
     TIMESTAMPTZ '2024-01-01 00:00:00Z' + to_minutes(i * 7) AS created_at, now() AS _synced_at FROM range(${contacts}) AS t (i)`,
  `INSERT INTO meta.runs BY NAME SELECT 'r1' AS run_id, 'sync' AS command, now() AS started_at, now() AS finished_at, 'complete' AS status`,
  `INSERT INTO meta.watermarks BY NAME SELECT 'L' AS location_id, 'contacts' AS resource, now() AS complete_at`
]

const change = (run: number) =>
  ["contacts", "messages"].flatMap((table) => [
    `UPDATE crm.${table} SET _synced_at = now() WHERE hash(id) % 100 = ${run}`,
    ...changeVersions([table]),
    recordChangedKeys(table, `(SELECT location_id, id AS key FROM crm.${table} WHERE hash(id) % 100 = ${run})`)
  ])

const catalogue = await discover()
const measure = async (build: boolean): Promise<{ readonly all: number; readonly some: number }> => {
  const folder = newFolder()
  const output = {
    folder,
    formats: ["duckdb", "parquet", "csv"],
    csvProfile: "machine",
    memoryMb,
    models: { build, folder: undefined }
  } as const
  const timed = (run: string) =>
    Effect.gen(function* () {
      const start = performance.now()
      const { problems } = yield* publishNow(catalogue, output, { run })
      if (problems.length > 0) throw new Error(problems[0]!.what)
      return (performance.now() - start) / 1000
    })
  return Effect.runPromise(
    Effect.gen(function* () {
      yield* prepare(catalogue)
      const warehouse = yield* Warehouse
      yield* warehouse.transaction(rows)
      const all = yield* timed("r1")
      yield* warehouse.transaction(change(1))
      return { all, some: yield* timed("r2") }
    }).pipe(Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb })))
  )
}

const [without, with_] = [await measure(false), await measure(true)]
console.log(`${contacts} contacts, ${contacts * 3} messages, memory_mb = ${memoryMb}, all formats`)
for (const [name, of] of [
  ["written anew", "all"],
  ["1 % changed", "some"]
] as const)
  console.log(
    `${name}: ${without[of].toFixed(1)} s without models, ${(with_[of] - without[of]).toFixed(1)} s more with them`
  )
