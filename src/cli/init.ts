/** `sluice init`: writes a settings file from four answers. */
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Effect, Redacted, Result, Schema } from "effect"
import * as Prompt from "effect/cli/Prompt"
import { existsSync } from "node:fs"
import { relative } from "node:path"
import { Api } from "../stages/api/api.ts"
import { at } from "../catalog/json.ts"
import { bind, get } from "../catalog/request.ts"
import { onDisk } from "../output/files.ts"
import { defaultFile } from "../settings/file.ts"
import {
  NotAdded,
  type NewSettings as AnySettings,
  addLocations,
  newFiles,
  writeSettings
} from "../settings/new-file.ts"
import { readSettings } from "../settings/read.ts"
import { isPlainSecret } from "../settings/secrets.ts"
import { settingOf } from "../settings/errors.ts"
import { syncSettings } from "../settings/settings.ts"
import { sections } from "../settings/sections.ts"
import type { Setting } from "../values/setting.ts"
import { fileFailure } from "../values/failure.ts"
import { Environment } from "../values/environment.ts"
import { CommandError, explained, explanationOf, usageError } from "../console/errors.ts"
import { Output } from "../console/streams.ts"
import { shown } from "../console/result.ts"

export interface InitFlags {
  readonly config: string | undefined
  readonly baseUrl: string | undefined
  readonly tokenRef: string | undefined
  readonly location: string | undefined
  readonly formats: string | undefined
  readonly force: boolean
  readonly noCheck: boolean
  /** Add a location to the file that is there. */
  readonly add: boolean
}

/** An OAuth app is set up on the page of `serve`, or in the file. */
type NewSettings = AnySettings & { readonly token: string }

/** One file, which every example reads; each further format costs a night a quarter more. */
const usualFormats = "duckdb"

export const init = Effect.fn("command.init")(
  function* (given: InitFlags) {
    const { stdout } = yield* Output
    const canAsk = stdout.isTTY === true && process.stdin.isTTY
    const flags = { ...given, formats: given.formats ?? (canAsk ? undefined : usualFormats) }
    const path = flags.config ?? defaultFile
    if (flags.tokenRef !== undefined && isPlainSecret(flags.tokenRef))
      return yield* usage(
        "--token-ref takes env:NAME, file:/path or cmd:command, because other users see command lines."
      )
    if (flags.add) return yield* addTo(path, flags, canAsk)
    // A token that is typed has a file of its own, which must not exist either.
    yield* refuseExisting(flags, newFiles(path, flags.tokenRef ?? ""))
    const missing = Object.entries(flagByAnswer).flatMap(([name, flag]) =>
      flags[name as keyof typeof flagByAnswer] === undefined ? [flag] : []
    )
    if (missing.length > 0 && !canAsk)
      return yield* usage(`Without a terminal, all answers are flags; these are missing: ${missing.join(", ")}.`)

    const { account, settings } = yield* answersFor(flags, canAsk)
    yield* onDisk(path, "written", () => writeSettings(path, settings))
    let files = newFiles(path, settings.token)
    yield* sayReached(account, settings.location)
    while (canAsk && flags.location === undefined) {
      const added = yield* askAnother(path, { ...flags, baseUrl: settings.baseUrl })
      if (added === undefined) break
      files = [...new Set([...files, ...added])]
    }
    return initResult(account, files)
  },
  Effect.catchTag("QuitError", () =>
    Effect.map(Output, ({ say }) => {
      say("Nothing was written.")
      return 130
    })
  ),
  // The parser, which asks nothing, has no terminal.
  Effect.provide(NodeTerminal.layer)
)

/** Before the next question, so that a person sees that the right location was meant. */
const sayReached = Effect.fnUntraced(function* (account: string | undefined, location: string) {
  const { say } = yield* Output
  say(account === undefined ? `Location ${location}.` : `Reached ${account} (location ${location}).`)
})

const initResult = (account: string | undefined, files: ReadonlyArray<string>) =>
  shown(
    "init",
    { exitCode: 0, next: "./sluice plan", data: { files, ...(account !== undefined && { account }) } },
    () => files.map((file) => `Wrote ${nearPath(file)}, which only you can read.`)
  )

/** As a person would type it in this folder. */
const nearPath = (file: string) => {
  const near = relative("", file)
  return near.startsWith("..") ? file : near
}

/** What is written stays, whatever becomes of another location. `undefined`: there is none. */
const askAnother = Effect.fnUntraced(
  function* (path: string, flags: InitFlags) {
    const { say } = yield* Output
    while (true) {
      const id = yield* Prompt.run(Prompt.String({ message: "Another location id (Enter if there is none)" }))
      if (id.trim() === "") return undefined
      const added = yield* Effect.result(addOne(path, { ...flags, location: id.trim() }, true))
      if (Result.isSuccess(added)) return added.success.files
      const { failure } = added
      if ("_tag" in failure && failure._tag === "QuitError") return yield* failure
      say(explanationOf(failure)?.message ?? String(failure), "error")
    }
  },
  Effect.catchTag("QuitError", () => Effect.succeed(undefined))
)

/** Adds a location to the settings file that is there. */
const addTo = Effect.fnUntraced(function* (path: string, flags: InitFlags, canAsk: boolean) {
  if (!existsSync(path)) return yield* usage(`${path} does not exist; without --add, it is written.`)
  const { values } = readSettings({ config: path }, yield* Environment)
  const baseUrl = flags.baseUrl ?? values.account.baseUrl
  if (flags.location === undefined && !canAsk) return yield* usage("Without a terminal, --add needs --location.")
  const { account, files } = yield* addOne(path, { ...flags, baseUrl }, canAsk)
  return initResult(account, files)
})

/** Without a terminal and a token of its own, it is read with the token of the account. */
const addOne = Effect.fnUntraced(function* (path: string, flags: InitFlags, canAsk: boolean) {
  const environment = yield* Environment
  const ofAccount = readSettings({ config: path }, environment).values.account.token?.reference
  const tokenRef = flags.tokenRef ?? (canAsk ? undefined : ofAccount)
  if (tokenRef === undefined && !canAsk) return yield* usage("Neither --token-ref nor account.token is there.")
  const { account, settings } = yield* answersFor({ ...flags, tokenRef, formats: usualFormats }, canAsk)
  const isOwn = flags.tokenRef !== undefined || canAsk
  const place = { id: settings.location, ...(isOwn && { token: settings.token }) }
  const files = yield* Effect.tryPromise({
    try: () => addLocations(path, [place], environment),
    catch: (cause) => (cause instanceof NotAdded ? usage(cause.message) : fileFailure(path, "written", cause))
  })
  yield* sayReached(account, settings.location)
  return { account, files }
})

type Texts = { readonly [Name in keyof NewSettings]?: string | undefined }

/**
 * The answers of the flags and of the prompts, and the name of the account that they reach. If it cannot be read with them, a
 * person at a terminal is asked again for those that may be wrong, with the earlier ones as defaults.
 */
const answersFor = Effect.fnUntraced(function* (flags: InitFlags, canAsk: boolean) {
  const { say } = yield* Output
  const given = { baseUrl: flags.baseUrl, token: flags.tokenRef, location: flags.location, formats: flags.formats }
  let settings: NewSettings = yield* ask(given)
  while (true) {
    const checked = yield* Effect.result(check(settings, flags.noCheck))
    if (Result.isSuccess(checked)) return { settings, account: checked.success }
    const { failure, again } = checked.failure
    const explanation = explanationOf(failure)
    if (!canAsk || Object.values(given).every((one) => one !== undefined) || explanation === undefined)
      return yield* failure
    say(explanation.message, "error")
    say("Nothing is written yet. What may be wrong is asked again; Enter keeps an answer, Ctrl-C ends this.")
    const earlier: Texts = { ...settings, formats: settings.formats.join(",") }
    settings = yield* ask({ ...earlier, ...Object.fromEntries(again.map((name) => [name, undefined])) }, earlier)
  }
})

const ask = Effect.fnUntraced(function* (given: Texts, earlier: Texts = {}) {
  const { keepSecret, say } = yield* Output
  const answer = Effect.fnUntraced(function* (name: "baseUrl" | "location" | "formats", initial = earlier[name]) {
    const known = given[name]
    if (known !== undefined) return known
    const { expected, explanation, message }: Question = questions[name]
    say(explanation)
    const validate = (text: string) => {
      const wrong = expected?.(text.trim()) ?? (text.trim() === "" ? "expected a text" : undefined)
      return wrong === undefined ? Effect.succeed(text.trim()) : Effect.fail(wrong)
    }
    return yield* Prompt.run(Prompt.String({ message, validate, ...(initial !== undefined && { default: initial }) }))
  })
  const baseUrl = yield* answer("baseUrl")
  const token = given.token ?? (yield* askToken(earlier.token))
  if (isPlainSecret(token)) keepSecret(token)
  const location = yield* answer("location")
  const formatsText = yield* answer("formats", earlier.formats ?? usualFormats)
  const wrong = questions.formats.expected(formatsText)
  if (wrong !== undefined) return yield* usage(`--formats ${formatsText}: ${wrong}.`)
  return { baseUrl, token, location, formats: sections.output.formats.fromText(formatsText) as ReadonlyArray<string> }
})

const askToken = Effect.fnUntraced(function* (earlier: string | undefined) {
  const { say } = yield* Output
  say(questions.token.explanation)
  const kept = earlier ? " (Enter keeps it)" : ""
  const typed = Redacted.value(yield* Prompt.run(Prompt.Password({ message: `${questions.token.message}${kept}` })))
  return typed.trim() || (earlier ?? "")
})

interface Question {
  readonly message: string
  readonly explanation: string
  /** What is expected instead of a wrong answer. */
  readonly expected?: (answer: string) => string | undefined
}

const expectedOf =
  ({ expected, fromText, schema }: Setting) =>
  (answer: string) =>
    Schema.is(schema)(fromText(answer)) ? undefined : `expected ${expected}`

const questions = {
  baseUrl: {
    message: "Address of the API",
    explanation: "Where the API of the Account Platform is, for example https://services.example.com",
    expected: expectedOf(sections.account.base_url)
  },
  token: {
    message: "Token",
    explanation:
      "A private integration token of the account with read scopes; or where it is kept: env:CRM_TOKEN, file:/run/secrets/crm, cmd:pass crm"
  },
  location: {
    message: "Location id",
    explanation:
      "The account to read; its id is in the address of its pages, after /location/, for example ve9EPM428h8vShlRW1KT"
  },
  formats: {
    message: "Formats to publish",
    explanation:
      "What the tables are written as: duckdb is one file for SQL; parquet and csv are a file for each table, and each makes the publishing of a night a quarter dearer",
    expected: expectedOf(sections.output.formats)
  }
} as const satisfies Record<keyof NewSettings, Question>

const flagByAnswer = {
  baseUrl: "--base-url",
  tokenRef: "--token-ref",
  location: "--location",
  formats: "--formats"
} as const

const usage = (message: string) => usageError(message, "./sluice init --help")

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

/** What is asked again after an error; after any other, the address. */
const questionsAgain: Readonly<Record<string, ReadonlyArray<keyof NewSettings>>> = {
  BadCredentials: ["token"],
  WrongLocation: ["token", "location"],
  Forbidden: ["token", "location"],
  NotFound: ["baseUrl", "token", "location"],
  RequestRejected: ["baseUrl", "token", "location"]
}

/** Reads the location, and returns its name: one request, which needs the token, its scope and the address. */
const check = Effect.fnUntraced(function* ({ baseUrl, location, token }: NewSettings, noCheck: boolean) {
  const { keepSecret } = yield* Output
  // An empty file: the one that is being replaced must not have a say.
  const flags = { config: "/dev/null", baseUrl, location }
  const environment = {
    ...(yield* Environment),
    // The variable cannot refer to itself.
    ...(token !== "env:SLUICE_TOKEN" && { SLUICE_TOKEN: token })
  }
  const { accounts } = yield* Effect.mapError(syncSettings(flags, environment), (failure) => {
    const wrong = new Set(failure.problems.map(settingOf))
    const name = wrong.has("account.base_url") ? "baseUrl" : wrong.has("account.location_id") ? "location" : "token"
    return { failure, again: [name] as ReadonlyArray<keyof NewSettings> }
  })
  const account = { ...accounts[0]!, tokenName: "--token-ref" }
  account.secrets.forEach(keepSecret)
  if (noCheck) return undefined
  const request = bind(get("/locations/{locationId}"), { location })
  const { body } = yield* Effect.flatMap(Api, (api) => api.send({ request, priority: 1, resource: "init" })).pipe(
    Effect.provide(Api.layer({ ...account.api, isNew: () => true })),
    Effect.mapError((error) => {
      const isOfRequest = error._tag === "Forbidden" || error._tag === "NotFound" || error._tag === "RequestRejected"
      const failure = isOfRequest ? unreadable(location, error.message) : explained(account)(error)
      return { failure, again: questionsAgain[error._tag] ?? (["baseUrl"] as const) }
    })
  )
  const name = at(body, "location.name")
  return typeof name === "string" && name !== "" ? name : undefined
})
