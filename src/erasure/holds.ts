/** Holds: what must not be erased, because of a dispute or an audit. They come before erasure and retention. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import { onDisk, writeDurably } from "../io/files.ts"
import type { Identifier } from "./suppression.ts"

export const Hold = Schema.Struct({
  id: Schema.String,
  reason: Schema.String,
  /** Who set it. */
  by: Schema.String,
  addedAt: Schema.String,
  /** Ids of contacts whose records are held. */
  contacts: Schema.Array(Schema.String),
  /** Tables of records that are held; with `*`, all are. */
  tables: Schema.Array(Schema.String)
})
export type Hold = typeof Hold.Type

const Holds = Schema.Struct({ version: Schema.Literal(1), holds: Schema.Array(Hold) })
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Holds))

const pathOf = (output: string): string => join(output, "holds.json")

/** The holds of an output folder. A file that cannot be read fails, because what it holds must not be erased. */
export const readHolds = (output: string): Effect.Effect<ReadonlyArray<Hold>, Failure> => {
  const path = pathOf(output)
  return existsSync(path)
    ? onDisk(path, "read", async () => decode(await readFile(path, "utf8")).holds)
    : Effect.succeed([])
}

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
