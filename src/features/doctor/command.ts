/** `sluice doctor`: finds what would stop a sync before one is tried. */
import { Effect } from "effect"
import { Api } from "../../stages/api/api.ts"
import { type Line, ok, problemOf } from "../../values/check-result.ts"
import { outputFolder, secretFile, versions } from "./environment.ts"
import { service } from "./service.ts"
import { warehouse } from "./warehouse.ts"
import { exitCodes } from "../../values/failure.ts"
import { SettingsError } from "../../settings/errors.ts"
import type { Flags } from "../../settings/read.ts"
import { policyProblems } from "../../settings/schema-policy.ts"
import { checkSettings } from "../../settings/settings.ts"
import { loadCatalogue } from "../../run/catalogue.ts"
import { Environment } from "../../values/environment.ts"
import { Output, table } from "../../run/console/output.ts"
import { onDisk } from "../../output/files.ts"
import { installed } from "../../values/installation.ts"
import { explained, failureExplanation } from "../../run/console/errors.ts"
import { printResult } from "../../run/result.ts"
import { settingsExplanation } from "../../run/console/setting-errors.ts"

/** What a look at files found; a file that cannot be read is a problem, and the other checks go on. */
const looked = (check: Line["check"], path: string, look: () => Promise<ReadonlyArray<Line>>) =>
  onDisk(path, "read", look).pipe(
    Effect.catch((error) => Effect.succeed([problemOf(check, failureExplanation(error))]))
  )

export const doctor = Effect.fn("cli.doctor")(function* (flags: Flags & { readonly json: boolean }) {
  const { keepSecret, print, say, withFlags } = yield* Output
  const { settings, problems, output, accounts } = checkSettings(flags, yield* Environment)
  accounts.flatMap(({ secrets }) => secrets).forEach(keepSecret)
  const catalogue = yield* loadCatalogue(output)
  const wrong = [...problems, ...policyProblems(output, catalogue)]
  const lines: Array<Line> = [
    ...(wrong.length === 0
      ? [ok("settings", `${settings.sources.length} settings, none of them missing, wrong or unknown`)]
      : wrong.map((one) => problemOf("settings", settingsExplanation(new SettingsError({ problems: [one] }))))),
    ...(settings.hasPlainSecret ? yield* looked("settings", settings.file, () => secretFile(settings.file)) : []),
    ...(yield* looked("versions", installed(""), () => versions()))
  ]
  if (settings.problems.length === 0) {
    lines.push(...(yield* looked("folder", output.folder, () => outputFolder(output.folder))))
    lines.push(...(yield* warehouse(output, settings.namedLocations, failureExplanation)))
  }
  if (problems.length === 0) {
    const where = accounts.length === 1 ? "" : ` for each of ${accounts.length} locations`
    say(`Checking the service with about 30 small requests${where} …`)
    const checked = yield* Effect.forEach(
      accounts,
      (account) =>
        service({ catalogue, account, explained: explained(account.location) }).pipe(
          Effect.map((found) => (accounts.length === 1 ? found : found.map(withLocation(account.location)))),
          Effect.provide(Api.layer(account.api))
        ),
      { concurrency: 4 }
    )
    lines.push(...checked.flat())
  }

  const ends = lines.find(({ state }) => state === "problem")?.ends
  const exitCode = ends === undefined ? 0 : exitCodes[ends]
  const left = lines.find(({ check }) => check === "locations")
  const next = ends === undefined ? (left?.todo ?? "./sluice sync") : "correct the problems above, then ./sluice doctor"
  const shown = settings.sources.map((source) => ({
    key: source.path,
    value: source.shown,
    from: [source.from, source.name].filter(Boolean).join(" ")
  }))
  if (flags.json) return yield* printResult("doctor", { exitCode, next, data: { lines, settings: shown } })
  const sorted = states.flatMap((state) => lines.filter((line) => line.state === state))
  const [head, ...rows] = table(
    ["state", "check", "what was found"],
    sorted.map(({ state, check, what }) => [state, check, what])
  )
  print(head!)
  for (const [index, row] of rows.entries()) {
    print(row)
    const { todo } = sorted[index]!
    if (todo !== undefined) print(`          ${withFlags(todo)}`)
  }
  print("")
  for (const line of table(
    ["setting", "value", "from"],
    shown.map(({ key, value, from }) => [key, value, from])
  ))
    print(line)
  say(`Next: ${next}`)
  return exitCode
})

const withLocation =
  (location: string) =>
  (line: Line): Line => ({ ...line, check: `${line.check} ${location}` })

/** In the order in which a reader needs them. */
const states = ["problem", "warning", "ok"] as const
