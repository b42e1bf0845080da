/** Finds missing segments: numbers without a file below the largest one. */
import type { Effect } from "effect"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { segmentsIn } from "./segments.ts"

export const missingSegments = (folder: string): Effect.Effect<ReadonlyArray<number>, Failure> =>
  onDisk(folder, "read", async () => {
    const existing = new Set((await segmentsIn(folder)).all)
    const last = Math.max(0, ...existing)
    return Array.from({ length: last }, (_, index) => index + 1).filter((number) => !existing.has(number))
  })
