/** JSON Lines: an object for each row, with NULL as null. Timestamps have the same form as in CSV, and lists are lists. */
import { Effect } from "effect"
import { appendTo, onDisk } from "../../../output/files.ts"
import { type StoredColumn, textOf } from "../../warehouse/content.ts"
import { partsOf } from "../../warehouse/parts.ts"
import { queryNumber } from "../../warehouse/query.ts"
import { literal, name } from "../../warehouse/sql.ts"
import type { Format } from "../format.ts"

const copyJson = (part: string, columns: ReadonlyArray<StoredColumn>, path: string) => {
  const values = columns.map((column) => `${valueOf(column)} AS ${name(column.name)}`)
  return queryNumber(`COPY (SELECT ${values.join(", ")} FROM ${part}) TO ${literal(path)} (FORMAT json)`)
}

export const format: Format = {
  fileOf: (table) => `${table}.ndjson`,
  write: Effect.fnUntraced(function* (rows, target) {
    const parts = rows.wide ? yield* partsOf(rows, "crm") : [rows.from]
    let count = 0
    for (const [index, part] of parts.entries()) {
      const file = index === 0 ? target : `${target}.part`
      count += yield* copyJson(part, rows.columns, file)
      if (index > 0) yield* onDisk(target, "written", () => appendTo(target, file))
    }
    return count
  }),
  writePart: copyJson
}

const valueOf = (column: StoredColumn): string =>
  column.type.startsWith("TIMESTAMP") ? textOf(column) : name(column.name)
