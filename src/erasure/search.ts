/** Searches every file of an output folder for texts that identify a person, in the forms in which programs store texts. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { open, readFile, readdir } from "node:fs/promises"
import { join, relative } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { warehouseName } from "../settings/paths.ts"
import { literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

export interface Wanted {
  /** What the text is, as a report may say it: `email 1`. */
  readonly label: string
  readonly text: string
}

export interface Found {
  /** Relative to the output folder; for a table, followed by its name and column. */
  readonly place: string
  readonly label: string
  readonly form: string
}

export interface Searched {
  readonly files: number
  readonly bytes: number
  readonly found: ReadonlyArray<Found>
  /** Archives, whose contents cannot be searched. */
  readonly unsearched: ReadonlyArray<string>
}

interface Needle extends Omit<Found, "place"> {
  readonly bytes: string
}

/** The forms of a text, as bytes in Latin-1 and lower case. Base64 of a longer text contains that of its inner bytes. */
const needlesOf = ({ label, text }: Wanted): ReadonlyArray<Needle> => {
  const lower = text.toLowerCase()
  const utf8 = Buffer.from(text)
  const bytesOf = (value: string) => Buffer.from(value).toString("latin1").toLowerCase()
  const hashes = ["md5", "sha1", "sha256"].map((algorithm) => createHash(algorithm).update(lower).digest("hex"))
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), utf8])
      .toString("base64")
      .replace(/=+$/, "")
    return encoded.slice(shift === 0 ? 0 : shift + 1, encoded.length - ((shift + utf8.length) % 3 === 0 ? 0 : 1))
  })
  const forms: ReadonlyArray<readonly [string, string]> = [
    ["plain", text],
    [
      "JSON",
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    ],
    ["URL", encodeURIComponent(text)],
    ...base64.map((value) => ["base64", value] as const),
    ...hashes.map((value) => ["hash", value] as const)
  ]
  const seen = new Set<string>()
  return forms.flatMap(([form, value]) => {
    const bytes = bytesOf(value)
    if (bytes.length < 6 || seen.has(bytes)) return []
    seen.add(bytes)
    return [{ label, form, bytes }]
  })
}

const archives = /\.(zip|xlsx|tar|gz|age)$/

export const searchOutput = Effect.fn("erasure.search")(function* (
  output: string,
  wanted: ReadonlyArray<Wanted>,
  isSkipped: (file: string) => boolean
): Effect.fn.Return<Searched, Failure, Warehouse> {
  const entries = yield* onDisk(output, "read", () => readdir(output, { recursive: true, withFileTypes: true }))
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(output, join(entry.parentPath, entry.name)))
    .filter((file) => !isSkipped(file))
    .toSorted()
  const needles = wanted.flatMap(needlesOf)
  const found: Array<Found> = []
  let bytes = 0
  for (const file of files.filter((one) => !archives.test(one))) {
    const path = join(output, file)
    const size = yield* onDisk(path, "read", () =>
      searchFile(path, needles, (needle) => found.push({ place: file, ...needle }))
    )
    bytes += size
    if (/\.(duckdb|parquet)$/.test(file)) found.push(...(yield* searchTables(path, file, wanted)))
  }
  return { files: files.length, bytes, found, unsearched: files.filter((file) => archives.test(file)) }
})

const chunkBytes = 4 * 1024 * 1024

/** Returns the size. Reports each form of each text once. */
const searchFile = async (
  path: string,
  needles: ReadonlyArray<Needle>,
  onFound: (needle: Pick<Found, "label" | "form">) => void
): Promise<number> => {
  const missing = new Set(needles)
  const search = (text: string) => {
    for (const needle of missing)
      if (text.includes(needle.bytes)) {
        missing.delete(needle)
        onFound({ label: needle.label, form: needle.form })
      }
  }
  if (path.endsWith(".zst")) {
    const content = zstdDecompressSync(await readFile(path))
    search(content.toString("latin1").toLowerCase())
    return content.length
  }
  const overlap = Math.max(0, ...needles.map((needle) => needle.bytes.length))
  await using file = await open(path, "r")
  const buffer = Buffer.alloc(chunkBytes)
  let size = 0
  for (let rest = ""; ;) {
    const { bytesRead } = await file.read(buffer)
    if (bytesRead === 0) return size
    size += bytesRead
    const text = rest + buffer.toString("latin1", 0, bytesRead).toLowerCase()
    search(text)
    rest = text.slice(-overlap)
  }
}

/** The values of all text columns: on disk they are compressed. The warehouse itself is open. */
const searchTables = Effect.fnUntraced(function* (path: string, shown: string, wanted: ReadonlyArray<Wanted>) {
  const warehouse = yield* Warehouse
  if (shown === warehouseName) return yield* searchColumns("warehouse", shown, wanted)
  if (shown.endsWith(".parquet")) {
    yield* warehouse.run(`CREATE OR REPLACE VIEW memory.main.searched AS FROM read_parquet(${literal(path)})`)
    return yield* searchColumns("memory", shown, wanted)
  }
  yield* warehouse.run(`ATTACH ${literal(path)} AS searched (READ_ONLY)`)
  return yield* Effect.ensuring(
    searchColumns("searched", shown, wanted),
    Effect.ignore(warehouse.run("DETACH searched"))
  )
})

const searchColumns = Effect.fnUntraced(function* (database: string, shown: string, wanted: ReadonlyArray<Wanted>) {
  const warehouse = yield* Warehouse
  const columns = yield* warehouse.rows(
    `SELECT c.schema_name, c.table_name, c.column_name FROM duckdb_columns() AS c
     WHERE c.database_name = ${literal(database)} AND NOT c.internal AND (c.data_type LIKE '%VARCHAR%' OR c.data_type = 'JSON')
       AND (c.schema_name, c.table_name) ${database === "memory" ? "IN (('main', 'searched'))" : `IN (SELECT (schema_name, table_name) FROM duckdb_tables() WHERE database_name = ${literal(database)})`}
     ORDER BY c.table_oid, c.column_index`
  )
  const tables = Map.groupBy(columns, (row) => `${name(String(row["schema_name"]))}.${name(String(row["table_name"]))}`)
  const found: Array<Found> = []
  for (const [table, own] of tables) {
    const hits = own.flatMap((row) =>
      wanted.map(
        ({ text }) =>
          `bool_or(contains(lower(${name(String(row["column_name"]))}::VARCHAR), ${literal(text.toLowerCase())}))`
      )
    )
    const [row] = yield* warehouse.rows(
      `SELECT to_json([${hits.join(", ")}])::VARCHAR AS hits FROM ${name(database)}.${table}`
    )
    const answers = JSON.parse(String(row?.["hits"] ?? "[]")) as ReadonlyArray<boolean | null>
    for (const [index, hit] of answers.entries())
      if (hit === true) {
        const column = String(own[Math.floor(index / wanted.length)]!["column_name"])
        const place = database === "memory" ? `${shown} ${column}` : `${shown} ${table.replaceAll('"', "")}.${column}`
        found.push({ place, label: wanted[index % wanted.length]!.label, form: "value" })
      }
  }
  return found
})
