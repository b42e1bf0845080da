/** The measured figures as tables of Markdown. */
import { sum } from "./judge.ts"
import type { Measurements, Result } from "./series.ts"
import type { Tool } from "./tools.ts"

type Line = readonly [what: string, of: (measured: Measurements) => string]

export const tables = (contacts: number, found: ReadonlyArray<readonly [Tool, Measurements]>): string => {
  const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const table = (lines: ReadonlyArray<Line>) =>
    [
      row(["", ...found.map(([tool]) => tool.name)]),
      row(["---", ...found.map(() => "---")]),
      ...lines.map(([what, of]) => row([what, ...found.map(([, measured]) => of(measured))]))
    ].join("\n")
  const versions = [...new Set(found.map(([tool]) => `${tool.name.split(",")[0]}: ${tool.versions}`))]
  return `${contacts} contacts, on ${new Date().toISOString().slice(0, 10)}. ${versions.join("; ")}.

${table(lines)}
`
}

const lines: ReadonlyArray<Line> = [
  ["lists read", ({ first }) => String(first.lists)],
  ["**first load**: rows missing", ({ first }) => missing(first)],
  ["values wrong", ({ first }) => counted(first.wrong)],
  ["requests", ({ first }) => String(first.requests)],
  ["requests refused (429)", ({ first }) => String(first.refused)],
  ["seconds", ({ first }) => first.seconds.toFixed(0)],
  ["CPU, s", ({ first }) => first.cpuSeconds.toFixed(1)],
  ["memory of the largest process, MB", ({ first }) => first.peakMb.toFixed(0)],
  ["**1 % changed**: requests", ({ changes }) => String(changes.requests)],
  ["values old or wrong", ({ changes }) => counted(changes.wrong)],
  ["**1 % deleted**: requests", ({ deletions }) => String(deletions.requests)],
  ["deleted rows still there", ({ deletions }) => counted(deletions.extra)],
  ["**read while records come and go**: requests", ({ moving }) => String(moving.requests)],
  ["rows missing of those that stayed", ({ moving }) => missing(moving)],
  ["**killed at half**: requests repeated", ({ killed }) => `${killed.repeated} of ${killed.made}`],
  ["rows missing after the next run", ({ killed }) => missing(killed)],
  ...(["contacts", "invoices"] as const).flatMap((list): ReadonlyArray<Line> => [
    [`**an error with status 200** in ${list}: rows missing`, ({ errorBody }) => spoilt(errorBody, list)],
    [`**a page sent twice** in ${list}: rows missing`, ({ repeatedPage }) => spoilt(repeatedPage, list)]
  ])
]

/** With the exit code, because a run that stops and says so is another thing than one that does not. */
const missing = (result: Result) => `${counted(result.missing)}${result.code === 0 ? "" : `, exit code ${result.code}`}`

const spoilt = (results: Measurements["errorBody"], list: string) => {
  const result = results.find(([name]) => name === list)?.[1]
  if (result === undefined) return "not read"
  if (result.code !== 0) return `stops with exit code ${result.code}`
  return both(counted(result.missing), sum(result.duplicates) > 0 ? `twice: ${counted(result.duplicates)}` : "")
}

const counted = (counts: Readonly<Record<string, number>>) =>
  sum(counts) === 0
    ? "0"
    : Object.entries(counts)
        .map(([name, count]) => `${name} ${count}`)
        .join(", ")

const both = (...parts: ReadonlyArray<string>) => parts.filter((part) => part !== "").join("; ")
