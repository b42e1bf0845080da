/** File work whose failure is the disk's: names the file and what was tried. */
import { Effect } from "effect"
import { type Failure, diskFailure } from "../failure.ts"

/** `refusal` says which file could not be what, for example "x could not be written". */
export const onDisk = <A>(refusal: string, work: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({ try: work, catch: (cause) => diskFailure(refusal, cause) })
