/** Set-up in the browser: the answers of `./sluice init`, tested by `doctor` and `plan` before anything is written. */
import { existsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Body, HttpError } from "../explore/http.ts"
import { removeBelow } from "../../output/remove.ts"
import { NotAdded, addLocations, writeSettings } from "../../settings/new-file.ts"
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
  /** The token, or a reference to it. */
  readonly token: string
}

interface Answers {
  readonly baseUrl: string
  readonly formats: ReadonlyArray<string>
  readonly locations: ReadonlyArray<Place>
}

const placeOf = (value: unknown): Place => {
  const { id, token } = (value ?? {}) as { readonly id?: unknown; readonly token?: unknown }
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id.trim()))
    throw new HttpError(400, "location", "The location id has letters and digits, for example ve9EPM428h8vShlRW1KT.")
  if (typeof token !== "string" || token.trim() === "" || /[\n\0]/.test(token.trim()))
    throw new HttpError(400, "token", `The token of location ${id.trim()} is missing.`)
  if (token.trim().startsWith("cmd:"))
    throw new HttpError(400, "token", "A command is written into the settings file by hand, not on this page.")
  return { id: id.trim(), token: token.trim() }
}

const answersOf = ({ baseUrl, formats, locations }: Body): Answers => {
  if (!Schema.is(sections.account.base_url.schema)(baseUrl))
    throw new HttpError(400, "baseUrl", "The address of the API is an http or https address.")
  if (!Schema.is(sections.output.formats.schema)(formats))
    throw new HttpError(400, "formats", `formats: expected ${sections.output.formats.expected}.`)
  if (!Array.isArray(locations) || locations.length === 0)
    throw new HttpError(400, "locations", "Name at least one location.")
  const places = locations.map(placeOf)
  if (new Set(places.map(({ id }) => id)).size < places.length)
    throw new HttpError(400, "locations", "A location is named twice.")
  return { baseUrl, formats, locations: places }
}

/** What the service says to each token, and what the first sync will take. Nothing that is kept is written. */
export const checkSetup = async ({ ask, output }: Options, body: Body) => {
  const { baseUrl, locations } = answersOf(body)
  const checked = []
  for (const { id, token } of locations) {
    // The token is in no command line, and no file that is there already has a say.
    const environment = { SLUICE_TOKEN: token }
    const account = [`--base-url=${baseUrl}`, `--location=${id}`]
    const draft = await mkdtemp(join(tmpdir(), "sluice-set-up-"))
    const reached = await ask
      .json(
        ["init", ...account, `--token-ref=${isPlainSecret(token) ? "env:SLUICE_TOKEN" : token}`],
        [`--config=${join(draft, "sluice.toml")}`],
        environment
      )
      .finally(() => removeBelow(tmpdir(), draft))
    if (reached.error) {
      checked.push({ id, problem: { message: reached.error.message, next: reached.next } })
      continue
    }
    const flags = ["--config=/dev/null", ...account, `--output=${output}`]
    const doctor = await ask.json(["doctor"], flags, environment)
    const plan = await ask.json(["plan"], flags, environment)
    const data = plan.data as PlanData | undefined
    checked.push({
      id,
      name: (reached.data as { readonly account?: string } | undefined)?.account,
      ...(plan.error && { problem: { message: plan.error.message, next: plan.next } }),
      findings: (doctor.data as { readonly lines?: ReadonlyArray<unknown> } | undefined)?.lines ?? [],
      ...(data && { plan: { requests: data.requests, elapsedMs: data.elapsedMs, likely: data.likely } })
    })
  }
  return { locations: checked }
}

interface PlanData {
  readonly requests: unknown
  readonly elapsedMs?: unknown
  readonly likely?: unknown
}

/** Writes the settings file, and each token into a file of its own that only its user can read. */
export const writeSetup = async ({ environment, path }: Options, body: Body) => {
  const { baseUrl, formats, locations } = answersOf(body)
  if (existsSync(path)) throw new HttpError(409, "exists", `${path} exists already, and stays as it is.`)
  const [first, ...others] = locations
  await writeSettings(path, { baseUrl, formats, location: first!.id, token: first!.token })
  if (others.length > 0) await added(path, others, environment)
  return { file: path, next: "./sluice sync" }
}

/** Adds a location to the file that is there. */
export const addLocation = async ({ environment, path }: Options, body: Body) => {
  await added(path, [placeOf(body)], environment)
  return { file: path }
}

const added = (path: string, places: ReadonlyArray<Place>, environment: Options["environment"]) =>
  addLocations(path, places, environment).catch((cause: unknown) => {
    throw cause instanceof NotAdded ? new HttpError(409, "exists", cause.message) : cause
  })
