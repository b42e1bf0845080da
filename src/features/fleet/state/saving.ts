/** Keeps the folder of a location in a bucket: before, during and after the process that works in it. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { exitCodes } from "../../../values/failure.ts"
import type { Outcome } from "../child.ts"
import { patiently } from "../database.ts"
import { type Fence, setSnapshot } from "../fence.ts"
import type { Objects } from "./objects.ts"
import { type Session, openSession } from "./snapshot.ts"
import { messageOf } from "../../../values/thrown.ts"

class StateError extends Schema.TaggedError<StateError>()("StateError", { detail: Schema.String }) {}

/** A vault seals a segment for each 16 MB. A refresh token works once, so the next worker must have the newest. */
const saveEvery = "1 second"

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new StateError({ detail: messageOf(cause) }) })

/** Makes the folder ready, runs the work in it, and stores what it has done. Without the bucket, the run is tried again later. */
export const inBucket = (objects: Objects, fence: Fence, folder: string, work: Effect.Effect<Outcome>) =>
  Effect.gen(function* () {
    const session = yield* attempt(() => openSession(objects, fence.location, folder, fence.snapshot ?? undefined))
    const saving = save(fence, session, session.saveSealed).pipe(
      Effect.catchTag("StateError", ({ detail }) =>
        Effect.annotateLogs(Effect.logWarning("the bucket does not answer"), { location: fence.location, detail })
      ),
      // A snapshot that has begun ends before the next one begins.
      Effect.uninterruptible,
      Effect.repeat(Schedule.spaced(saveEvery))
    )
    const saver = yield* Effect.forkChild(saving)
    const outcome = yield* Effect.ensuring(work, Fiber.interrupt(saver))
    return yield* save(fence, session, session.saveAll).pipe(
      Effect.as(outcome),
      Effect.catchTag("StateError", (error) =>
        // A process that a signal ended has more to say than the bucket.
        Effect.succeed(outcome.exitCode === null ? outcome : { ...outcome, ...notStored(error) })
      )
    )
  }).pipe(Effect.catchTag("StateError", (error) => Effect.succeed(notStored(error))))

/** Stores a snapshot, unless the location has another owner now. */
const save = (fence: Fence, session: Session, take: () => Promise<string | undefined>) =>
  Effect.gen(function* () {
    const name = yield* attempt(take)
    if (name !== undefined && (yield* patiently(setSnapshot(fence, name)))) yield* attempt(session.commit)
  })

const notStored = ({ detail }: StateError): Outcome => ({
  exitCode: exitCodes.later,
  message: `The state of the location could not be read or stored: ${detail}`,
  isCutOff: false
})
