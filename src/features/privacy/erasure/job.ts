/**
 * An erasure that has begun. The file contains the identifiers of the person, so that a killed erasure can be completed after
 * the person can no longer be found; the end of the erasure removes it.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { readFile, rm } from "node:fs/promises"
import type { Failure } from "../../../values/failure.ts"
import { onDisk, writeDurably } from "../../../output/files.ts"
import type { Wanted } from "./needles.ts"
import type { Identifier } from "./suppression.ts"
import { outputPaths } from "../../../output/paths.ts"

export interface ErasureJob {
  /** Names the certificate; contains the time of the beginning. */
  readonly id: string
  readonly startedAt: string
  readonly reason: string
  readonly identifiers: ReadonlyArray<Identifier>
  /** What must not be found afterwards. */
  readonly texts: ReadonlyArray<Wanted>
  /** Recordings, relative to the output folder. */
  readonly files: ReadonlyArray<string>
  /** Rows that go, and rows that stay without the person, by table, as planned. */
  readonly rows: Readonly<Record<string, number>>
  readonly kept: Readonly<Record<string, number>>
}

export const jobPath = (output: string): string => outputPaths(output).erasure

export const readJob = (output: string): Effect.Effect<ErasureJob | undefined, Failure> => {
  const path = jobPath(output)
  return existsSync(path)
    ? onDisk(path, "read", async () => JSON.parse(await readFile(path, "utf8")) as ErasureJob)
    : Effect.succeed(undefined)
}

export const storeJob = (output: string, job: ErasureJob): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "written", () => writeDurably(jobPath(output), JSON.stringify(job)))

export const removeJob = (output: string): Effect.Effect<void, Failure> =>
  onDisk(jobPath(output), "removed", () => rm(jobPath(output), { force: true }))
