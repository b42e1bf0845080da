/** Set-up in the browser: the answers of `./sluice init`, tested by `doctor` and `plan` before anything is written. */
import { existsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Body, HttpError } from "../explore/http.ts"
import { removeBelow } from "../../output/remove.ts"
import { NotAdded, type OAuthApp, addLocations, writeSettings } from "../../settings/new-file.ts"
import { isPlainSecret } from "../../settings/secrets.ts"
import { sections } from "../../settings/sections.ts"
import * as Schema from "effect/Schema"
import type { Environment } from "../../values/environment.ts"
import type { Ask } from "./ask.ts"

interface Options {
  readonly path: string
  readonly output: string
  readonly ask: Ask
  readonly environment: Environment["Service"]
}

interface Place {
  readonly id: string
  /** The token, or a reference to it; for the first location, an app in its place. */
  readonly token: string | OAuthApp
}
type TokenPlace = Place & { readonly token: string }

interface Answers {
  readonly baseUrl: string
  readonly formats: ReadonlyArray<string>
  readonly first: Place
  readonly others: ReadonlyArray<TokenPlace>
}

const idOf = (value: unknown): string => {
  if (typeof value !== "string" || !/^[\w-]{1,100}$/.test(value.trim()))
    throw new HttpError(400, "location", "The location id has letters and digits, for example ve9EPM428h8vShlRW1KT.")
  return value.trim()
}

/** `what`: "The token of location north". */
const secretOf = (value: unknown, what: string): string => {
  if (typeof value !== "string" || value.trim() === "" || /[\n\0]/.test(value.trim()))
    throw new HttpError(400, "token", `${what} is missing.`)
  if (value.trim().startsWith("cmd:"))
    throw new HttpError(400, "token", "A command is written into the settings file by hand, not on this page.")
  return value.trim()
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
    clientId: secretOf(app["clientId"], "The client id of the app"),
    clientSecret: secretOf(app["clientSecret"], "The client secret of the app"),
    refreshToken: secretOf(app["refreshToken"], `The refresh token of location ${location}`)
  }
  return { id: location, token }
}

const answersOf = ({ baseUrl, formats, locations }: Body): Answers => {
  if (!Schema.is(sections.account.base_url.schema)(baseUrl))
    throw new HttpError(400, "baseUrl", "The address of the API is an http or https address.")
  if (!Schema.is(sections.output.formats.schema)(formats))
    throw new HttpError(400, "formats", `formats: expected ${sections.output.formats.expected}.`)
  if (!Array.isArray(locations) || locations.length === 0)
    throw new HttpError(400, "locations", "Name at least one location.")
  const [first, others] = [firstOf(locations[0]), locations.slice(1).map(placeOf)]
  if (new Set([first, ...others].map(({ id }) => id)).size < locations.length)
    throw new HttpError(400, "locations", "A location is named twice.")
  return { baseUrl, formats, first, others }
}

/** What the service says to each token, and what the first sync will take. Nothing that is kept is written. */
export const checkSetup = async ({ ask, output }: Options, body: Body) => {
  const { baseUrl, first, others } = answersOf(body)
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
      checked.push({ id, problem: { message: reached.error.message, next: reached.next } })
      continue
    }
    const flags = ["--config=/dev/null", ...account, `--output=${output}`]
    const doctor = await ask.json(["doctor"], flags, environment)
    const plan = await ask.json(["plan"], flags, environment)
    const data = plan.data as PlanData | undefined
    checked.push({
      id,
      name: (reached?.data as { readonly account?: string } | undefined)?.account,
      ...(plan.error && { problem: { message: plan.error.message, next: plan.next } }),
      findings: (doctor.data as { readonly lines?: ReadonlyArray<unknown> } | undefined)?.lines ?? [],
      ...(data && { plan: { requests: data.requests, elapsedMs: data.elapsedMs, likely: data.likely } })
    })
  }
  return { locations: checked }
}

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

interface PlanData {
  readonly requests: unknown
  readonly elapsedMs?: unknown
  readonly likely?: unknown
}

/** Writes the settings file, and each token into a file of its own that only its user can read. */
export const writeSetup = async ({ environment, path }: Options, body: Body) => {
  const { baseUrl, first, formats, others } = answersOf(body)
  if (existsSync(path)) throw new HttpError(409, "exists", `${path} exists already, and stays as it is.`)
  await writeSettings(path, { baseUrl, formats, location: first.id, token: first.token })
  if (others.length > 0) await added(path, others, environment)
  return { file: path, next: "./sluice sync" }
}

/** Adds a location to the file that is there. */
export const addLocation = async ({ environment, path }: Options, body: Body) => {
  await added(path, [placeOf(body)], environment)
  return { file: path }
}

const added = (path: string, places: ReadonlyArray<TokenPlace>, environment: Options["environment"]) =>
  addLocations(path, places, environment).catch((cause: unknown) => {
    throw cause instanceof NotAdded ? new HttpError(409, "exists", cause.message) : cause
  })
