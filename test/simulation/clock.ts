/**
 * Time that stands still while anything is under way, and then jumps to the next moment somebody waits for. A week
 * passes in milliseconds, and everything happens in one order, however busy the machine is.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

export class VirtualClock implements Clock.Clock {
  /** Milliseconds since the beginning: what no one can set. */
  elapsed = 0
  /** What our own clock shows beyond the service's, milliseconds. */
  ahead = 0
  private readonly epoch: number
  private alarms: Array<Alarm> = []

  constructor(epoch: number) {
    this.epoch = epoch
  }

  /** What a right clock shows. */
  now(): number {
    return Math.floor(this.epoch + this.elapsed)
  }

  /** Rings after a while; the answer takes it back. */
  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { at: this.elapsed + Math.max(0, milliseconds), ring }
    const later = this.alarms.findIndex(({ at }) => at > alarm.at)
    this.alarms.splice(later < 0 ? this.alarms.length : later, 0, alarm)
    return () => {
      const place = this.alarms.indexOf(alarm)
      if (place >= 0) this.alarms.splice(place, 1)
    }
  }

  /** Goes on to the next alarm; false where there is none. */
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

/** Knows whether something is under way in this process: a fiber that can go on, a file, a statement. */
export class Activity {
  private fibers = 0
  private outside = 0
  private cameBack = () => {}
  readonly scheduler = new Scheduler.MixedScheduler("async", (task) => {
    this.fibers++
    let left = true
    const done = () => {
      if (left) this.fibers--
      left = false
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

  /** While this runs, time stands still. */
  during<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.outside++
      return Effect.ensuring(
        effect,
        Effect.sync(() => {
          if (--this.outside === 0) this.cameBack()
        })
      )
    })
  }

  /** Returns when there is nothing to do at this instant. */
  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      // Not asking again and again leaves the processor to the database.
      if (this.outside > 0) await new Promise<void>((resolve) => (this.cameBack = resolve))
      await new Promise(setImmediate)
      const idle = this.fibers === 0 && this.outside === 0 && !process.getActiveResourcesInfo().some(isWork)
      quiet = idle ? quiet + 1 : 0
    }
  }
}

/** Files that are read or written by parts nobody watches. */
const isWork = (resource: string) => resource.startsWith("FSReq") || resource === "CloseReq"
