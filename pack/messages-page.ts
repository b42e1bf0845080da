/** docs/messages.md: every message with its cause and what to do, from the errors themselves. */
import type * as Schema from "effect/Schema"
import { failureExplanation, explained } from "../src/console/errors.ts"
import { problemSentence } from "../src/console/setting-errors.ts"
import { SettingFact, type SettingProblem } from "../src/settings/errors.ts"
import { BadCredentials, BudgetExhausted, Unavailable, WrongLocation } from "../src/stages/api/errors.ts"
import { type ExitKind, FailureReason, exitCodes, failure, headingOf } from "../src/values/failure.ts"
import { Reason, sentenceOf } from "../src/values/reason.ts"
import { messageCauses, reasonSteps, settingCauses } from "./messages-causes.ts"

type Cases = Readonly<Record<string, { readonly fields: Readonly<Record<string, Schema.Top>> }>>

/** A value of a field for the page: a text is the name of the field. */
const sampleOf = (name: string, { ast }: Schema.Top): unknown => {
  if (name in samples) return samples[name]
  switch (ast._tag) {
    case "Number":
      return ["at", "from", "to"].includes(name) ? time : 3
    case "Boolean":
      return false
    case "Arrays":
      return [`‹${name}›`]
    case "Literal":
      return ast.literal
    case "Union":
      return sampleOf(name, { ast: ast.types[0] } as Schema.Top)
    default:
      return `‹${name}›`
  }
}

const detail = { message: "‹what the service answered›" }
const time = Date.UTC(2026, 0, 31)
const samples: Readonly<Record<string, unknown>> = {
  detail,
  closest: undefined,
  dependent: undefined,
  dateField: undefined,
  example: null,
  denied: { path: "‹path›", owner: "‹owner›", user: "‹user›" },
  tables: [{ table: "‹table›", why: "‹why›" }],
  reasons: [{ _tag: "StrategyFailed", method: "GET", path: "/‹list›", detail }],
  folder: "/‹folder›",
  path: "/‹folder›/‹file›",
  unless: "‹setting›"
}

const sampleIn = (tag: string, cases: Cases, more: Readonly<Record<string, unknown>> = {}) => ({
  _tag: tag,
  ...Object.fromEntries(Object.entries(cases[tag]!.fields).map(([name, field]) => [name, sampleOf(name, field)])),
  ...more
})

const moreOf: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  FileFailed: { detail: "ENOSPC: no space left on device", operation: "written" },
  NoDateFilter: { tables: ["‹table›"] },
  WarehouseFormat: { found: 2 }
}

interface Entry {
  readonly heading: string
  readonly text: string
  readonly cause: string
  readonly steps: string
  readonly ends?: ExitKind
}

/** A field named `detail` is a text in an error that stops a command. */
const failures = Object.keys(FailureReason.cases).map((tag): Entry => {
  const fields = (FailureReason.cases as unknown as Cases)[tag]!.fields
  const texts = "detail" in fields ? { detail: "‹detail›" } : {}
  const reason = sampleIn(tag, FailureReason.cases as unknown as Cases, { ...texts, ...moreOf[tag] })
  const { ends, message, next } = failureExplanation(failure(reason as never))
  return {
    heading: headingOf(tag),
    text: message,
    cause: messageCauses[tag as FailureReason["_tag"]],
    steps: next,
    ends
  }
})

const account = { location: "‹location›", tokenName: "account.token" }
const services = [
  new BadCredentials({ kind: "private", ...detail }),
  new WrongLocation(detail),
  new BudgetExhausted({ ...detail, resumeAt: time }),
  new Unavailable({ ...detail, later: true })
].map((error): Entry => {
  const { ends, message, next } = explained(account)(error)
  return { heading: headingOf(error._tag), text: message, cause: messageCauses[error._tag], steps: next, ends }
})

const settings = Object.keys(SettingFact.cases).map((tag): Entry => {
  const what = sampleIn(tag, SettingFact.cases as unknown as Cases, { path: "‹setting›" })
  const text = problemSentence({ level: "wrong", where: "config/sluice.toml:3", what } as SettingProblem)
  const steps = "Correct this, and run the same command again."
  return { heading: headingOf(tag), text, cause: settingCauses[tag] ?? "", steps, ends: "config" }
})

const reasons = Object.keys(Reason.cases)
  .filter((tag) => tag !== "Text")
  .map((tag): Entry => {
    const reason = sampleIn(tag, Reason.cases as unknown as Cases) as Reason & { readonly _tag: "Text" }
    const [cause, steps] = reasonSteps[tag as Exclude<Reason["_tag"], "Text">]
    return { heading: headingOf(tag), text: sentenceOf(reason), cause, steps }
  })

/** The steps of an error may be a command. */
const stepText = (steps: string): string => (/^\.\/sluice [^.]*$/.test(steps) ? `Run \`${steps}\`.` : fullStop(steps))
const fullStop = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

/** No line is longer than the others of the pages. */
const wrapped = (text: string, width: number): string =>
  text
    .split(" ")
    .reduce<Array<string>>((lines, word) => {
      const last = lines.at(-1)
      if (last === undefined || last.length + word.length + 1 > width) lines.push(word)
      else lines[lines.length - 1] = `${last} ${word}`
      return lines
    }, [])
    .join("\n")

const entryText = ({ cause, ends, heading, steps, text }: Entry): string =>
  [
    `### ${heading}`,
    "```\n" + wrapped(text, 118) + "\n```",
    ...(cause === "" ? [] : [wrapped(cause, 118)]),
    wrapped(`**What to do:** ${stepText(steps)}${ends === undefined ? "" : ` Exit code ${exitCodes[ends]}.`}`, 118)
  ].join("\n\n")

const section = (title: string, lead: string, entries: ReadonlyArray<Entry>): string =>
  [`## ${title}`, wrapped(lead, 118), ...entries.map(entryText)].join("\n\n")

const byCode = `| exit code | what it means | first step |
| --------- | ------------- | ---------- |
| 0 | done | |
| 1 | failed | the line \`Next:\` |
| 2 | the command was typed in a way that it cannot mean | \`./sluice help\` and the name of the command |
| 3 | finished in part: some tables are not complete | \`./sluice status\` says which, and why |
| 4 | \`check\` found alarms | \`./sluice check\` |
| 11 | another command writes in this output folder | \`./sluice status\` shows its progress |
| 75 | the service allows or answers no more for now; what was read is kept | the same command later |
| 77 | the token is refused, or lacks a scope | [tokens and scopes](first-sync.md) |
| 78 | a setting is missing or wrong | \`./sluice config validate\` |
| 130, 143 | stopped by a signal; what was read is kept | the same command again |`

/** The whole page. */
export const messagesPage = (): string =>
  [
    "# I see this message",
    wrapped(
      "Each error ends with a line `Next:`, which is the step to take, and with the heading of this page that has more. This page is made of the errors themselves; what differs from case to case is in ‹ ›.",
      118
    ),
    "## By exit code",
    byCode,
    section("What stops a command", "After the step, run the same command again: a sync resumes where it stopped.", [
      ...services,
      ...failures
    ]),
    section(
      "Settings that are missing or wrong",
      "The message names the flag, the variable, or the file with its line. `./sluice config validate` reads the settings alone, and `config/example.toml` shows every one.",
      settings
    ),
    section(
      "Why a resource is not complete, or has a warning",
      "`./sluice sync` and `./sluice status` say this in the column `why`, and the report in its first lines. The rows that were read are stored.",
      reasons
    )
  ].join("\n\n")
