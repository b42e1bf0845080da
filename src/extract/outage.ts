/** Tells an API that is down from a resource that does not answer: the first ends the run for now, the second only itself. */
import { Deferred, Effect, Semaphore } from "effect"
import { Api } from "../api/api.ts"
import { Unavailable } from "../api/errors.ts"
import { bind, get, location } from "../catalog/request.ts"
import type { Failure } from "../failure.ts"

export interface Outage {
  /** The reading, until the API is found to be down. */
  readonly during: <A, E, R>(reading: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
  /** Whether it is the API that is down, where a resource had no answer. */
  readonly isBehind: (error: Unavailable, resource: string) => Effect.Effect<boolean, Failure, Api>
}

export const watchForOutage = Effect.fnUntraced(function* (id: string): Effect.fn.Return<Outage> {
  const down = yield* Deferred.make<void>()
  const one = yield* Semaphore.make(1)
  const message = "the API stopped answering"
  /** Whether another of the simplest requests there are is answered, whatever the answer. */
  const isAnswering = Effect.fnUntraced(function* (resource: string) {
    if (yield* Deferred.isDone(down)) return false
    const other =
      resource === "locations" ? get("/workflows/", { locationId: location }) : get("/locations/{locationId}")
    return yield* (yield* Api).send({ request: bind(other, { location: id }), priority: 0, resource }).pipe(
      Effect.as(true),
      Effect.catch((error) =>
        error._tag === "Failure" ? Effect.fail(error) : Effect.succeed(error._tag !== "Unavailable")
      )
    )
  }, one.withPermits(1))
  return {
    during: (reading) =>
      Effect.raceFirst(
        reading,
        Effect.andThen(Deferred.await(down), Effect.fail(new Unavailable({ message, later: true })))
      ),
    isBehind: Effect.fnUntraced(function* ({ later }, resource) {
      const isDown = later || !(yield* isAnswering(resource))
      if (isDown) yield* Deferred.succeed(down, undefined)
      return isDown
    })
  }
})
