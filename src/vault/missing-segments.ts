/** Segments that are gone, told by the numbers of those that are there. */
import { Effect } from "effect"
import { type Failure, diskFailure } from "../failure.ts"
import { segmentsIn } from "./segments.ts"

export const missingSegments = (folder: string): Effect.Effect<ReadonlyArray<number>, Failure> =>
  Effect.tryPromise({
    try: async () => {
      const there = new Set((await segmentsIn(folder)).all)
      const last = Math.max(0, ...there)
      return Array.from({ length: last }, (_, index) => index + 1).filter((number) => !there.has(number))
    },
    catch: (cause) => diskFailure(`The vault in ${folder} could not be read`, cause)
  })
