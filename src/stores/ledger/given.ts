/** Where data was given away, as the ledger knows it: folders that are published into, and exports that left the output folder. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { ifMissing, onDisk } from "../../output/files.ts"
import { isBelow } from "../../output/remove.ts"
import { appendRecord, ledgerOf } from "./file.ts"
import { type LedgerRecord, recordOf } from "./record.ts"

/** A folder, or the address of object storage, outside of the output folder. */
export interface Place {
  /** The name of the target in the settings. */
  readonly name: string
  readonly folder: string
}

export interface GivenExport {
  /** ISO 8601. */
  readonly at: string
  readonly name: string
  /** Of an export about a person in the output folder; its `person.json` has it too. */
  readonly id: string | undefined
}

/** Records each place that the ledger does not name, before the first data goes there: so a crash hides no place. */
export const recordPlaces = Effect.fn("ledger.recordPlaces")(function* (output: string, places: ReadonlyArray<Place>) {
  const outside = places.filter(({ folder }) => /^\w+:\/\//.test(folder) || !isBelow(folder, resolve(output)))
  if (outside.length === 0) return
  const known = new Set(placesIn(yield* recordsOf(output)).map(({ folder }) => folder))
  const at = new Date(yield* Clock.currentTimeMillis).toISOString()
  for (const { folder, name } of outside.filter((one) => !known.has(one.folder)))
    yield* onDisk(ledgerOf(output), "written", () => appendRecord(output, at, "target", { name, folder }))
})

/** The places that ever received data, and the exports. */
export const givenTo = (output: string) =>
  Effect.map(recordsOf(output), (records) => ({
    places: placesIn(records),
    exports: records.flatMap(({ at, detail, kind }) =>
      kind === "export"
        ? [
            {
              at,
              name: String(detail["bundle"] ?? detail["file"] ?? detail["what"]),
              id: typeof detail["id"] === "string" ? detail["id"] : undefined
            }
          ]
        : []
    )
  }))

const placesIn = (records: ReadonlyArray<LedgerRecord>): ReadonlyArray<Place> =>
  records.flatMap(({ detail: { folder, name }, kind }) =>
    kind === "target" && typeof name === "string" && typeof folder === "string" ? [{ name, folder }] : []
  )

/** The records that can be read; none without a ledger. */
export const recordsOf = (output: string): Effect.Effect<ReadonlyArray<LedgerRecord>, Failure> =>
  onDisk(ledgerOf(output), "read", async () => {
    const text = await readFile(ledgerOf(output), "utf8").catch(ifMissing(""))
    return text.split("\n").flatMap((line) => recordOf(line) ?? [])
  })
