/** What is said when alarms begin or end: one message for all changes of a run or check. */
import type { KnownAlarm } from "../../../alarms/state.ts"
import type { Due } from "../../../alarms/notified.ts"
import { shownAlarm } from "../../../console/alarm-lines.ts"
import { levelWords, worstFirst } from "../../../values/finding.ts"

export interface Message {
  /** `alarm`: an alarm began, and others may have ended. `recovery`: alarms only ended. `digest`: how things stand. */
  readonly state: "alarm" | "recovery" | "digest"
  /** The worst of what began. */
  readonly level: "error" | "warning" | "ok"
  /** One line. */
  readonly title: string
  /** The title, and a line for each change. */
  readonly text: string
}

/** A line for each alarm, as messages have it. */
export const alarmLine = ({ level, where, what, next }: KnownAlarm): string =>
  `${levelWords.alarms[level]} ${where}: ${what}. Next: ${next}`

/** Further alarms of one message are counted. */
const shownMax = 10

/** `undefined` if nothing changed. `output`: the folder, which tells several outputs apart. */
export const messageOf = (
  { alarms, opened, recovered }: Due & { readonly alarms: ReadonlyArray<KnownAlarm> },
  output: string
): Message | undefined => {
  if (opened.length + recovered.length === 0) return undefined
  const [worst] = worstFirst(opened)
  const level = worst === undefined ? "ok" : levelWords.alarms[worst.level]
  const open = alarms.filter(({ silenced }) => silenced === undefined)
  const [first, ...others] = opened.length > 0 ? opened : recovered
  const where = `${first?.where}${others.length > 0 ? ` and ${others.length} more` : ""}`
  const title =
    opened.length > 0
      ? `sluice ${level}: ${where}`
      : `sluice recovered: ${where}${open.length > 0 ? `; ${open.length} still open` : ""}`
  const lines = [
    ...limited(opened, alarmLine),
    ...limited(recovered, ({ where, what }) => `recovered ${where}: ${what}`)
  ]
  return {
    state: opened.length > 0 ? "alarm" : "recovery",
    level,
    title,
    text: [`${title} (${output})`, ...lines].join("\n")
  }
}

export const limited = (
  alarms: ReadonlyArray<KnownAlarm>,
  line: (alarm: KnownAlarm) => string
): ReadonlyArray<string> => [
  ...alarms.slice(0, shownMax).map(line),
  ...(alarms.length > shownMax ? [`and ${alarms.length - shownMax} more; ./sluice check lists all`] : [])
]

/** The body of a template, or a JSON object. Values are escaped as in a JSON text, if the template is one. */
export const bodyOf = (message: Message, changes: Due, template?: string): string => {
  if (template === undefined)
    return JSON.stringify({
      schema: "sluice/alarms/1",
      ...message,
      opened: changes.opened.map(shownAlarm),
      recovered: changes.recovered.map(shownAlarm)
    })
  const isJson = /^\s*(\[|\{(?!\w+\}))/.test(template)
  return template.replaceAll(/\{(title|text|state|level)\}/g, (_, name: keyof Message) =>
    isJson ? JSON.stringify(message[name]).slice(1, -1) : message[name]
  )
}
