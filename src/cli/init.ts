/** `sluice init`: writes a settings file from four answers. */
import { Effect, Redacted, Schema } from "effect"
import * as Prompt from "effect/cli/Prompt"
import { existsSync } from "node:fs"
import { Api } from "../stages/api/api.ts"
import { bind, get } from "../catalog/request.ts"
import { onDisk } from "../output/files.ts"
import { defaultFile } from "../settings/file.ts"
import { newFiles, writeSettings } from "../settings/new-file.ts"
import { isPlainSecret } from "../settings/secrets.ts"
import { syncSettings } from "../settings/settings.ts"
import { sections } from "../settings/sections.ts"
import { Environment } from "../values/environment.ts"
import { CommandError, explained } from "../run/console/errors.ts"
import { Output } from "../run/console/output.ts"
import { printResult } from "../run/result.ts"

export interface InitFlags {
  readonly config: string | undefined
  readonly baseUrl: string | undefined
  readonly tokenRef: string | undefined
  readonly location: string | undefined
  readonly formats: string | undefined
  readonly force: boolean
  readonly noCheck: boolean
  readonly json: boolean
}

export const init = Effect.fn("cli.init")(
  function* (flags: InitFlags) {
    const { keepSecret, print, stdout } = yield* Output
    const path = flags.config ?? defaultFile
    if (flags.tokenRef !== undefined && isPlainSecret(flags.tokenRef))
      return yield* usage(
        "--token-ref takes env:NAME, file:/path or cmd:command, because other users see command lines."
      )
    // A token that is typed has a file of its own, which must not exist either.
    yield* refuseExisting(flags, newFiles(path, flags.tokenRef ?? ""))
    const canAsk = stdout.isTTY === true && process.stdin.isTTY
    const missing = Object.entries(flagByAnswer).flatMap(([name, flag]) =>
      flags[name as keyof typeof flagByAnswer] === undefined ? [flag] : []
    )
    if (missing.length > 0 && !canAsk)
      return yield* usage(`Without a terminal, all answers are flags; these are missing: ${missing.join(", ")}.`)

    const baseUrl = flags.baseUrl ?? (yield* Prompt.run(Prompt.String({ message: "Address of the API" })))
    const token =
      flags.tokenRef ??
      Redacted.value(yield* Prompt.run(Prompt.Password({ message: "Token, or env:NAME, file:/path, cmd:command" })))
    if (isPlainSecret(token)) keepSecret(token)
    const location = flags.location ?? (yield* Prompt.run(Prompt.String({ message: "Location id" })))
    const formatsText =
      flags.formats ??
      (yield* Prompt.run(Prompt.String({ message: "Formats to publish", default: "duckdb,parquet,csv" })))
    const { expected, fromText, schema } = sections.output.formats
    const formats = fromText(formatsText)
    if (!Schema.is(schema)(formats)) return yield* usage(`--formats ${formatsText}: expected ${expected}.`)

    const settings = { baseUrl, token, location, formats }
    yield* check(settings, flags.noCheck)
    yield* onDisk(path, "written", () => writeSettings(path, settings))
    const files = newFiles(path, token)
    const next = "./sluice plan"
    if (flags.json) return yield* printResult("init", { exitCode: 0, next, data: { files } })
    for (const file of files) print(`Wrote ${file}, which only you can read.`)
    yield* Effect.map(Output, ({ say }) => say(`Next: ${next}`))
    return 0
  },
  Effect.catchTag("QuitError", () =>
    Effect.map(Output, ({ say }) => {
      say("Nothing was written.")
      return 130
    })
  )
)

const flagByAnswer = {
  baseUrl: "--base-url",
  tokenRef: "--token-ref",
  location: "--location",
  formats: "--formats"
} as const

const usage = (message: string) => new CommandError({ ends: "usage", message, next: "./sluice init --help" })

const refuseExisting = Effect.fnUntraced(function* ({ force }: InitFlags, files: ReadonlyArray<string>) {
  const existing = files.filter((file) => existsSync(file))
  if (existing.length > 0 && !force)
    return yield* usage(`${existing.join(" and ")} exists already; --force replaces it.`)
})

const unreadable = (location: string, message: string) =>
  new CommandError({
    ends: "credentials",
    message: `Location ${location} cannot be read: ${message}.`,
    next: "Check the location id, and that the token has the scope locations.readonly."
  })

/** Reads the location: one request, which needs the token, its scope and the address. */
const check = Effect.fnUntraced(function* (
  { baseUrl, location, token }: { readonly baseUrl: string; readonly location: string; readonly token: string },
  noCheck: boolean
) {
  const { keepSecret } = yield* Output
  // An empty file: the one that is being replaced must not have a say.
  const flags = { config: "/dev/null", baseUrl, location }
  const { accounts } = yield* syncSettings(flags, {
    ...(yield* Environment),
    // The variable cannot refer to itself.
    ...(token !== "env:SLUICE_TOKEN" && { SLUICE_TOKEN: token })
  })
  const account = accounts[0]!
  account.secrets.forEach(keepSecret)
  if (noCheck) return
  const request = bind(get("/locations/{locationId}"), { location })
  yield* Effect.flatMap(Api, (api) => api.send({ request, priority: 1, resource: "init" })).pipe(
    Effect.provide(Api.layer(account.api)),
    Effect.catchTags({
      Forbidden: ({ message }) => Effect.fail(unreadable(location, message)),
      NotFound: ({ message }) => Effect.fail(unreadable(location, message)),
      RequestRejected: ({ message }) => Effect.fail(unreadable(location, message))
    }),
    Effect.mapError(explained(location))
  )
})
