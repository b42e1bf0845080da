/** Writes a new settings file, and a token beside it. */
import { existsSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"
import { closeToOthers, writeAtomically } from "../output/files.ts"
import { exampleToml, schemaFile } from "./documents.ts"
import { isPlainSecret } from "./secrets.ts"
import { installed } from "../values/installation.ts"

export interface NewSettings {
  readonly baseUrl: string
  /** The token itself, or a reference to it. */
  readonly token: string
  readonly location: string
  readonly formats: ReadonlyArray<string>
}

/** The files that `writeSettings` creates. The second is for a token that is no reference. */
export const newFiles = (path: string, token: string): ReadonlyArray<string> =>
  isPlainSecret(token) ? [path, join(dirname(path), "token")] : [path]

/** Writes both files atomically, the settings last. If that fails, it leaves nothing that was not there. */
export const writeSettings = async (path: string, settings: NewSettings): Promise<void> => {
  const { baseUrl, formats, location, token } = settings
  const [, tokenFile] = newFiles(path, token)
  await mkdir(dirname(path), { recursive: true })
  const isNew = tokenFile !== undefined && !existsSync(tokenFile)
  try {
    if (tokenFile !== undefined) await writePrivately(tokenFile, `${token}\n`)
    const values = {
      "account.base_url": baseUrl,
      "account.location_id": location,
      "account.token": tokenFile === undefined ? token : `file:${resolve(tokenFile)}`,
      "output.formats": formats
    }
    await writePrivately(path, exampleToml({ schema: schemaFrom(path), values }))
  } catch (cause) {
    if (isNew) await rm(tokenFile, { force: true })
    throw cause
  }
}

/** Replaces a file at once by one that only its user can read. */
export const writePrivately = async (path: string, content: string): Promise<void> => {
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
