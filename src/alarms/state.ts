/**
 * `alarms.json` in the output folder: which alarms are open, and of which each place was notified, so that each is reported
 * there once when it begins and once when it ends.
 *
 *     absent    -> open       it is an alarm now: reported, until the place has accepted it
 *     open      -> open       it still is, perhaps at another level: not reported again
 *     open      -> absent     it is none any more: reported as recovered, until the place has accepted it
 *     absent    -> silenced   it is an alarm, and the settings silence it: not reported
 *     silenced  -> open       the silence has ended: reported
 *     silenced  -> absent     not reported
 *     open      -> silenced   not reported; when it ends, neither
 */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
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

export const knownOf = ({ level, message, ...rest }: typeof WrittenAlarm.Type): KnownAlarm => ({
  ...rest,
  level: level === "error" ? "wrong" : level,
  where: nameOf(rest),
  what: message
})

/** What a place was notified of, such as the webhook. Moments are in epoch milliseconds. */
const NotifiedState = Schema.Struct({
  /** The alarms that it was sent and whose end it has not accepted yet. */
  alarms: Schema.Array(
    Schema.Struct({ ...WrittenAlarm.fields, sentAt: Schema.Number, acceptedAt: Schema.optionalKey(Schema.Number) })
  ),
  /** When it accepted the last digest, and since when another one is due that it has not accepted. */
  digestAt: Schema.optionalKey(Schema.Number),
  digestDue: Schema.optionalKey(Schema.Number),
  /** Since when it has accepted nothing, when it was asked last, and why. */
  refused: Schema.optionalKey(Schema.Struct({ since: Schema.Number, at: Schema.Number, problem: Schema.String }))
})
export type Notified = typeof NotifiedState.Type

export type Place = "webhook" | "mail"

const WrittenState = Schema.Struct({
  version: Schema.Literal(1),
  alarms: Schema.Array(WrittenAlarm),
  /** The free space of the disk in the last nights, oldest first. */
  free: Schema.Array(Schema.Struct({ at: Schema.Number, bytes: Schema.Number })),
  /** By place. */
  notified: Schema.optionalKey(Schema.Record(Schema.String, NotifiedState)),
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

/** One after the other, each from what the file has then: several places answer at the same time. */
let writing: Promise<unknown> = Promise.resolve()
export const changeState = (folder: string, change: (state: AlarmState) => AlarmState): Promise<void> => {
  const written = writing.then(async () => writeState(folder, change(await readState(folder))))
  writing = written.catch(() => {})
  return written
}

export const notifiedAt = ({ notified }: AlarmState, place: Place): Notified => notified?.[place] ?? { alarms: [] }

/** Removes the alarms that quote values of records; the next run raises those that are still due. */
export const forgetValues = async (folder: string): Promise<void> => {
  if (!existsSync(outputPaths(folder).alarms)) return
  const others = <One extends { readonly kind: string }>(alarms: ReadonlyArray<One>) =>
    alarms.filter(({ kind }) => kind !== "values")
  await changeState(folder, (state) => ({
    ...state,
    alarms: others(state.alarms),
    ...(state.notified && { notified: Record.map(state.notified, (one) => ({ ...one, alarms: others(one.alarms) })) })
  }))
}

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
