/** Whether the API is down, which ends the run, or a single resource does not respond. */
import { Deferred, Effect, Semaphore } from "effect"
import { bind, get, location } from "../../catalog/request.ts"
import type { Failure } from "../../values/failure.ts"
import { Api } from "../api/api.ts"
import { Unavailable } from "../api/errors.ts"

/** Sends a simple request to another resource; any response shows that the API is up. */
export const isResponding = Effect.fnUntraced(function* (id: string, resource: string) {
  const other = resource === "locations" ? get("/workflows/", { locationId: location }) : get("/locations/{locationId}")
  return yield* (yield* Api)
    .send({ request: bind(other, { location: id }), pathTemplate: other.path, priority: 0, resource })
    .pipe(
      Effect.as(true),
      Effect.catch((error) =>
        error._tag === "Failure" ? Effect.fail(error) : Effect.succeed(error._tag !== "Unavailable")
      )
    )
})

/** Distinguishes an API that is down, which ends the run, from a single resource that does not respond. */
export interface Outage {
  /** Runs a reading and interrupts it if the API is found to be down. */
  readonly during: <A, E, R>(reading: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
  /** Whether a resource failed because the whole API is down. */
  readonly isCauseOf: (error: Unavailable, resource: string) => Effect.Effect<boolean, Failure, Api>
}

export const watchForOutage = Effect.fnUntraced(function* (id: string): Effect.fn.Return<Outage> {
  const down = yield* Deferred.make<void>()
  const oneProbe = yield* Semaphore.make(1)
  const message = "the API stopped responding"
  const responds = Effect.fnUntraced(function* (resource: string) {
    return !(yield* Deferred.isDone(down)) && (yield* isResponding(id, resource))
  }, oneProbe.withPermits(1))
  return {
    during: (reading) =>
      Effect.raceFirst(
        reading,
        Effect.andThen(Deferred.await(down), Effect.fail(new Unavailable({ message, later: true })))
      ),
    isCauseOf: Effect.fnUntraced(function* ({ later }, resource) {
      const isDown = later || !(yield* responds(resource))
      if (isDown) yield* Deferred.succeed(down, undefined)
      return isDown
    })
  }
})
