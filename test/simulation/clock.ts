/**
 * A clock that stands still while anything is in progress, and then jumps to the next time that a fiber waits for. A week
 * passes in milliseconds, and the order of events does not depend on the load of the machine.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

export class VirtualClock implements Clock.Clock {
  /** Milliseconds since the beginning, which a change of the clock does not affect. */
  elapsed = 0
  /** How long the machine has slept, of `elapsed`. */
  slept = 0
  /** How far the local clock is ahead of the service's clock, in milliseconds. */
  ahead = 0
  private readonly epoch: number
  private alarms: Array<Alarm> = []

  constructor(epoch: number) {
    this.epoch = epoch
  }

  /** The time of a correct clock. */
  now(): number {
    return Math.floor(this.epoch + this.elapsed)
  }

  sleepAll(milliseconds: number): void {
    this.elapsed += milliseconds
    this.slept += milliseconds
  }

  /** Calls `ring` after a time; the returned function cancels the alarm. */
  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { at: this.elapsed + Math.max(0, milliseconds), ring }
    const later = this.alarms.findIndex(({ at }) => at > alarm.at)
    this.alarms.splice(later < 0 ? this.alarms.length : later, 0, alarm)
    return () => {
      const place = this.alarms.indexOf(alarm)
      if (place >= 0) this.alarms.splice(place, 1)
    }
  }

  /** Advances to the next alarm; false if there is none. */
  next(): boolean {
    const alarm = this.alarms.shift()
    if (!alarm) return false
    this.elapsed = Math.max(this.elapsed, alarm.at)
    alarm.ring()
    return true
  }

  currentTimeMillisUnsafe(): number {
    return this.now() + this.ahead
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.currentTimeMillisUnsafe()) * 1_000_000n
  }
  monotonicTimeNanosUnsafe(): bigint {
    return BigInt(Math.floor(this.elapsed * 1_000_000))
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const cancel = this.after(Duration.toMillis(duration), () => resume(Effect.void))
      return Effect.sync(cancel)
    })
  }
}

/** Tracks whether anything is in progress in this process: a fiber that can continue, a file, a statement. */
export class Activity {
  private fibers = 0
  private outside = 0
  private onIdle = () => {}
  readonly scheduler = new Scheduler.MixedScheduler("async", (task) => {
    this.fibers++
    let isCounted = true
    const done = () => {
      if (isCounted) this.fibers--
      isCounted = false
    }
    const immediate = setImmediate(() => {
      done()
      task()
    })
    return () => {
      clearImmediate(immediate)
      done()
    }
  })

  /** Time stands still while the effect runs. */
  during<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => Effect.ensuring(effect, Effect.sync(this.begin())))
  }

  /** Time stands still until the returned function is called. */
  begin(): () => void {
    this.outside++
    return () => {
      if (--this.outside === 0) this.onIdle()
    }
  }

  /** Time passes until the promise is kept, although an effect runs: the effect waits for it. */
  async passing(wait: Promise<void>): Promise<void> {
    // What the vault compresses beside a run holds no time.
    if (this.outside === 0) return wait
    if (--this.outside === 0) this.onIdle()
    await wait
    this.outside++
  }

  /** Returns when nothing is in progress. */
  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      // Waiting instead of polling leaves the processor to the database.
      if (this.outside > 0) await new Promise<void>((resolve) => (this.onIdle = resolve))
      await new Promise(setImmediate)
      const idle = this.fibers === 0 && this.outside === 0 && !process.getActiveResourcesInfo().some(isWork)
      quiet = idle ? quiet + 1 : 0
    }
  }
}

/** File operations outside of `during`. */
const isWork = (resource: string) => resource.startsWith("FSReq") || resource === "CloseReq"
