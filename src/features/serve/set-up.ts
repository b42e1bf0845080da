/** Set-up in the browser: the answers of `./sluice init`, tested by `doctor` and `plan` before anything is written. */
import { existsSync, readFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Body, HttpError } from "../../network/server.ts"
import { removeBelow } from "../../output/remove.ts"
import {
  FileChanged,
  NotAdded,
  type OAuthApp,
  addLocations,
  inTurn,
  tokenFilesOf,
  writePrivately,
  writeSettings
} from "../../settings/new-file.ts"
import { readSettings } from "../../settings/read.ts"
import { isPlainSecret, shownSecret } from "../../settings/secrets.ts"
import { sections } from "../../settings/sections.ts"
import * as Schema from "effect/Schema"
import type { RunResults } from "../../run/result-data.ts"
import type { Ask } from "./ask.ts"
import type { Options as SettingsOptions } from "./settings-page.ts"

type Options = SettingsOptions & { readonly output: string }

interface Place {
  readonly id: string
  /** The token, or a reference to it; for the first location, an app in its place. */
  readonly token: string | OAuthApp
}
type TokenPlace = Place & { readonly token: string }

const idOf = (value: unknown): string => {
  if (typeof value !== "string" || !/^[\w-]{1,100}$/.test(value.trim()))
    throw new HttpError(
      400,
      "location",
      "The location id has letters and digits, for example ve9EPM428h8vShlRW1KT.",
      "id"
    )
  return value.trim()
}

/** `what`: "The token of location north". */
const secretOf = (value: unknown, what: string, field = "token"): string => {
  if (typeof value !== "string" || value.trim() === "" || /[\n\0]/.test(value.trim()))
    throw new HttpError(400, "token", `${what} is missing.`, field)
  const text = value.trim()
  // It is read and sent for whoever fills the form, so it may lead only to where secrets for sluice are put.
  if (!isPlainSecret(text) && !/^(file:\/run\/secrets\/[\w.-]+|env:SLUICE_\w*TOKEN\w*)$/.test(text))
    throw new HttpError(
      400,
      "token",
      "On this page, a reference leads to a file below /run/secrets or to a variable such as SLUICE_TOKEN; any other is written into the settings file by hand. Or paste the secret.",
      field
    )
  return text
}

const placeOf = (value: unknown): TokenPlace => {
  const { id, token } = (value ?? {}) as Readonly<Record<string, unknown>>
  const location = idOf(id)
  return { id: location, token: secretOf(token, `The token of location ${location}`) }
}

const firstOf = (value: unknown): Place => {
  const { app, id } = (value ?? {}) as { readonly app?: Readonly<Record<string, unknown>>; readonly id?: unknown }
  if (typeof app !== "object") return placeOf(value)
  const location = idOf(id)
  const token = {
    clientId: secretOf(app["clientId"], "The client id of the app", "clientId"),
    clientSecret: secretOf(app["clientSecret"], "The client secret of the app", "clientSecret"),
    refreshToken: secretOf(app["refreshToken"], `The refresh token of location ${location}`, "refreshToken")
  }
  return { id: location, token }
}

const answersOf = ({ baseUrl, formats, locations }: Body) => {
  if (!Schema.is(sections.account.base_url.schema)(baseUrl))
    throw new HttpError(400, "baseUrl", "The address of the API is an http or https address.", "baseUrl")
  if (!Schema.is(sections.output.formats.schema)(formats))
    throw new HttpError(400, "formats", `It is not ${sections.output.formats.expected}.`, "formats")
  if (!Array.isArray(locations) || locations.length === 0)
    throw new HttpError(400, "locations", "Name at least one location.")
  const [first, others] = [firstOf(locations[0]), locations.slice(1).map(placeOf)]
  if (new Set([first, ...others].map(({ id }) => id)).size < locations.length)
    throw new HttpError(400, "locations", "A location is named twice.")
  return { baseUrl, formats, first, others }
}

/** What the service says to each token, and what the first sync will take. Nothing that is kept is written. */
export const checkSetup = async (options: Options, body: Body) => {
  const { ask, output } = options
  const answers = answersOf(body)
  checkAddress(options, answers)
  const { baseUrl, first, others } = answers
  const checked = []
  for (const { id, token } of [first, ...others]) {
    // The token is in no command line, and no file that is there already has a say.
    const environment: Readonly<Record<string, string>> =
      typeof token === "string"
        ? { SLUICE_TOKEN: token }
        : {
            SLUICE_CLIENT_ID: token.clientId,
            SLUICE_CLIENT_SECRET: token.clientSecret,
            SLUICE_REFRESH_TOKEN: token.refreshToken
          }
    const account = [`--base-url=${baseUrl}`, `--location=${id}`]
    // The service accepts a refresh token once: only what works in the output folder may use it, which keeps its successor.
    const reached = typeof token === "string" ? await reach(ask, account, token) : undefined
    if (reached?.error) {
      checked.push({ id, problem: problemOf(reached.error, reached.next) })
      continue
    }
    const flags = ["--config=/dev/null", ...account, `--output=${output}`]
    const doctor = await ask.json(["doctor"], flags, environment)
    const plan = await ask.json(["plan"], flags, environment)
    const data = plan.data as RunResults["plan"] | undefined
    checked.push({
      id,
      name: (reached?.data as { readonly account?: string } | undefined)?.account,
      ...(plan.error && { problem: problemOf(plan.error, plan.next) }),
      findings: (doctor.data as { readonly lines?: ReadonlyArray<unknown> } | undefined)?.lines ?? [],
      ...(data && {
        plan: { requests: data.requests, elapsedMs: data.elapsedMs, likely: data.likely, omitted: data.omitted }
      })
    })
  }
  return { locations: checked }
}

/** Where the settings, or a variable, say that the service is, a reference may be sent; an address that is typed gets what is typed. */
const checkAddress = (
  { environment, path }: Options,
  { baseUrl, first, others }: ReturnType<typeof answersOf>
): void => {
  const known = readSettings(existsSync(path) ? { config: path } : {}, environment).values.account.baseUrl
  if (known !== undefined && known !== baseUrl)
    throw new HttpError(409, "baseUrl", `The settings name ${known}: another address is set in the file.`, "baseUrl")
  const secrets = [first, ...others].flatMap(({ token }) =>
    typeof token === "string" ? [token] : Object.values(token)
  )
  if (known === undefined && !secrets.every(isPlainSecret))
    throw new HttpError(
      400,
      "token",
      "A reference is taken only for the address that SLUICE_BASE_URL names. Paste the secret, or use ./sluice init.",
      "token"
    )
}

/** Flags are for a terminal; here it is the field that is asked again. */
const problemOf = ({ message }: { readonly message: string }, next: string | undefined) => ({
  message: message.replaceAll("--token-ref", "the token"),
  ...(next !== undefined && !/--[a-z]/.test(next) && { next })
})

/** What `init` finds with a token. */
const reach = async (ask: Ask, account: ReadonlyArray<string>, token: string) => {
  const draft = await mkdtemp(join(tmpdir(), "sluice-set-up-"))
  const reference = isPlainSecret(token) ? "env:SLUICE_TOKEN" : token
  return ask
    .json(["init", ...account, `--token-ref=${reference}`], [`--config=${join(draft, "sluice.toml")}`], {
      SLUICE_TOKEN: token
    })
    .finally(() => removeBelow(tmpdir(), draft))
}

/** Writes the settings file, and each token into a file of its own that only its user can read. */
export const writeSetup = (options: Options, body: Body) =>
  inTurn(async () => {
    const { environment, path } = options
    const answers = answersOf(body)
    const { baseUrl, first, formats, others } = answers
    if (existsSync(path)) throw new HttpError(409, "exists", `${path} exists already, and stays as it is.`)
    checkAddress(options, answers)
    await writeSettings(path, { baseUrl, formats, location: first.id, token: first.token }).catch(refusedIfChanged)
    if (others.length > 0) await added(path, others, environment)
    return { file: path, next: "./sluice sync" }
  })

/** Adds a location to the file that is there. */
export const addLocation = ({ environment, path }: Options, body: Body) =>
  inTurn(async () => {
    await added(path, [placeOf(body)], environment)
    return { file: path }
  })

const added = (path: string, places: ReadonlyArray<TokenPlace>, environment: Options["environment"]) =>
  addLocations(path, places, environment).catch(refusedIfChanged)

const refusedIfChanged = (cause: unknown): never => {
  throw cause instanceof NotAdded || cause instanceof FileChanged ? new HttpError(409, "exists", cause.message) : cause
}

/**
 * Replaces the token of a location in the file that set-up has written for it, once the service accepts the new one for every
 * location that has its token there.
 */
export const replaceToken = ({ ask, environment, path }: Options, body: Body) =>
  inTurn(async () => {
    const { id, token } = placeOf({ id: body["location"], token: body["token"] })
    if (!isPlainSecret(token)) throw new HttpError(400, "token", "Paste the token itself.", "token")
    const { lists, values } = readSettings({ config: path }, environment)
    const { baseUrl, locationId = "", token: shared } = values.account
    const places = [...lists.locations, { id: locationId, token: undefined }].map((one) => ({
      id: one.id,
      reference: one.token ?? shared?.reference ?? ""
    }))
    const reference = places.find((one) => one.id === id)?.reference
    if (reference === undefined) throw new HttpError(404, "location", `${path} names no location ${id}.`)
    const file = Object.values(tokenFilesOf(path, id)).find((one) => reference === `file:${one}`)
    if (file === undefined)
      throw new HttpError(
        409,
        "kept",
        `The token of location ${id} is not in a file of set-up: set it where it is, ${shownSecret(reference)}.`,
        "token"
      )
    const old = readFileSync(file, "utf8")
    const sharing = new Set(places.flatMap((one) => (one.reference === reference && one.id ? [one.id] : [])))
    for (const location of sharing) {
      const { error } = await reach(ask, [`--base-url=${baseUrl}`, `--location=${location}`], token)
      if (error) throw new HttpError(409, error.code, error.message, "token")
    }
    await writePrivately(file, `${token}\n`, old).catch(refusedIfChanged)
    return { file }
  })
