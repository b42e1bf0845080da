/** How the commands show what they found. */
import { type Finding, type Level, worstFirst } from "../../values/finding.ts"
import { table } from "./output.ts"

type Words = Readonly<Partial<Record<Level, string>>>

/** The words of the levels, by command. */
export const levelWords = {
  verify: { wrong: "WRONG", note: "note" },
  bundle: { wrong: "WRONG", notCompared: "not compared" },
  doctor: { wrong: "problem", warning: "warning", ok: "ok" }
} as const satisfies Readonly<Record<string, Words>>

/** `WRONG  contacts: …`. The words of a command are as wide as its widest. */
export const findingLine = <Of extends Level>(
  { level, where, what }: Finding<Of>,
  words: Readonly<Record<Of, string>>,
  word = words[level]
): string => {
  const width = Math.max(...Object.values<string>(words).map(({ length }) => length))
  return `${word.padEnd(width + 1)} ${where}: ${what}`
}

/** The worst first; below each is what to do about it. */
export const findingTable = <Of extends Level>(
  findings: ReadonlyArray<Finding<Of>>,
  words: Readonly<Record<Of, string>>,
  withFlags: (next: string) => string
): ReadonlyArray<string> => {
  const sorted = worstFirst(findings)
  const [head, ...rows] = table(
    ["state", "check", "what was found"],
    sorted.map(({ level, where, what }) => [words[level], where, what])
  )
  return [
    head!,
    ...rows.flatMap((row, index) => {
      const { next } = sorted[index]!
      return next === undefined ? [row] : [row, `          ${withFlags(next)}`]
    })
  ]
}
