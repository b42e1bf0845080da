/** Writes a new settings file with a token beside it, and adds locations to one that is there. */
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, renameSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"
import * as Result from "effect/Result"
import { syncFolder } from "../output/files.ts"
import { fileNameOf } from "../output/names.ts"
import { firstToml, schemaFile } from "./documents.ts"
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
  /** Others, by `section.key`. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** The files beside the settings that set-up writes the token of a location into: of the first location, and of each other one. */
export const tokenFilesOf = (path: string, location: string) => ({
  first: resolve(dirname(path), tokenFile),
  other: resolve(dirname(path), `token-${fileNameOf(location)}`)
})
const tokenFile = "token"

/** The secrets, each with its setting and the name of a file for it. */
const secretsOf = (token: NewSettings["token"]) =>
  typeof token === "string"
    ? [{ key: "account.token", file: tokenFile, text: token }]
    : [
        { key: "account.client_secret", file: "client-secret", text: token.clientSecret },
        { key: "account.refresh_token", file: "refresh-token", text: token.refreshToken }
      ]

/** The files that `writeSettings` creates: the settings, and one for each secret that is no reference. */
export const newFiles = (path: string, token: NewSettings["token"]): ReadonlyArray<string> => [
  path,
  ...secretsOf(token).flatMap(({ file, text }) => (isPlainSecret(text) ? [join(dirname(path), file)] : []))
]

/**
 * Writes all files atomically, the settings last. If that fails, it leaves nothing that was not there. Without `replaces`, a file
 * that is there refuses it: other settings of the same folder may have their token in it.
 */
export const writeSettings = async (path: string, settings: NewSettings, replaces = false): Promise<void> => {
  const { baseUrl, formats, location, token } = settings
  const read = replaces ? undefined : null
  const made: Array<string> = []
  const write = async (file: string, content: string) => {
    const isNew = !existsSync(file)
    await writePrivately(file, content, read)
    if (isNew) made.push(file)
  }
  const values: Record<string, unknown> = { "account.base_url": baseUrl, "account.location_id": location }
  if (typeof token !== "string") values["account.client_id"] = token.clientId
  try {
    for (const { file, key, text } of secretsOf(token)) {
      const own = join(dirname(path), file)
      if (isPlainSecret(text)) await write(own, `${text}\n`)
      values[key] = isPlainSecret(text) ? `file:${resolve(own)}` : text
    }
    Object.assign(values, { "output.formats": formats }, settings.more)
    await write(path, firstToml(documentsFrom(path), values))
  } catch (cause) {
    for (const file of made) await rm(file, { force: true })
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
  const before = await readFile(path, "utf8")
  let content = before
  const written: Array<string> = []
  try {
    for (const { id, token } of [...known, ...places]) {
      const isPlain = token !== undefined && isPlainSecret(token)
      const file = tokenFilesOf(path, id).other
      if (isPlain) {
        if (existsSync(file)) throw new NotAdded(`${file} exists already, and stays as it is.`)
        await writePrivately(file, `${token}\n`, null)
        written.push(file)
      }
      const reference = isPlain ? `file:${file}` : token
      const edited = withItem(content, "locations", { id, ...(reference !== undefined && { token: reference }) })
      if (Result.isFailure(edited)) throw new NotAdded(edited.failure)
      content = edited.success
    }
    await writePrivately(path, content, before)
  } catch (cause) {
    for (const file of written) await rm(file, { force: true })
    throw cause
  }
  return [path, ...written]
}

/** The file is another one than what was read of it. Nothing was changed. */
export class FileChanged extends Error {
  constructor(path: string, wasThere: boolean) {
    super(wasThere ? `${path} has changed meanwhile.` : `${path} exists already, and stays as it is.`)
  }
}

let turn: Promise<unknown> = Promise.resolve()
/** Whatever reads a file of the user and writes it takes turns, so that none decides by what another is about to change. */
export const inTurn = <A>(work: () => Promise<A>): Promise<A> => {
  const run = turn.then(work)
  turn = run.catch(() => {})
  return run
}

/**
 * Replaces a file at once by one that only its user can read. Its folder may not exist yet. `read`: what the new content was made
 * of, null if there was no file; if another hand has changed it since, it stays, and FileChanged is thrown.
 */
export const writePrivately = async (path: string, content: string, read?: string | null): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const part = `${path}.${randomUUID()}.part`
  try {
    await writeFile(part, content, { mode: 0o600, flag: "wx", flush: true })
    // Between the comparison and the change nothing waits.
    if (read !== undefined && (existsSync(path) ? readFileSync(path, "utf8") : null) !== read)
      throw new FileChanged(path, read !== null)
    renameSync(part, path)
  } finally {
    await rm(part, { force: true })
  }
  await syncFolder(dirname(path))
}

const documentsFrom = (path: string): string => {
  // In a clone, the program that npm built is in a folder of its own.
  const folder = ["../config", "config"].map(installed).find((one) => existsSync(join(one, schemaFile)))
  if (folder === undefined) throw new Error(`${schemaFile} is missing`)
  const near = relative(resolve(dirname(path)), folder)
  return near.startsWith(".") ? near : `./${near}`.replace(/\/$/, "")
}
