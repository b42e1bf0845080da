/** `sluice init`: writes a settings file from a few answers, each tested as soon as it can be; nothing is written before the last. */
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Effect, Redacted, Result, Schema } from "effect"
import * as Prompt from "effect/cli/Prompt"
import { existsSync } from "node:fs"
import { relative } from "node:path"
import { Api } from "../stages/api/api.ts"
import { isOfAgency, ofAgency } from "../stages/api/token-kind.ts"
import { at } from "../catalog/json.ts"
import { bind, get } from "../catalog/request.ts"
import { onDisk } from "../output/files.ts"
import { defaultFile } from "../settings/file.ts"
import {
  type NewLocation,
  NotAdded,
  type NewSettings,
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
type Place = Pick<NewSettings, "baseUrl" | "location"> & { readonly token: string }

/** One file, which every example reads; each further format costs a night a quarter more. */
const usualFormats = "duckdb"

export const init = (flags: InitFlags) =>
  Effect.flatMap(Output, ({ stdout }) => initWith(flags, stdout.isTTY === true && process.stdin.isTTY)).pipe(
    // The parser, which asks nothing, has no terminal.
    Effect.provide(NodeTerminal.layer)
  )

/** `canAsk`: whether a person answers at the terminal. */
export const initWith = Effect.fn("command.init")(
  function* (flags: InitFlags, canAsk: boolean) {
    const path = flags.config ?? defaultFile
    if (flags.tokenRef !== undefined && isPlainSecret(flags.tokenRef))
      return yield* usage(
        "--token-ref takes env:NAME, file:/path or cmd:command, because other users see command lines."
      )
    if (flags.add) return yield* addAnswers(path, flags, canAsk)
    // A token that is typed has a file of its own, which must not exist either.
    yield* refuseExisting(flags, newFiles(path, flags.tokenRef ?? ""))
    const missing = Object.entries(flagByAnswer).flatMap(([name, flag]) =>
      flags[name as keyof typeof flagByAnswer] === undefined ? [flag] : []
    )
    if (missing.length > 0 && !canAsk)
      return yield* usage(`Without a terminal, all answers are flags; these are missing: ${missing.join(", ")}.`)

    const formats = yield* formatsOf(flags)
    const { account, place } = yield* answersFor(flags, canAsk)
    yield* sayReached(account, place.location)
    const asks = canAsk && missing.length > 0
    const others = asks && flags.location === undefined ? yield* askOthers(place, flags.noCheck) : []
    const more = asks ? yield* askMore : {}
    yield* onDisk(path, "written", () => writeSettings(path, { ...place, formats, more }, flags.force))
    const added = others.map(({ location, token }) => ({ id: location, token }))
    const files = added.length === 0 ? [] : yield* addTo(path, added)
    return initResult(account, [...new Set([...newFiles(path, place.token), ...files])])
  },
  Effect.catchTag("QuitError", () =>
    Effect.map(Output, ({ say }) => {
      say("Nothing was written.")
      return 130
    })
  )
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
    () => [...files.map((file) => `Wrote ${nearPath(file)}, which only you can read.`), offers]
  )

const offers =
  "Some lists are off, because each takes a request for each row of another table: ./sluice plan has their price."

/** As a person would type it in this folder. */
const nearPath = (file: string) => {
  const near = relative("", file)
  return near.startsWith("..") ? file : near
}

/** Further locations until there is none. Each is tested; one that cannot be read is asked again. */
const askOthers = Effect.fnUntraced(function* ({ baseUrl, location }: Place, noCheck: boolean) {
  const { say } = yield* Output
  const known = new Set([location])
  const places: Array<Place> = []
  while (true) {
    const message = "Another location id (Enter if there is none)"
    const id = (yield* Prompt.run(Prompt.String({ message }))).trim()
    if (id === "") return places
    if (known.has(id)) {
      say(`Location ${id} is named already.`, "error")
      continue
    }
    const place = yield* ask({ baseUrl, location: id, token: undefined })
    const checked = yield* Effect.result(check(place, noCheck))
    if (Result.isFailure(checked)) {
      const { failure } = checked.failure
      say(explanationOf(failure)?.message ?? String(failure), "error")
      continue
    }
    yield* sayReached(checked.success, id)
    known.add(id)
    places.push(place)
  }
})

/** What a nightly user sets at once; Enter leaves it out. */
const askMore = Effect.gen(function* () {
  const more: Record<string, unknown> = {}
  for (const { path, setting, ...question } of usuallySet) {
    const text = yield* prompted({ ...question, expected: expectedOf(setting) }, "")
    if (text !== "") more[path] = setting.fromText(text)
  }
  return more
})

const usuallySet: ReadonlyArray<Question & { readonly path: string; readonly setting: Setting }> = [
  {
    path: "schedule.times",
    setting: sections.schedule.times,
    message: "Time of the nightly sync, such as 03:30 (Enter if there is none)",
    explanation: "./sluice serve starts a sync at this time each day; ./sluice schedule install gives it to the system."
  },
  {
    path: "signals.mail_to",
    setting: sections.signals.mail_to,
    message: "Mail address that is told of alarms (Enter if there is none)",
    explanation: "When data is missing or late, this machine's sendmail sends a mail"
  }
]

/** Adds a location to the settings file that is there. */
const addAnswers = Effect.fnUntraced(function* (path: string, flags: InitFlags, canAsk: boolean) {
  if (!existsSync(path)) return yield* usage(`${path} does not exist; without --add, it is written.`)
  const { account: known } = readSettings({ config: path }, yield* Environment).values
  if (flags.location === undefined && !canAsk) return yield* usage("Without a terminal, --add needs --location.")
  // Without a terminal and a token of its own, it is read with the token of the account.
  const tokenRef = flags.tokenRef ?? (canAsk ? undefined : known.token?.reference)
  if (tokenRef === undefined && !canAsk) return yield* usage("Neither --token-ref nor account.token is there.")
  const { account, place } = yield* answersFor({ ...flags, baseUrl: flags.baseUrl ?? known.baseUrl, tokenRef }, canAsk)
  const isOwn = flags.tokenRef !== undefined || canAsk
  const files = yield* addTo(path, [{ id: place.location, ...(isOwn && { token: place.token }) }])
  yield* sayReached(account, place.location)
  return initResult(account, files)
})

const addTo = Effect.fnUntraced(function* (path: string, places: ReadonlyArray<NewLocation>) {
  const environment = yield* Environment
  return yield* Effect.tryPromise({
    try: () => addLocations(path, places, environment),
    catch: (cause) => (cause instanceof NotAdded ? usage(cause.message) : fileFailure(path, "written", cause))
  })
})

type Texts = { readonly [Name in keyof Place]?: string | undefined }

/**
 * The answers of the flags and of the prompts, and the name of the account that they reach. If it cannot be read with them, a
 * person at a terminal is asked again for those that may be wrong, with the earlier ones as defaults.
 */
const answersFor = Effect.fnUntraced(function* (flags: InitFlags, canAsk: boolean) {
  const { say } = yield* Output
  const given = { baseUrl: flags.baseUrl, token: flags.tokenRef, location: flags.location }
  let place: Place = yield* ask(given)
  while (true) {
    const checked = yield* Effect.result(check(place, flags.noCheck))
    if (Result.isSuccess(checked)) return { place, account: checked.success }
    const { failure, again } = checked.failure
    const explanation = explanationOf(failure)
    if (!canAsk || Object.values(given).every((one) => one !== undefined) || explanation === undefined)
      return yield* failure
    say(explanation.message, "error")
    say("Nothing is written yet. What may be wrong is asked again; Enter keeps an answer, Ctrl-C ends this.")
    const earlier: Texts = place
    place = yield* ask({ ...earlier, ...Object.fromEntries(again.map((name) => [name, undefined])) }, earlier)
  }
})

const ask = Effect.fnUntraced(function* (given: Texts, earlier: Texts = {}) {
  const { keepSecret } = yield* Output
  const baseUrl = given.baseUrl ?? (yield* answer("baseUrl", earlier.baseUrl))
  const token = given.token ?? (yield* askToken(earlier.token))
  if (isPlainSecret(token)) keepSecret(token)
  return { baseUrl, token, location: given.location ?? (yield* answer("location", earlier.location)) }
})

const formatsOf = Effect.fnUntraced(function* ({ formats: text = usualFormats }: InitFlags) {
  const wrong = expectedOf(sections.output.formats)(text)
  if (wrong !== undefined) return yield* usage(`--format ${text}: ${wrong}.`)
  return sections.output.formats.fromText(text) as ReadonlyArray<string>
})

const answer = (name: "baseUrl" | "location", initial: string | undefined) => prompted(questions[name], initial)

/** `initial`: what Enter gives; the empty text, if a question needs no answer. */
const prompted = Effect.fnUntraced(function* ({ expected, explanation, message }: Question, initial?: string) {
  const { say } = yield* Output
  say(explanation)
  // A text that is there already, a refused one or a default, would stand before what is pasted.
  const kept = initial ? ` (Enter keeps ${initial})` : ""
  while (true) {
    const text = (yield* Prompt.run(Prompt.String({ message: `${message}${kept}` }))).trim() || (initial ?? "")
    const wrong = text === "" ? (initial === "" ? undefined : "expected a text") : expected?.(text)
    if (wrong === undefined) return text
    say(wrong, "error")
  }
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
  }
} as const satisfies Record<keyof Place, Question>

const flagByAnswer = {
  baseUrl: "--base-url",
  tokenRef: "--token-ref",
  location: "--location"
} as const

const usage = (message: string) => usageError(message, "./sluice init --help")

const refuseExisting = Effect.fnUntraced(function* ({ force }: InitFlags, files: ReadonlyArray<string>) {
  const existing = files.filter((file) => existsSync(file))
  if (existing.length === 0 || force) return
  const [exist, them] = existing.length === 1 ? ["exists", "it"] : ["exist", "them"]
  return yield* usageError(
    `${existing.join(" and ")} ${exist} already; --add adds a location, and --force replaces ${them}.`,
    existing.includes(files[0]!) ? "./sluice init --add" : "./sluice init --help"
  )
})

const unreadable = (location: string, message: string) =>
  new CommandError({
    ends: "credentials",
    message: `Location ${location} cannot be read: ${message}.`,
    next: "Check the location id, and that the token has the scope locations.readonly."
  })

/** Unlike a token that has worked before. */
const refusedToken = (location: string, message: string) =>
  new CommandError({
    ends: "credentials",
    message: `The service does not accept the token of location ${location} (${message}). A part of it may be missing, or it was rotated.`,
    next: "Copy the token again from where the account shows it, and set --token-ref to it."
  })

/** What is asked again after an error; after any other, the address. */
const questionsAgain: Readonly<Record<string, ReadonlyArray<keyof Place>>> = {
  BadCredentials: ["token"],
  WrongLocation: ["token", "location"],
  Forbidden: ["token", "location"],
  RequestRejected: ["baseUrl", "token", "location"]
}

/** Reads the location, and returns its name: one request, which needs the token, its scope and the address. */
const check = Effect.fnUntraced(function* ({ baseUrl, location, token }: Place, noCheck: boolean) {
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
    return { failure, again: [name] as ReadonlyArray<keyof Place> }
  })
  const account = { ...accounts[0]!, tokenName: "--token-ref" }
  account.secrets.forEach(keepSecret)
  if (noCheck) return undefined
  const request = bind(get("/locations/{locationId}"), { location })
  const { agency, body } = yield* Effect.gen(function* () {
    const { body } = yield* (yield* Api).send({ request, priority: 1, resource: "init" })
    return { agency: yield* isOfAgency(location, undefined), body }
  }).pipe(
    Effect.provide(Api.layer({ ...account.api, isNew: () => true })),
    Effect.mapError((error) => {
      const isOfRequest = error._tag === "Forbidden" || error._tag === "RequestRejected"
      const failure = isOfRequest
        ? unreadable(location, error.message)
        : error._tag === "BadCredentials"
          ? refusedToken(location, error.message)
          : explained(account)(error)
      return { failure, again: questionsAgain[error._tag] ?? (["baseUrl"] as const) }
    })
  )
  if (agency)
    return yield* Effect.fail({
      failure: new CommandError({ ends: "credentials", ...ofAgency }),
      again: ["token"] as const
    })
  const name = at(body, "location.name")
  return typeof name === "string" && name !== "" ? name : undefined
})
