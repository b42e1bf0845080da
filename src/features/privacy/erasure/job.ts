/**
 * An erasure that has begun. The file contains the identifiers of the person, so that a killed erasure can be completed after
 * the person can no longer be found; the end of the erasure removes it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rm } from "node:fs/promises"
import type { Failure } from "../../../values/failure.ts"
import { onDisk, writeDurably } from "../../../output/files.ts"
import { readJson } from "../../../output/json-file.ts"
import { outputPaths } from "../../../output/paths.ts"
import { Identifier } from "./identifier.ts"

const Counts = Schema.Record(Schema.String, Schema.Number)

const ErasureJob = Schema.Struct({
  /** Names the certificate; contains the time of the beginning. */
  id: Schema.String,
  startedAt: Schema.String,
  reason: Schema.String,
  identifiers: Schema.Array(Identifier),
  /** What must not be found afterwards. */
  texts: Schema.Array(Schema.Struct({ label: Schema.String, text: Schema.String })),
  /** Recordings, relative to the output folder. */
  files: Schema.Array(Schema.String),
  /** Rows that go, and rows that stay without the person, by table, as planned. */
  rows: Counts,
  kept: Counts
})
export type ErasureJob = typeof ErasureJob.Type

export const jobPath = (output: string): string => outputPaths(output).erasure

export const readJob = (output: string): Effect.Effect<ErasureJob | undefined, Failure> =>
  readJson(jobPath(output), ErasureJob)

export const storeJob = (output: string, job: ErasureJob): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "written", () => writeDurably(jobPath(output), JSON.stringify(job)))

export const removeJob = (output: string): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "removed", () => rm(jobPath(output), { force: true }))
