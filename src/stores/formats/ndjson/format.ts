/** JSON Lines: an object for each row, with NULL as null. Timestamps have the same form as in CSV, and lists are lists. */
import { Effect, Stream } from "effect"
import { join } from "node:path"
import { appendTo, onDisk } from "../../../output/files.ts"
import { type StoredColumn, textOf } from "../../warehouse/content.ts"
import { partsOf, rowsOf } from "../../warehouse/parts.ts"
import { queryNumber } from "../../warehouse/query.ts"
import { literal, name } from "../../warehouse/sql.ts"
import { type Format, oneFile } from "../format.ts"

const fileOf = (table: string) => `${table}.ndjson`

export const format: Format = {
  fileOf,
  write: Effect.fnUntraced(function* (rows, folder) {
    const path = fileOf(rows.name)
    const target = join(folder, path)
    const parts = rows.wide ? yield* partsOf(rows, "crm") : [rows.from]
    const values = rows.columns.map((column) => `${valueOf(column)} AS ${name(column.name)}`)
    let count = 0
    for (const [index, part] of parts.entries()) {
      const file = index === 0 ? target : `${target}.part`
      count += yield* queryNumber(`COPY (SELECT ${values.join(", ")} FROM ${part}) TO ${literal(file)} (FORMAT json)`)
      if (index > 0) yield* onDisk(target, "written", () => appendTo(target, file))
    }
    return oneFile(path, rows.name)(count)
  }),
  text: (parts, columns) => {
    const members = columns.map((column) => `${literal(column.name)}, ${valueOf(column)}`)
    const objects = parts.map((part) => `(SELECT json_object(${members.join(", ")})::VARCHAR AS object FROM ${part})`)
    return Stream.mapArray(rowsOf(objects, [{ name: "object", type: "VARCHAR" }]), (some) => [
      some.map(([object]) => `${object}\n`).join("")
    ])
  }
}

const valueOf = (column: StoredColumn): string =>
  column.type.startsWith("TIMESTAMP") ? textOf(column) : name(column.name)
