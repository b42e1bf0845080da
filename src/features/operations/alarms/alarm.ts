/** What an alarm is. */

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
