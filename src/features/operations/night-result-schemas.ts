/** The data of the results of night-commands.ts. */
import * as Schema from "effect/Schema"
import { alarmKinds } from "../../values/alarm.ts"

/** The files of a schedule, and where the scheduler expects each. */
const SchedulePrint = Schema.Struct({
  scheduler: Schema.Literals(["systemd", "cron", "k8s", "github", "launchd"]),
  timeZone: Schema.String,
  files: Schema.Array(Schema.Struct({ path: Schema.String, text: Schema.String }))
})

export const ShownAlarm = Schema.Struct({
  /** The name by which it is silenced: `freshness:contacts`. */
  alarm: Schema.String,
  kind: Schema.Literals(alarmKinds),
  /** What it is about, such as a table. */
  subject: Schema.optionalKey(Schema.String),
  level: Schema.Literals(["warning", "error"]),
  message: Schema.String,
  next: Schema.String,
  /** When it was seen first, ISO 8601. */
  since: Schema.String,
  /** Why it is not reported. */
  silenced: Schema.optionalKey(Schema.String)
})

const Check = Schema.Struct({
  /** What there was to compare; the volume of a reading, if it has enough nights. */
  compared: Schema.Struct({ syncs: Schema.Int, readings: Schema.Int, volumes: Schema.Int }),
  /** Those that count for the exit code come first. */
  alarms: Schema.Array(ShownAlarm),
  /** Alarms that began since the last check or run, by name. */
  opened: Schema.Array(Schema.String),
  /** Alarms that ended since then. */
  recovered: Schema.Array(Schema.String)
})

export const nightSchemas = { "schedule-print": SchedulePrint, check: Check }
