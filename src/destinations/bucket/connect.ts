/** Opens the bucket of a target; its errors are failures that name the target. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { BucketDestination } from "./settings.ts"
import { type Requests, BucketError, openBucket } from "../../stores/objects/bucket.ts"
import { type Failure, failure } from "../../values/failure.ts"

const outageMsMax = 15_000

export interface Connected {
  readonly requests: Requests
  readonly attempt: <A>(run: () => Promise<A>) => Effect.Effect<A, Failure>
}

export const connect = Effect.fn("bucket.connect")(function* (target: string, { access }: BucketDestination) {
  const failed = (detail: string) => failure({ _tag: "DestinationFailed", target, detail })
  const attempt: Connected["attempt"] = (run) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => failed(cause instanceof BucketError ? cause.message : String(cause))
    })
  const read = access()
  if (Result.isFailure(read)) return yield* failed(read.failure.what.cause)
  // An interrupted command waits for no request.
  const stopping = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const requests = yield* attempt(() => openBucket(read.success, { outageMsMax, signal: stopping.signal }))
  return { requests, attempt } satisfies Connected
})
