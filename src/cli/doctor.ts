/** `sluice doctor`: what would stop a sync, before it is tried. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import { discover } from "../catalog/discover.ts"
import { type Line, ok, problemOf } from "../doctor/check-result.ts"
import { outputFolder, versions } from "../doctor/environment.ts"
import { service } from "../doctor/service.ts"
import { sourcesOf } from "../doctor/settings.ts"
import { warehouse } from "../doctor/warehouse.ts"
import { type Failure, exitCodes } from "../failure.ts"
import { schemaPolicies } from "../policies.ts"
import { type Flags, oneAccount, outputSettings } from "../settings.ts"
import { keepSecret, print, say, table } from "./output.ts"
import { explained } from "./refusals.ts"

export const doctor = Effect.fn("cli.doctor")(function* (flags: Flags & { readonly json: boolean }) {
  const environment = process.env
  const output = yield* settled(outputSettings(flags, environment))
  const account = yield* settled(oneAccount(flags, environment))
  if ("value" in account) account.value.secrets.forEach(keepSecret)
  const settings =
    "value" in output
      ? yield* sourcesOf(flags, environment, output.value, "value" in account ? account.value : undefined)
      : []
  const catalogue = yield* Effect.promise(() => discover())
  const policies = yield* settled(schemaPolicies(flags, catalogue))
  const failure = [output, account, policies].find((one) => "failure" in one)?.failure
  const lines: Array<Line> = [
    failure ? problemOf("settings", failure) : ok("settings", `${settings.length} settings, none of them unknown`),
    ...(yield* Effect.promise(() => versions()))
  ]
  if ("value" in output) {
    lines.push(...(yield* Effect.promise(() => outputFolder(output.value.folder))))
    lines.push(...(yield* warehouse(output.value)))
  }
  if ("value" in account) {
    say("Asking the service: about 30 small requests …")
    const { location, api } = account.value
    lines.push(
      ...(yield* service({ catalogue, account: account.value, explained: explained(location) }).pipe(
        Effect.provide(Api.layer(api))
      ))
    )
  }

  const ends = lines.find(({ state }) => state === "problem")?.ends
  const exitCode = ends === undefined ? 0 : exitCodes[ends]
  process.exitCode = exitCode
  if (flags.json) return print(JSON.stringify({ exitCode, lines, settings }))
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
  for (const { state, check, todo } of lines) if (todo !== undefined) say(`${state}: ${check}: ${todo}`)
  say(ends === undefined ? "Next: ./sluice sync" : "Next: mend the problems above, then ./sluice doctor")
})

/** A failure is a finding here, and not the end. */
const settled = <A>(effect: Effect.Effect<A, Failure>) =>
  effect.pipe(
    Effect.map((value) => ({ value })),
    Effect.catch((failure) => Effect.succeed({ failure }))
  )
