/** What the checks find: of an output, a bundle, the machine, the settings, the models, and alarms. */

/** From the worst to the best. */
const levels = ["wrong", "notCompared", "warning", "note", "ok"] as const
export type Level = (typeof levels)[number]

/** The words that each command has for them; those of alarms and of `doctor` are also in results. */
export const levelWords = {
  verify: { wrong: "WRONG", note: "note" },
  bundle: { wrong: "WRONG", notCompared: "not compared" },
  doctor: { wrong: "problem", warning: "warning", ok: "ok" },
  alarms: { wrong: "error", warning: "warning" }
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<Level, string>>>>>

/** A check extends it with facts of its own. */
export interface Finding<Of extends Level = Level, What = string> {
  /** A note does not fail the command. */
  readonly level: Of
  /** A file, a table, a setting, or the subject of a check. */
  readonly where: string
  /** A text, or the facts of which one is made. */
  readonly what: What
  /** A command to type, or something to do. */
  readonly next?: string
}

const finding =
  <const Of extends Level>(level: Of) =>
  <const What>(where: string, what: What, next?: string): Finding<Of, What> => ({
    level,
    where,
    what,
    ...(next !== undefined && { next })
  })

export const wrong = finding("wrong")
export const notCompared = finding("notCompared")
export const warning = finding("warning")
export const note = finding("note")
export const ok = finding("ok")

/** The worst first; equal ones in their order. */
export const worstFirst = <One extends { readonly level: Level }>(findings: ReadonlyArray<One>): ReadonlyArray<One> =>
  findings.toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))

/** A number with its noun, for people. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`
