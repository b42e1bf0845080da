/** What an alarm is, and what the settings say about alarms. */

export const alarmKinds = [
  "sync",
  "freshness",
  "volume",
  "rejects",
  "models",
  "requests",
  "budget",
  "disk",
  "token",
  "schema",
  "values"
] as const
export type AlarmKind = (typeof alarmKinds)[number]

export type Level = "warning" | "error"

export interface Alarm {
  readonly kind: AlarmKind
  /** What it is about, such as a table; absent if the kind says it. */
  readonly subject?: string
  readonly level: Level
  /** One sentence with the figures and the limit, without a full stop. */
  readonly message: string
  /** A command to type, or something to do. */
  readonly next: string
}

/** The name by which an alarm is silenced and remembered: `freshness:contacts`, `disk`. */
export const keyOf = ({ kind, subject }: Pick<Alarm, "kind" | "subject">): string =>
  subject === undefined ? kind : `${kind}:${subject}`

export interface VolumeLimits {
  /** How many nights it is compared with. */
  readonly nights: number
  /** How many standard deviations are unusual. */
  readonly sensitivity: number
  /** Differences of fewer rows are ignored. */
  readonly minRows: number
}

/** When something becomes an alarm. Times in milliseconds. */
export interface AlarmLimits {
  readonly warnAfter: number
  readonly errorAfter: number
  readonly volume: VolumeLimits
  /** Share of the records. */
  readonly rejectShare: number
  /** How many times the planned requests. */
  readonly requestFactor: number
  /** Requests that the service allows per day, less the reserve for others. */
  readonly requestsPerDay: number
  readonly diskDays: number
  readonly diskFreeMin: number
  readonly tokenDays: number
  /** When the token expires, epoch milliseconds. */
  readonly tokenExpires: number | undefined
}

/** An alarm that is not reported: a key, or a kind for all its alarms. */
export interface Silence {
  readonly alarm: string
  readonly reason: string
  /** Epoch milliseconds. */
  readonly until: number
}
