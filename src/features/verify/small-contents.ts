/**
 * The contents of relations that should have few rows, by FROM clause: planning the checksum of each takes longer than reading
 * all of them. Those that cannot be read together, or have more rows, are left to a statement each.
 */
import { Effect } from "effect"
import { type Content, type Summed, contentOfTexts, forEachRowOf, jsonOfRow } from "../../stores/warehouse/content.ts"

export const smallContents = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>) {
  const small = relations.map((one) => ({ ...one, rows: 0, sum: 0n }))
  const contents = new Map<string, Content>()
  for (let first = 0; first < small.length; first += relationsMax) {
    const some = small.slice(first, first + relationsMax)
    const isRead = yield* forEachRowOf(
      some.map(({ columns, from, text }) =>
        columns.length === 0
          ? { row: "NULL::VARCHAR", from: `${from} LIMIT 1` }
          : { row: jsonOfRow(columns, text), from: `${from} LIMIT ${rowsMax + 1}` }
      ),
      (place, row) => {
        const one = some[place]!
        one.rows += row === null ? rowsMax + 1 : 1
        if (row !== null) one.sum += BigInt(contentOfTexts(one.columns, [row]).sum)
      }
    ).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )
    for (const { from, rows, sum } of isRead ? some : [])
      if (rows <= rowsMax) contents.set(from, { rows, sum: String(sum) })
  }
  return contents
})

export const rowsMax = 250
/** Bounds the memory for the plan of a statement. */
const relationsMax = 50
