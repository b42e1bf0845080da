/**
 * `alarms.json` in the output folder: which alarms are open, so that each is reported once when it begins and once when it
 * ends.
 *
 *     absent    -> open       it is an alarm now: reported
 *     open      -> open       it still is, perhaps at another level: not reported again
 *     open      -> absent     it is none any more: reported as recovered
 *     absent    -> silenced   it is an alarm, and the settings silence it: not reported
 *     silenced  -> open       the silence has ended: reported
 *     silenced  -> absent     not reported
 *     open      -> silenced   not reported; when it ends, neither
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { writeAtomically } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"
import { levelWords } from "../values/finding.ts"
import { type Alarm, alarmKinds, nameOf } from "./alarms.ts"
import type { Silence } from "./silence.ts"

/** An alarm in the file, with the names that others read as well. */
export const WrittenAlarm = Schema.Struct({
  kind: Schema.Literals(alarmKinds),
  subject: Schema.optionalKey(Schema.String),
  level: Schema.Literals(["warning", "error"]),
  message: Schema.String,
  next: Schema.String,
  /** When it was seen first, epoch milliseconds. */
  since: Schema.Number,
  /** Why it is not reported; absent for one that was. */
  silenced: Schema.optionalKey(Schema.String)
})

export interface KnownAlarm extends Alarm {
  readonly since: number
  readonly silenced?: string
}

export const writtenOf = ({ kind, subject, level, what, next, since, silenced }: KnownAlarm) => ({
  kind,
  ...(subject !== undefined && { subject }),
  level: levelWords.alarms[level],
  message: what,
  next,
  since,
  ...(silenced !== undefined && { silenced })
})

const knownOf = ({ level, message, ...rest }: typeof WrittenAlarm.Type): KnownAlarm => ({
  ...rest,
  level: level === "error" ? "wrong" : level,
  where: nameOf(rest),
  what: message
})

const WrittenState = Schema.Struct({
  version: Schema.Literal(1),
  alarms: Schema.Array(WrittenAlarm),
  /** The free space of the disk in the last nights, oldest first. */
  free: Schema.Array(Schema.Struct({ at: Schema.Number, bytes: Schema.Number })),
  /** When the last digest was sent, epoch milliseconds. */
  digestAt: Schema.optionalKey(Schema.Number),
  /** Why the last run did nothing. */
  failed: Schema.optionalKey(
    Schema.Struct({ at: Schema.Number, exitCode: Schema.Int, message: Schema.String, next: Schema.String })
  )
})

export interface AlarmState extends Omit<typeof WrittenState.Type, "alarms"> {
  readonly alarms: ReadonlyArray<KnownAlarm>
}

const nothingKnown: AlarmState = { version: 1, alarms: [], free: [] }
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(WrittenState))

/** Nothing is known if the file is missing or cannot be read: open alarms are then reported once more. */
export const readState = async (folder: string): Promise<AlarmState> =>
  Option.match(decode(await readFile(outputPaths(folder).alarms, "utf8").catch(() => "")), {
    onNone: () => nothingKnown,
    onSome: (state) => ({ ...state, alarms: state.alarms.map(knownOf) })
  })

export const writeState = (folder: string, state: AlarmState): Promise<void> =>
  writeAtomically(
    outputPaths(folder).alarms,
    `${JSON.stringify({ ...state, alarms: state.alarms.map(writtenOf) }, null, 2)}\n`
  )

/** Removes the alarms that quote values of records; the next run raises those that are still due. */
export const forgetValues = async (folder: string): Promise<void> => {
  const state = await readState(folder)
  const alarms = state.alarms.filter(({ kind }) => kind !== "values")
  if (alarms.length < state.alarms.length) await writeState(folder, { ...state, alarms })
}

export type Changes = ReturnType<typeof changesOf>
export const changesOf = (
  known: ReadonlyArray<KnownAlarm>,
  alarms: ReadonlyArray<Alarm>,
  silences: ReadonlyArray<Silence>,
  now: number
) => {
  const before = new Map(known.map((one) => [one.where, one]))
  const next = alarms.map((alarm): KnownAlarm => {
    const silence = silences.find(
      ({ alarm: name, until }) => until > now && (name === alarm.where || name === alarm.kind)
    )
    const since = before.get(alarm.where)?.since ?? now
    return { ...alarm, since, ...(silence && { silenced: silence.reason }) }
  })
  const names = new Set(next.map(({ where }) => where))
  return {
    /** Every alarm there is, the silenced ones included. */
    alarms: next,
    /** To be reported now. */
    opened: next.filter((one) => {
      const earlier = before.get(one.where)
      return one.silenced === undefined && (earlier === undefined || earlier.silenced !== undefined)
    }),
    /** To be reported as recovered now. */
    recovered: known.filter((one) => one.silenced === undefined && !names.has(one.where))
  }
}

/** One sample of the free space each half day, for a month. */
export const withSample = (free: AlarmState["free"], sample: AlarmState["free"][number] | undefined) => {
  const last = free.at(-1)
  if (sample === undefined || (last !== undefined && sample.at - last.at < 12 * 3_600_000)) return free
  return [...free, sample].slice(-samplesMax)
}

const samplesMax = 30
