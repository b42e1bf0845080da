/** Clocks of the machine: one on which waiting takes a tenth of the time, for runs that mostly wait, and one that is wrong. */
import { Clock, Context, Duration, Effect } from "effect"

const factor = 10

/** `behindMs`: starts in the past, so that the run does not end in the future. */
export const acceleratedClock = (behindMs = 0): Context.Context<never> => acceleratedFrom(Date.now() - behindMs)

/** Starts at an instant, epoch milliseconds. */
export const acceleratedFrom = (startedAt: number): Context.Context<never> => {
  const started = performance.now()
  const elapsedMs = () => (performance.now() - started) * factor
  const millis = () => Math.floor(startedAt + elapsedMs())
  return clockOf(millis, () => BigInt(Math.floor(elapsedMs() * 1_000_000)), factor)
}

/** The machine's clock, wrong by some time. */
export const wrongClock = (aheadMs: number): Context.Context<never> =>
  clockOf(
    () => Date.now() + aheadMs,
    () => process.hrtime.bigint(),
    1
  )

const clockOf = (millis: () => number, monotonic: () => bigint, factor: number): Context.Context<never> => {
  const nanos = () => BigInt(millis()) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeNanosUnsafe: nanos,
    monotonicTimeNanosUnsafe: monotonic,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration) / factor)
        return Effect.sync(() => clearTimeout(timer))
      })
  }
  return Context.make(Clock.Clock, clock)
}
