/**
 * An erasure that has begun. The file contains the identifiers of the person, so that a killed erasure can be completed after
 * the person can no longer be found; the end of the erasure removes it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rm } from "node:fs/promises"
import type { Failure } from "../../../values/failure.ts"
import { onDisk, readJson, writeDurably } from "../../../output/files.ts"
import { outputPaths } from "../../../output/paths.ts"
import { counted } from "../../../values/finding.ts"

const RecordKey = Schema.Struct({
  kind: Schema.Literal("record"),
  table: Schema.String,
  location: Schema.String,
  key: Schema.String
})
export type RecordKey = typeof RecordKey.Type

/** What may be on the list of erased people: a contact, an address, or a record by its table and key. */
const ListedAs = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("contact"), location: Schema.String, id: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("address"), value: Schema.String }),
  RecordKey
])
export type ListedAs = typeof ListedAs.Type

/** Whom and what an erasure concerns. */
export const Identifier = Schema.Union([
  ListedAs,
  /** Financial records of this contact or address, or this financial record, are kept without the person. */
  Schema.Struct({ kind: Schema.Literal("financial"), of: ListedAs })
])
export type Identifier = typeof Identifier.Type

/** The records that go, and those that stay without the person. */
export const recordsIn = (
  identifiers: ReadonlyArray<Identifier>
): { readonly removed: ReadonlyArray<RecordKey>; readonly kept: ReadonlyArray<RecordKey> } => ({
  removed: identifiers.filter((one) => one.kind === "record"),
  kept: identifiers.flatMap((one) => (one.kind === "financial" && one.of.kind === "record" ? [one.of] : []))
})

const Counts = Schema.Record(Schema.String, Schema.Number)

/** Records that stay because a rule could not judge them: it says nothing of what it does not know. */
export const Unjudged = Schema.Struct({
  table: Schema.String,
  /**
   * Of a rule by age: there is no time, it cannot be read, it is not past yet, or the record became no row. Of one by address:
   * the contact may be the person, or has an address in common with the person.
   */
  why: Schema.Literals(["missing", "unreadable", "future", "rejected", "possible", "shared"]),
  records: Schema.Int
})
export type Unjudged = typeof Unjudged.Type

const reasons = {
  missing: "without a time at which they were made",
  unreadable: "with a time that cannot be read",
  future: "with a time that is not past yet",
  rejected: "that became no row, so that nobody knows their time",
  possible: "that are possibly the person",
  shared: "that share an address with the person"
} as const satisfies Readonly<Record<Unjudged["why"], string>>

export const unjudgedText = ({ records, table, why }: Unjudged): string =>
  `${table}: ${counted(records, "record")} ${reasons[why]} ${records === 1 ? "stays" : "stay"}.`

const ErasureJob = Schema.Struct({
  /** Names the certificate; contains the time of the beginning. */
  id: Schema.String,
  startedAt: Schema.String,
  reason: Schema.String,
  identifiers: Schema.Array(Identifier),
  /** What must not be found afterwards. */
  texts: Schema.Array(Schema.Struct({ label: Schema.String, text: Schema.String })),
  /** Files of the records, relative to the output folder. */
  files: Schema.Array(Schema.String),
  /** Rows that go, with their earlier versions, and rows that stay without the person, by table, as planned. */
  rows: Counts,
  kept: Counts,
  /** Absent in a job of an earlier version. */
  unjudged: Schema.optionalKey(Schema.Array(Unjudged))
})
export type ErasureJob = typeof ErasureJob.Type
/** What an erasure would remove. */
export type ErasurePlan = Omit<ErasureJob, "id" | "startedAt" | "reason">

export const jobOf = (plan: ErasurePlan, reason: string, startedAt: string): ErasureJob => ({
  id: startedAt.replaceAll(/[-:.]/g, ""),
  startedAt,
  reason,
  ...plan
})

export const jobPath = (output: string): string => outputPaths(output).erasure

export const readJob = (output: string): Effect.Effect<ErasureJob | undefined, Failure> =>
  readJson(jobPath(output), ErasureJob)

export const storeJob = (output: string, job: ErasureJob): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "written", () => writeDurably(jobPath(output), JSON.stringify(job)))

export const removeJob = (output: string): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "removed", () => rm(jobPath(output), { force: true }))
