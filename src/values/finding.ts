/** What the checks find: of an output, a bundle, the machine, the settings, the models, and alarms. */
import type { Failure } from "./failure.ts"

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

/** The results of the checks of `verify`. */
export type VerifyFinding = Finding<"wrong" | "note">

/** The copy that a check examines; it decides which command repairs it. `rights`: this user may not examine it. */
export const partNames = ["rights", "vault", "warehouse", "published", "lake", "database", "files", "service"] as const
export type Part = (typeof partNames)[number]

/** What a check returns. */
export interface Looked {
  /** How much was checked, in words. */
  readonly looked: string
  readonly findings: ReadonlyArray<VerifyFinding>
}

export const compared = (looked: string, findings: Looked["findings"] = []): Looked => ({ looked, findings })

export interface Checked extends Looked {
  readonly part: Part
  readonly check: string
}

export const isWrong = ({ findings }: Checked): boolean => findings.some(({ level }) => level === "wrong")

/** The failure that stopped a check, in words. */
export const failureText = ({ reason, message }: Failure): string =>
  reason._tag === "WarehouseDamaged" ? `it is damaged: ${message}` : message
