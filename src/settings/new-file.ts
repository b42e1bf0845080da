/** Writes a new settings file with a token beside it, and adds locations to one that is there. */
import { existsSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"
import * as Result from "effect/Result"
import { closeToOthers, writeAtomically } from "../output/files.ts"
import { fileNameOf } from "../output/names.ts"
import { exampleToml, schemaFile } from "./documents.ts"
import { withItem } from "./edit.ts"
import { type Environment, readSettings } from "./read.ts"
import { isPlainSecret } from "./secrets.ts"
import { installed } from "../values/installation.ts"

/** An OAuth app that one location has authorised: each secret itself, or a reference to it. */
export interface OAuthApp {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
}

export interface NewSettings {
  readonly baseUrl: string
  /** The token itself, or a reference to it, or an app in its place. */
  readonly token: string | OAuthApp
  readonly location: string
  readonly formats: ReadonlyArray<string>
}

/** The secrets, each with its setting and the name of a file for it. */
const secretsOf = (token: NewSettings["token"]) =>
  typeof token === "string"
    ? [{ key: "account.token", file: "token", text: token }]
    : [
        { key: "account.client_secret", file: "client-secret", text: token.clientSecret },
        { key: "account.refresh_token", file: "refresh-token", text: token.refreshToken }
      ]

/** The files that `writeSettings` creates: the settings, and one for each secret that is no reference. */
export const newFiles = (path: string, token: NewSettings["token"]): ReadonlyArray<string> => [
  path,
  ...secretsOf(token).flatMap(({ file, text }) => (isPlainSecret(text) ? [join(dirname(path), file)] : []))
]

/** Writes all files atomically, the settings last. If that fails, it leaves nothing that was not there. */
export const writeSettings = async (path: string, settings: NewSettings): Promise<void> => {
  const { baseUrl, formats, location, token } = settings
  const isNew = newFiles(path, token).filter((file) => !existsSync(file))
  const values: Record<string, unknown> = { "account.base_url": baseUrl, "account.location_id": location }
  if (typeof token !== "string") values["account.client_id"] = token.clientId
  try {
    for (const { file, key, text } of secretsOf(token)) {
      const own = join(dirname(path), file)
      if (isPlainSecret(text)) await writePrivately(own, `${text}\n`)
      values[key] = isPlainSecret(text) ? `file:${resolve(own)}` : text
    }
    values["output.formats"] = formats
    await writePrivately(path, exampleToml({ schema: schemaFrom(path), values }))
  } catch (cause) {
    for (const file of isNew) await rm(file, { force: true })
    throw cause
  }
}

/** A location, with its token or a reference to it; without one, the token of the account counts. */
export interface NewLocation {
  readonly id: string
  readonly token?: string
}

/** What is there already, or is written in another form; nothing was changed. */
export class NotAdded extends Error {}

/** Adds locations to a file, whose comments stay, and each token to a file of its own. Returns the paths of all that it wrote. */
export const addLocations = async (
  path: string,
  places: ReadonlyArray<NewLocation>,
  environment: Environment
): Promise<ReadonlyArray<string>> => {
  const { lists, values } = readSettings({ config: path }, environment)
  // The first one is in [account] alone, until there are several.
  const { locationId } = values.account
  const known: ReadonlyArray<NewLocation> =
    lists.locations.length === 0 && locationId !== undefined ? [{ id: locationId }] : []
  const named = new Set([...lists.locations, ...known].map(({ id }) => id))
  for (const { id } of places) {
    if (named.has(id)) throw new NotAdded(`Location ${id} is in ${path} already.`)
    named.add(id)
  }
  let content = await readFile(path, "utf8")
  const written: Array<string> = []
  try {
    for (const { id, token } of [...known, ...places]) {
      const isPlain = token !== undefined && isPlainSecret(token)
      const file = resolve(dirname(path), `token-${fileNameOf(id)}`)
      if (isPlain) {
        if (existsSync(file)) throw new NotAdded(`${file} exists already, and stays as it is.`)
        await writePrivately(file, `${token}\n`)
        written.push(file)
      }
      const reference = isPlain ? `file:${file}` : token
      const edited = withItem(content, "locations", { id, ...(reference !== undefined && { token: reference }) })
      if (Result.isFailure(edited)) throw new NotAdded(edited.failure)
      content = edited.success
    }
    await writePrivately(path, content)
  } catch (cause) {
    for (const file of written) await rm(file, { force: true })
    throw cause
  }
  return [path, ...written]
}

/** Replaces a file at once by one that only its user can read. Its folder may not exist yet. */
export const writePrivately = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  try {
    // A part that an earlier attempt left may be open to others.
    await writeFile(`${path}.part`, "", { mode: 0o600 })
    await closeToOthers(`${path}.part`)
    await writeAtomically(path, content)
  } finally {
    await rm(`${path}.part`, { force: true })
  }
}

const schemaFrom = (path: string): string => {
  // In a clone, the program that npm built is in a folder of its own.
  const [schema] = ["../config", "config"].map((folder) => installed(`${folder}/${schemaFile}`)).filter(existsSync)
  if (schema === undefined) throw new Error(`${schemaFile} is missing`)
  const near = relative(resolve(dirname(path)), schema)
  return near.startsWith(".") ? near : `./${near}`
}
