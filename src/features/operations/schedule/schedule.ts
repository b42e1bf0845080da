/** What the files of a schedule have in common: when to run, what to run, and where. */
import * as DateTime from "effect/DateTime"
import { dayMs } from "../../../catalog/timestamps.ts"

export interface Schedule {
  readonly hour: number
  readonly minute: number
  /** IANA name: Europe/Berlin. */
  readonly timeZone: string
  /** Absolute path of the command. */
  readonly program: string
  /** Absolute path of the folder with `config/`, from which relative paths count. */
  readonly folder: string
  /** Absolute path of the output folder. */
  readonly output: string
  readonly user: string
  /** The flags that name the settings file and the output. */
  readonly flags: ReadonlyArray<string>
}

const minuteMs = 60_000

/** Minutes that the time zone is ahead of UTC at an instant. */
export const offsetAt = (timeZone: string, instant: number): number =>
  DateTime.zonedOffset(DateTime.makeZonedUnsafe(instant, { timeZone })) / minuteMs

/** Every offset that the time zone has in the year after an instant, in minutes. */
export const offsetsOf = (timeZone: string, from: number): ReadonlyArray<number> => [
  ...new Set(Array.from({ length: 366 }, (_, day) => offsetAt(timeZone, from + day * dayMs)))
]

/** Days of the next year, as `2027-03-28`, on which the clock skips the time or shows it twice. */
export const oddDays = (
  { hour, minute, timeZone }: Pick<Schedule, "hour" | "minute" | "timeZone">,
  from: number
): ReadonlyArray<{ readonly day: string; readonly times: 0 | 2 }> => {
  const begin = Math.floor(from / dayMs) * dayMs
  return Array.from({ length: 366 }, (_, index) => begin + index * dayMs).flatMap((midnight) => {
    const wanted = midnight + (60 * hour + minute) * minuteMs
    // The offsets around the time are the only ones that it can have.
    const offsets = new Set([-dayMs, dayMs].map((shift) => offsetAt(timeZone, wanted + shift)))
    const instants = [...offsets]
      .map((offset) => [wanted - offset * minuteMs, offset] as const)
      .filter(([instant, offset]) => offsetAt(timeZone, instant) === offset)
    return instants.length === 1
      ? []
      : [{ day: new Date(midnight).toISOString().slice(0, 10), times: instants.length === 0 ? 0 : 2 } as const]
  })
}
