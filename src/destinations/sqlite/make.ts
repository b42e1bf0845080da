/** Makes a SQLite file of the DuckDB file of a release, without loss: see docs/destinations.md. */
import { Effect, Stream } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { snapshotName } from "../../output/paths.ts"
import { type PreviousRelease, snapshotSum } from "../../stages/publish/manifest.ts"
import { isStagingName } from "../../stages/publish/models/staging.ts"
import type { StoredColumn } from "../../stores/warehouse/content.ts"
import { rowsOf } from "../../stores/warehouse/parts.ts"
import { query } from "../../stores/warehouse/query.ts"
import { name, selected } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { failure } from "../../values/failure.ts"
import { messageOf } from "../../values/thrown.ts"

/**
 * Makes the file `path`, which must be empty or missing. Returns the tables, by their names in SQL, and in sentences what is
 * other than in the release.
 */
export const makeFile = Effect.fn("sqlite.makeFile")(function* (
  path: string,
  release: PreviousRelease,
  { memoryMb, owner, target }: { readonly memoryMb: number; readonly owner: string; readonly target: string }
) {
  const made = Effect.gen(function* () {
    const database = yield* open(target, path)
    const execute = (sql: string) => attempt(target, () => database.exec(sql))
    // Nobody reads an unfinished file, and one that stays unfinished is made anew.
    yield* execute("PRAGMA journal_mode = OFF; BEGIN; CREATE TABLE _sluice (owner TEXT, run_id TEXT, content TEXT)")
    const { notes, tables } = yield* tablesOfRelease
    for (const { columns, from, table } of tables) {
      yield* execute(`CREATE TABLE ${table} (${columns.map((column) => name(column.name)).join(", ")})`)
      const insert = yield* attempt(target, () =>
        database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`)
      )
      yield* Stream.runForEach(rowsOf([from], columns), (row) =>
        attempt(target, () => insert.run(...row.map((text, index) => valueOf(text, columns[index]!.type))))
      )
      if (columns.some((column) => column.name === "id"))
        yield* execute(`CREATE INDEX ${name(`${table.slice(1, -1)}_id`)} ON ${table} (id)`)
    }
    yield* attempt(target, () =>
      database
        .prepare("INSERT INTO _sluice VALUES (?, ?, ?)")
        .run(owner, release.manifest.run, snapshotSum(release.manifest))
    )
    yield* execute("COMMIT")
    return { tables: tables.map(({ table }) => table), notes }
  })
  const snapshot = join(release.folder, snapshotName)
  return yield* Effect.provide(
    Effect.scoped(made),
    Warehouse.layer(snapshot, { access: "read", isRelease: true, memoryMb })
  )
})

/** The most columns that a table of SQLite has. */
const columnsMax = 2000

/** The tables, wide views and models. SQLite has one schema, and names that differ in capitals only are one name there. */
const tablesOfRelease = Effect.gen(function* () {
  const found = yield* query(
    { schema: String, table: String, columns: selected<ReadonlyArray<StoredColumn>> },
    `SELECT schema_name AS "schema", table_name AS "table", to_json(list({name: column_name, type: data_type} ORDER BY column_index))::VARCHAR AS columns
     FROM duckdb_columns() WHERE database_name = 'crm' AND schema_name IN ('main', 'bi')
     GROUP BY ALL ORDER BY schema_name DESC, table_name`
  )
  const wanted = found.filter(({ schema, table }) => schema === "main" || !isStagingName(table))
  const names = new Set(["_sluice"])
  const notes: Array<string> = []
  const tables = wanted.flatMap(({ schema, table, columns }) => {
    if (columns.length > columnsMax) {
      notes.push(`${table} has ${columns.length} columns, and SQLite at most ${columnsMax}, so it is left out`)
      return []
    }
    let own = table
    while (names.has(own.toLowerCase())) own = `${schema === "bi" ? "bi" : "crm"}_${own}`
    names.add(own.toLowerCase())
    if (own !== table)
      notes.push(`the ${schema === "bi" ? "model" : "table"} ${table} is ${own}, because ${table} is another table`)
    return [{ table: name(own), from: `crm.${name(schema)}.${name(table)}`, columns }]
  })
  return { notes, tables }
})

/** A number if SQLite has the same one, else the text that a CSV file has. */
const valueOf = (text: string | null, type: string) => {
  if (text === null) return null
  if (type === "BOOLEAN") return text === "true" ? 1 : 0
  if (!/^(DECIMAL|DOUBLE|FLOAT|U?(TINY|SMALL|BIG|HUGE)?INT)/.test(type)) return text
  if (/^-?\d{1,18}$/.test(text)) return BigInt(text)
  return String(Number(text)) === text ? Number(text) : text
}

export const open = (target: string, path: string, readOnly = false) =>
  Effect.acquireRelease(
    attempt(target, () => new DatabaseSync(path, { readOnly })),
    (database) => Effect.sync(() => database.close())
  )

export const attempt = <A>(target: string, work: () => A) =>
  Effect.try({
    try: work,
    catch: (cause) => failure({ _tag: "DestinationFailed", target, detail: messageOf(cause) })
  })
