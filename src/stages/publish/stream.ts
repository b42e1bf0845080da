/** Writes the rows of one table to a stream, such as stdout, as CSV, NDJSON or Parquet. */
import { Data, Effect, Stream } from "effect"
import { createReadStream } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Failure, fileFailure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { type StoredColumn, textOf } from "../../stores/warehouse/content.ts"
import { literal, name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { rowsOf } from "./chunks.ts"
import type { CsvRow } from "./columns.ts"
import { csvText } from "./csv.ts"
import { storedOrder } from "./snapshot.ts"

export interface Rows {
  /** The table or view, for messages. */
  readonly table: string
  /** FROM clauses that together return the rows, in order. */
  readonly parts: ReadonlyArray<string>
  readonly columns: ReadonlyArray<StoredColumn>
}

export type StreamFormat = "csv" | "csv-spreadsheet" | "ndjson" | "parquet"

/**
 * Holds a few thousand rows in memory at a time. Ends without an error when the reader closes the pipe (`| head`). Parquet
 * is written to a private temporary file first.
 */
export const writeRows = Effect.fn("publish.writeRows")(function* (
  rows: Rows,
  format: StreamFormat,
  out: NodeJS.WritableStream
): Effect.fn.Return<void, Failure, Warehouse> {
  // Node reports a closed pipe twice: to the write, and as an event that ends the process without a listener.
  out.on("error", () => {})
  const write = format === "parquet" ? writeParquet(rows, out) : writeText(rows, format, out)
  yield* write.pipe(
    storedOrder,
    Effect.catchTag("Unwritten", ({ cause }) =>
      closedPipe.has(cause.code ?? "") ? Effect.void : fileFailure(rows.table, "written", cause)
    )
  )
})

const writeText = (
  { parts, columns }: Rows,
  format: Exclude<StreamFormat, "parquet">,
  out: NodeJS.WritableStream
): Effect.Effect<void, Failure | Unwritten, Warehouse> => {
  if (format === "ndjson") {
    const objects = parts.map((part) => `(SELECT ${jsonOf(columns)} AS object FROM ${part})`)
    const lines = rowsOf(objects, [{ name: "object", type: "VARCHAR" }])
    return Stream.runForEachArray(lines, (some) => send(out, some.map(([line]) => `${line}\n`).join("")))
  }
  const { header, text } = csvText(columns, format === "csv" ? "machine" : "spreadsheet")
  return send(out, header).pipe(
    Effect.andThen(
      Stream.runForEachArray(rowsOf(parts, columns), (some: ReadonlyArray<CsvRow>) => send(out, text(some)))
    )
  )
}

/** SQL for a JSON object of the columns. Timestamps have the same form as in CSV. */
const jsonOf = (columns: ReadonlyArray<StoredColumn>): string =>
  `json_object(${columns
    .map(
      (column) => `${literal(column.name)}, ${column.type.startsWith("TIMESTAMP") ? textOf(column) : name(column.name)}`
    )
    .join(", ")})::VARCHAR`

const writeParquet = Effect.fnUntraced(function* ({ parts, columns }: Rows, out: NodeJS.WritableStream) {
  const warehouse = yield* Warehouse
  const select = parts.map((part) => `SELECT ${names(columns.map((column) => column.name))} FROM ${part}`)
  yield* Effect.acquireUseRelease(
    onDisk(tmpdir(), "written", () => mkdtemp(join(tmpdir(), "sluice-"))),
    (folder) => {
      const file = join(folder, "rows.parquet")
      return warehouse
        .run(`COPY (${select.join(" UNION ALL ")}) TO ${literal(file)} (FORMAT parquet, COMPRESSION zstd)`)
        .pipe(Effect.andThen(sendFile(out, file)))
    },
    (folder) => Effect.ignore(onDisk(folder, "removed", () => rm(folder, { recursive: true })))
  )
})

class Unwritten extends Data.TaggedError("Unwritten")<{ readonly cause: NodeJS.ErrnoException }> {}

const closedPipe: ReadonlySet<string> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END"
])

/** Ends when the reader has taken the data, so that a slow reader slows the query. */
const send = (out: NodeJS.WritableStream, data: string | Uint8Array) =>
  Effect.callback<void, Unwritten>((resume) => {
    out.write(data, (cause) => resume(cause ? new Unwritten({ cause }) : Effect.void))
  })

const sendFile = (out: NodeJS.WritableStream, file: string) =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(createReadStream(file), (cause) => fileFailure(file, "read", cause))
  ).pipe(Stream.runForEach((chunk: Uint8Array) => send(out, chunk)))
