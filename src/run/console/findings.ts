/** How the commands show what they found. */
import type { Finding, Level } from "../../values/finding.ts"

type Words = Readonly<Partial<Record<Level, string>>>

/** The words of the levels, by command. */
export const levelWords = {
  verify: { wrong: "WRONG", note: "note" },
  bundle: { wrong: "WRONG", notCompared: "not compared" }
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
