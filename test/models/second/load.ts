/**
 * The rows of the models of accounts. Their tables are filled by the loader, from a vault with the pages of each night; or, which
 * takes a hundredth of the time, by the rows that the normaliser makes, in one file for each table.
 */
import { Effect, Layer } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../../src/catalog/discover.ts"
import { childRequestOf } from "../../../src/catalog/resource.ts"
import { type ChildTable, tablesOf } from "../../../src/catalog/tables.ts"
import { makeLoader } from "../../../src/stages/load/load.ts"
import { normaliserOf } from "../../../src/stages/load/normalise/normalise.ts"
import { readModels } from "../../../src/stages/publish/models/files.ts"
import { sqlOf } from "../../../src/stages/publish/models/model.ts"
import { orderOf } from "../../../src/stages/publish/models/order.ts"
import type { Entry } from "../../../src/stores/vault/entry.ts"
import { Vault } from "../../../src/stores/vault/vault.ts"
import { literal } from "../../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import { checkpoint } from "../../support/checkpoint.ts"
import { inDatabase } from "../../support/compare.ts"
import { newOutput } from "../../support/fixtures.ts"
import { type Sent, type Timeline, type World, counted, idOf, recordsAt } from "./world.ts"

const { resources } = await discover()
/** The lists of an account, parents first. */
export const lists =
  "locations users pipelines products calendars forms contacts opportunities messages emails appointments invoices orders transactions subscriptions email_campaigns form_submissions tasks lost_reasons voice_agents voice_calls documents workflow_campaigns bulk_email_campaigns email_campaign_statistics workflow_campaign_statistics bulk_email_campaign_statistics".split(
    " "
  )
const resourceOf = new Map(resources.map((one) => [one.table, one]))
/** The record that is read one by one: the parent of an e-mail is its message, which has the same id here. */
const parentOf: Readonly<Record<string, (sent: Sent) => string>> = {
  appointments: ({ calendarId }) => calendarId,
  emails: ({ id }) => id,
  ...Object.fromEntries(
    ["email_campaign", "workflow_campaign", "bulk_email_campaign"].map((kind) => [
      `${kind}_statistics`,
      ({ sourceId }: Sent) => sourceId
    ])
  )
}

/** The run of a night. Every account has its own. */
export const runOf = ({ seed, nights }: World, night: number): string =>
  `${new Date(nights[night]!).toISOString().replace(/\D/g, "")}-${seed}`

function* entriesOf(world: World, night: number): Generator<readonly [Entry, body?: unknown]> {
  const at = world.nights[night]!
  for (const location of world.locations)
    for (const list of lists) {
      const common = { run: runOf(world, night), at, location, resource: list }
      const resource = resourceOf.get(list)!
      const page = { partition: "all", request: {}, records: "records", hasBigNumbers: false } as const
      const own = recordsAt(world, list, location, night)
      const read = { ...page, checkpoint: { ...checkpoint, mode: "full" } } as const
      const child = childRequestOf(resource)
      const under = (id: string) =>
        ({
          ...page,
          partition: child!.label,
          parent: { id, version: "1", done: true, full: true },
          checkpoint
        }) as const
      if (list in parentOf)
        for (const [id, records] of Map.groupBy(own, parentOf[list]!))
          yield [{ ...common, kind: "page", ...under(id) }, { records }]
      else yield [{ ...common, kind: "page", ...read }, { records: own }]
      if (child?.kind === "detail")
        for (const records of own) yield [{ ...common, kind: "detail", ...under(idOf(records)) }, { records }]
      const ids = new Set(own.map(idOf))
      const gone = night === 0 ? [] : recordsAt(world, list, location, night - 1).map(idOf)
      const deleted = gone.filter((id) => !ids.has(id))
      if (deleted.length > 0) yield [{ ...common, kind: "deleted" }, deleted]
      const outcome = { mode: "full", shortfalls: [], warnings: [], requests: 1, begunAt: at, servedAt: at } as const
      yield [{ ...common, kind: "end", outcome }]
    }
}

export type Row = Readonly<Record<string, unknown>>
/** The rows of each model. */
export type Models = ReadonlyMap<string, ReadonlyArray<Row>>

const comparable = (column: string, type: string): string => {
  const name = `"${column}"`
  if (type === "TIMESTAMP WITH TIME ZONE") return `epoch_ms(${name}) AS ${name}`
  if (type === "TIMESTAMP") return `strftime(${name}, '%Y-%m-%d %H:%M:%S') AS ${name}`
  if (type === "DATE") return `${name}::VARCHAR AS ${name}`
  return type.endsWith("[]") ? `to_json(${name})::VARCHAR AS ${name}` : name
}

const file = "warehouse.duckdb"

/** Fills the tables of an empty output folder with what the nights of accounts leave in them. */
type Fill = (worlds: ReadonlyArray<World>, output: string) => Promise<unknown>

const timestamp = (at: number): string => new Date(at).toISOString()
const insertRun = (world: World, night: number): string => {
  const at = literal(timestamp(world.nights[night]!))
  return `INSERT INTO meta.runs (run_id, started_at, finished_at, status) VALUES (${literal(runOf(world, night))}, ${at}, ${at}, 'complete')`
}

export const byLoader: Fill = (worlds, output) => {
  const load = Effect.gen(function* () {
    const [vault, warehouse] = [yield* Vault, yield* Warehouse]
    for (const night of worlds[0]!.nights.keys())
      for (const world of worlds) {
        for (const [entry, body] of entriesOf(world, night))
          yield* vault.append({ entry, body: body === undefined ? "" : JSON.stringify(body) })
        yield* warehouse.run(insertRun(world, night))
      }
    yield* vault.seal
    yield* (yield* makeLoader(resources, join(output, "tmp"))).load
  })
  const layer = Layer.merge(
    Vault.layer(join(output, "vault")),
    Warehouse.layer(join(output, file), { access: "write", memoryMb: 512 })
  )
  return Effect.runPromise(Effect.provide(load, layer))
}

const normalisers = new Map(lists.map((list) => [list, normaliserOf(resourceOf.get(list)!)]))
type Line = Readonly<Record<string, unknown>>

/** The lists of which a model reads earlier versions. */
const versioned = ["opportunities", "transactions", "subscriptions"]

/** The rows of each table, by its name with its schema. */
const rowsOf = (worlds: ReadonlyArray<World>): ReadonlyMap<string, ReadonlyArray<Line>> => {
  const found = new Map<string, Array<Line>>()
  const put = (table: string, line: Line) => {
    if (!found.has(table)) found.set(table, [])
    found.get(table)!.push(line)
  }
  for (const world of worlds) for (const one of world.records) putRecord(world, one)
  return found

  function putRecord(world: World, { list, location, nights }: Timeline): void {
    let stored: { readonly text: string; readonly row: Line; readonly at: number } | undefined
    let goneAt: number | undefined
    for (const [night, sent] of nights.entries()) {
      const at = world.nights[night]!
      if (sent === undefined) goneAt ??= at
      else {
        const text = JSON.stringify(sent)
        if (stored?.text === text && goneAt === undefined) continue
        goneAt = undefined
        if (stored !== undefined && versioned.includes(list))
          put(`crm_history.${list}`, { ...stored.row, _valid_from: timestamp(stored.at), _valid_to: timestamp(at) })
        const [whole] = resourceOf.get(list)!.transform?.(sent) ?? [sent]
        const { row } = normalisers.get(list)!(whole, { location })
        stored = { text, at, row: { location_id: location, ...(JSON.parse(row!) as Line) } }
      }
    }
    if (stored === undefined) return
    const system = {
      location_id: location,
      _synced_at: timestamp(stored.at),
      ...(goneAt !== undefined && { _deleted_at: timestamp(goneAt) })
    }
    const { id } = stored.row
    const row: Record<string, unknown> = { ...stored.row, ...system }
    for (const { name, parentColumn } of tablesOf(resourceOf.get(list)!).slice(1) as ReadonlyArray<ChildTable>) {
      for (const line of (row[name] ?? []) as ReadonlyArray<Line>)
        put(`crm.${name}`, { [parentColumn]: id, ...line, ...system })
      delete row[name]
    }
    put(`crm.${list}`, row)
  }
}

export const byNormaliser: Fill = (worlds, output) =>
  inDatabase(
    join(output, file),
    async (ask) => {
      for (const [table, rows] of rowsOf(worlds)) {
        const path = join(output, `${table}.ndjson`)
        writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"))
        const names = new Set(rows.flatMap(Object.keys))
        const [schema, name] = table.split(".")
        const columns = await ask(
          `SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE schema_name = '${schema}' AND table_name = '${name}'`
        )
        const typed = columns.flatMap((one) =>
          names.has(String(one["name"])) ? [`"${String(one["name"])}": '${String(one["type"])}'`] : []
        )
        await ask(`INSERT INTO ${table} BY NAME FROM read_ndjson('${path}', columns = {${typed.join(", ")}})`)
      }
      const last = (world: World) => literal(timestamp(world.nights.at(-1)!))
      const read = worlds.flatMap((world) =>
        world.locations.flatMap((location) => lists.map((list) => ({ world, location, list })))
      )
      await ask(
        `INSERT INTO meta.watermarks (location_id, resource, complete_at, full_complete_at) VALUES ${read.map(({ world, location, list }) => `('${location}', '${list}', ${last(world)}, ${last(world)})`).join(", ")}`
      )
      for (const world of worlds) {
        for (const night of world.nights.keys()) await ask(insertRun(world, night))
        for (const { night, location, list, status, finishedAt, counts, rounded } of world.readings) {
          const key = `'${runOf(world, night)}', '${location}', '${list}'`
          const finished = finishedAt === undefined ? "NULL" : literal(timestamp(finishedAt))
          await ask(
            `INSERT INTO meta.run_resources (run_id, location_id, resource, status, finished_at, ${counted.join(", ")})
             VALUES (${key}, '${status}', ${finished}, ${counted.map((name) => counts[name]).join(", ")})`
          )
          for (const [column, n] of rounded.entries())
            await ask(
              `INSERT INTO meta.rounded_values (run_id, location_id, resource, table_name, column_name, rounded) VALUES (${key}, '${list}', 'c${column}', ${n})`
            )
        }
      }
    },
    "READ_WRITE"
  )

/** An output folder with these accounts, which `use` may ask for the rows of the models, in the file `path`. */
export const withAccounts = async <A>(
  worlds: ReadonlyArray<World>,
  fill: Fill,
  use: (modelsOf: (change?: Change) => Promise<Models>, path: string) => Promise<A>
): Promise<A> => {
  const output = await newOutput()
  await fill(worlds, output)
  try {
    return await use((change) => modelsIn(join(output, file), change), join(output, file))
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

/** Makes the SQL of a model another. */
type Change = (model: string, sql: string) => string

const modelsIn = async (path: string, change: Change = (_, sql) => sql): Promise<Models> => {
  const { models, problems } = orderOf(await readModels(undefined), () => true)
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  return inDatabase(
    path,
    async (ask) => {
      await ask("DROP SCHEMA IF EXISTS bi CASCADE")
      await ask("CREATE SCHEMA bi")
      for (const model of models) {
        const sql = sqlOf(model, (reference) =>
          "ref" in reference ? `bi.${reference.ref}` : `${reference.source.schema}.${reference.source.table}`
        )
        await ask(`CREATE ${model.isView ? "VIEW" : "TABLE"} bi.${model.name} AS ${change(model.name, sql)}`)
      }
      const columns = Map.groupBy(
        await ask(
          "SELECT table_name AS model, column_name AS name, data_type AS type FROM duckdb_columns() WHERE schema_name = 'bi' ORDER BY table_name, column_index"
        ),
        ({ model }) => String(model)
      )
      const found = new Map<string, ReadonlyArray<Row>>()
      for (const { name } of models.filter(({ isStaging }) => !isStaging)) {
        const shown = columns.get(name)!.map((one) => comparable(String(one["name"]), String(one["type"])))
        found.set(name, await ask(`SELECT ${shown.join(", ")} FROM bi.${name}`))
      }
      return found
    },
    "READ_WRITE"
  )
}
