/** Compares a PostgreSQL database, value by value, with the file from which it was loaded last. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Comparison, Receiver } from "../contract.ts"
import type { PostgresDestination } from "./settings.ts"
import { type StoredState, behind, noteIn, pathsIn, shapeIn, storedState } from "./state.ts"
import { ownerOf } from "../../output/folder.ts"
import { modelSchema } from "./release-tables.ts"
import { type Unheld, heldRows, noteUnheld, unheldSentences } from "./held.ts"
import { type Server, connect, patiently, transaction } from "./server.ts"
import { postgresName, postgresType } from "./shape.ts"
import { csvReading } from "../../stores/formats/csv/format.ts"
import { columnsOf } from "../../stores/warehouse/columns.ts"
import type { StoredColumn } from "../../stores/warehouse/content.ts"
import { query } from "../../stores/warehouse/query.ts"
import { numbers } from "../../values/rows.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted, note, wrong, compared } from "../../values/finding.ts"
import { scratchFolder } from "../../output/scratch.ts"

export const checkDatabase = Effect.fn("verify.database")(function* (
  { destination: { schema, url }, folder, name: target }: Receiver<PostgresDestination>,
  { output }: Comparison
) {
  const owner = yield* ownerOf(output.folder)
  const paths = yield* pathsIn(dirname(folder))
  const rows = join(yield* scratchFolder(output.folder), "rows.csv")
  const check = Effect.fnUntraced(function* (server: Server) {
    const state = yield* storedState(server, schema)
    const mine = state.filter((one) => one.owner === owner)
    const loaded = mine.find((one) => one.table_name === "")
    if (loaded === undefined)
      return compared("nothing", [wrong(target, `nothing was loaded into the schema ${schema} yet`)])
    if (loaded.version !== (yield* noteIn(paths))?.content || !existsSync(paths.loaded))
      return compared("nothing", [
        wrong(target, "the file that was loaded last is not here any more, so the database cannot be compared with it")
      ])
    const tables = mine.filter((one) => one.table_name !== "")
    const comparing = Effect.gen(function* () {
      yield* defineCanonical
      const unheld = yield* noteUnheld
      return yield* Effect.forEach(tables, (table) =>
        compare(
          server,
          { schema, table: table.table_name, rows: scopeOf(table, loaded, state), state: table, unheld },
          rows
        )
      )
    })
    const found = yield* Effect.provide(
      comparing,
      Warehouse.layer(paths.loaded, { access: "read", isRelease: true, memoryMb: output.memoryMb })
    )
    const count = found.reduce((sum, one) => sum + one.rows, 0)
    const looked = `${counted(tables.length, "table")}, ${counted(count, "row")} of the schema ${schema}, compared with what was loaded`
    return compared(
      looked,
      found.flatMap(({ finding }) => finding ?? [])
    )
  })
  // All tables of one moment.
  const comparing = Effect.flatMap(connect({ url }), (server) =>
    transaction(server, check(server), "ISOLATION LEVEL REPEATABLE READ READ ONLY")
  )
  return yield* comparing.pipe(Effect.scoped, (work) => patiently(target, work))
}, Effect.scoped)

/** WHERE clause of the rows of this output folder, if others write into the table. */
const scopeOf = ({ owner, table_name }: StoredState, { shape }: StoredState, state: ReadonlyArray<StoredState>) =>
  state.some((one) => one.table_name === table_name && one.owner !== owner)
    ? `WHERE location_id IN (${shape.split(",").map(literal).join(", ")})`
    : ""

interface TableComparison {
  readonly schema: string
  readonly table: string
  readonly rows: string
  readonly state: StoredState
  readonly unheld: Unheld
}

const compare = Effect.fnUntraced(function* (
  server: Server,
  { rows: scope, schema, state, table, unheld }: TableComparison,
  file: string
) {
  const [own, target] = table.startsWith("bi.") ? [table.slice(3), modelSchema(schema)] : [table, schema]
  const path = `${name(target)}.${name(postgresName(own))}`
  const from = `crm.${table.startsWith("bi.") ? "bi" : "main"}.${name(own)}`
  if (state.version === behind)
    return {
      rows: 0,
      finding: wrong(path, "still has its earlier rows; ./sluice publish changes it, or says what is in its way")
    }
  const columns = yield* columnsOf(from)
  if (scope !== "" && !columns.some((column) => column.name === "location_id"))
    return { rows: 0, finding: note(path, "is not compared, because other output folders share its rows") }
  const values = columns.map((column) => `${valueIn(column)} AS ${name(column.name)}`).join(", ")
  yield* server.copyTo(`COPY (SELECT ${values} FROM ${path} ${scope}) TO STDOUT (FORMAT csv, HEADER)`, file)
  const read = csvReading.from(
    [file],
    columns.map((column) => column.name)
  )
  const key = shapeIn(state.shape).key.filter((one) => columns.some((column) => column.name === one))
  const held = heldRows({ name: table, columns, key }, from, listHere)
  const [row] = yield* query(
    numbers("here", "there", "missing"),
    `WITH here AS (SELECT hash(${columns.map(valueHere).join(", ")}) AS hash FROM (${held})),
       there AS (SELECT hash(${columns.map(valueThere).join(", ")}) AS hash FROM ${read})
     SELECT (SELECT count(*) FROM here) AS here, (SELECT count(*) FROM there) AS there,
       (SELECT count(*) FROM (FROM here EXCEPT ALL FROM there)) AS missing`
  )
  const { here, there, missing } = row!
  if (here === there && missing === 0) {
    const lost = unheldSentences(unheld, table)
    return { rows: here, finding: lost.length === 0 ? undefined : note(path, lost.join("; ")) }
  }
  const what =
    here === there
      ? `${counted(missing, "row")} with other values than were loaded`
      : `${counted(there, "row")}, and ${here.toLocaleString("en-US")} were loaded`
  return { rows: there, finding: wrong(path, what) }
})

/** The value that is compared: JSON and lists are JSON. */
const isJson = ({ type }: StoredColumn): boolean => /^(jsonb|text\[\])$/.test(postgresType(type))

/** The value in PostgreSQL. */
const valueIn = (column: StoredColumn): string => {
  const value = name(postgresName(column.name))
  return postgresType(column.type) === "text[]" ? `to_jsonb(${value})` : value
}

/** Texts are compared as they are, and so are times, which both sides write in the same form. */
const isAsText = ({ type }: StoredColumn): boolean => /^(text|date|timestamp|timestamptz)$/.test(postgresType(type))

/** The value in the CSV file, which has texts only. */
const valueThere = (column: StoredColumn): string => {
  if (isJson(column)) return `${canonical}(${name(column.name)})`
  return isAsText(column) ? name(column.name) : `CAST(${name(column.name)} AS ${column.type})`
}

/** The value of a column in what `heldRows` returns. */
const valueHere = (column: StoredColumn): string => {
  const value = name(postgresName(column.name))
  if (isJson(column)) return `${canonical}(${value})`
  return isAsText(column) ? value : `CAST(${value} AS ${column.type})`
}

/** COPY gets a list in the form of PostgreSQL. */
const listHere = ({ name: own, type }: StoredColumn): string | undefined =>
  postgresType(type) === "text[]"
    ? `to_json(list_transform(${name(own)}, item -> replace(item, chr(0), '')))::VARCHAR`
    : undefined

const canonical = "sluice_canonical"

/** PostgreSQL orders the keys of JSON, and writes numbers in its own way. */
const defineCanonical = Effect.flatMap(Warehouse, (warehouse) =>
  warehouse.textFunction(canonical, 1, ([text]) => (text == null ? null : JSON.stringify(sorted(JSON.parse(text)))))
)

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : value instanceof Object
      ? Object.entries(value)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([key, item]) => [key, sorted(item)])
      : value
