/** Holds: what must not be erased, because of a dispute or an audit. They come before erasure and retention. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { type Failure, failure } from "../../../values/failure.ts"
import { onDisk, readJson, writeDurably } from "../../../output/files.ts"
import { recordsOf } from "../../../stores/ledger/given.ts"
import { Hold } from "./hold.ts"
import type { Identifier } from "./job.ts"
import { outputPaths } from "../../../output/paths.ts"

const Holds = Schema.Struct({ version: Schema.Literal(1), holds: Schema.Array(Hold) })

const pathOf = (output: string): string => outputPaths(output).holds

/** The holds of an output folder. A file that cannot be read fails, because what it holds must not be erased. */
export const readHolds = (output: string): Effect.Effect<ReadonlyArray<Hold>, Failure> =>
  Effect.map(readJson(pathOf(output), Holds), (found) => found?.holds ?? [])

/** The holds that an erasure must respect. Fails if the file lost one that the ledger has. */
export const heldIn = Effect.fn("erasure.heldIn")(function* (output: string) {
  const holds = yield* readHolds(output)
  const known = new Set(holds.map(hashOf))
  for (const [id, sha256] of yield* openInLedger(output))
    if (!holds.some((hold) => hold.id === id) || (sha256 !== undefined && !known.has(sha256)))
      return yield* failure({
        _tag: "SafeguardLost",
        path: pathOf(output),
        detail: `the hold ${id} of the ledger is missing or was changed`,
        next: `Restore the file from a backup, or ./sluice hold release ${id}`
      })
  return holds
})

/** The holds that the ledger has and no release of which, by id, with the checksum of each; earlier versions wrote none. */
export const openInLedger = (output: string): Effect.Effect<ReadonlyMap<string, string | undefined>, Failure> =>
  Effect.map(recordsOf(output), (records) => {
    const open = new Map<string, string | undefined>()
    for (const { detail, kind } of records) {
      const id = String(detail["id"])
      if (kind === "hold") open.set(id, typeof detail["sha256"] === "string" ? detail["sha256"] : undefined)
      if (kind === "release") open.delete(id)
    }
    return open
  })

export const hashOf = ({ addedAt, by, contacts, id, reason, tables }: Hold): string =>
  createHash("sha256")
    .update(JSON.stringify([id, reason, by, addedAt, contacts, tables]))
    .digest("hex")

export const storeHolds = (output: string, holds: ReadonlyArray<Hold>): Effect.Effect<void, Failure> => {
  const path = pathOf(output)
  return onDisk(path, "written", () => writeDurably(path, `${JSON.stringify({ version: 1, holds }, null, 1)}\n`))
}

/** Whether a hold covers the records of a table as a whole. */
export const holdsTable = ({ tables }: Hold, table: string): boolean => tables.includes("*") || tables.includes(table)

/** The holds that cover something among these contacts and records. */
export const holdsOn = (holds: ReadonlyArray<Hold>, identifiers: ReadonlyArray<Identifier>): ReadonlyArray<Hold> =>
  holds.filter((hold) =>
    identifiers.some((listed) => {
      const one = listed.kind === "financial" ? listed.of : listed
      return one.kind === "contact"
        ? hold.contacts.includes(one.id) || hold.tables.includes("*")
        : one.kind === "record" && holdsTable(hold, one.table)
    })
  )
