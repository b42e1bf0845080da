/** How long something takes. The clock of the machine may be set meanwhile, and that of a run is the service's once it is known. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const monotonicMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** Starts; the effect that it returns has the milliseconds since then, by a clock that nobody sets. */
export const stopwatch: Effect.Effect<Effect.Effect<number>> = Effect.map(monotonicMs, (begun) =>
  Effect.map(monotonicMs, (now) => now - begun)
)
