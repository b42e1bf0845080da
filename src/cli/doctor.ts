/** `sluice doctor`: finds what would stop a sync before one is tried. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import { type Catalogue, discover } from "../catalog/discover.ts"
import { type Line, ok, problemOf } from "../doctor/check-result.ts"
import { outputFolder, versions } from "../doctor/environment.ts"
import { service } from "../doctor/service.ts"
import { warehouse } from "../doctor/warehouse.ts"
import { exitCodes } from "../failure.ts"
import { type SettingProblem, SettingsError } from "../settings/errors.ts"
import type { Flags } from "../settings/read.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import { type SchemaSettings, inspectSettings } from "../settings/settings.ts"
import { Environment } from "./environment.ts"
import { Output, table } from "./output.ts"
import { explained, failureExplanation } from "./errors.ts"
import { printResult } from "./result.ts"
import { settingsExplanation } from "./setting-errors.ts"

export const doctor = Effect.fn("cli.doctor")(function* (flags: Flags & { readonly json: boolean }) {
  const { keepSecret, print, say } = yield* Output
  const { sources, problems, output, account } = inspectSettings(flags, yield* Environment)
  account?.secrets.forEach(keepSecret)
  const catalogue = yield* Effect.promise(() => discover())
  const wrong = [...problems, ...(output ? yield* problemsOfPolicies(output, catalogue) : [])]
  const lines: Array<Line> = [
    ...(wrong.length === 0
      ? [ok("settings", `${sources.length} settings, none of them missing, wrong or unknown`)]
      : wrong.map((one) => problemOf("settings", settingsExplanation(new SettingsError({ problems: [one] }))))),
    ...(yield* Effect.promise(() => versions()))
  ]
  if (output) {
    lines.push(...(yield* Effect.promise(() => outputFolder(output.folder))))
    lines.push(...(yield* warehouse(output, failureExplanation)))
  }
  if (account) {
    say("Checking the service with about 30 small requests …")
    const { location, api } = account
    lines.push(
      ...(yield* service({ catalogue, account, explained: explained(location) }).pipe(Effect.provide(Api.layer(api))))
    )
  }

  const settings = sources.map(({ path, shown, from, name }) => ({
    key: path,
    value: shown,
    from: [from, name].filter(Boolean).join(" ")
  }))
  const ends = lines.find(({ state }) => state === "problem")?.ends
  const exitCode = ends === undefined ? 0 : exitCodes[ends]
  const next = ends === undefined ? "./sluice sync" : "correct the problems above, then ./sluice doctor"
  if (flags.json) return yield* printResult("doctor", { exitCode, next, data: { lines, settings } })
  for (const line of table(
    ["setting", "value", "from"],
    settings.map(({ key, value, from }) => [key, value, from])
  ))
    print(line)
  print("")
  for (const line of table(
    ["state", "check", "what was found"],
    lines.map(({ state, check, what }) => [state, check, what])
  ))
    print(line)
  const advice = lines.flatMap(({ state, check, todo }) => (todo === undefined ? [] : [`${state}: ${check}: ${todo}`]))
  for (const line of new Set(advice)) say(line)
  say(`Next: ${next}`)
  return exitCode
})

const problemsOfPolicies = (output: SchemaSettings, catalogue: Catalogue) =>
  schemaPolicies(output, catalogue).pipe(
    Effect.as<ReadonlyArray<SettingProblem>>([]),
    Effect.catch(({ problems }) => Effect.succeed(problems))
  )
