/** The output folder, created so that only its owner can access it, and its id. */
import { chmod, mkdir, readdir, stat } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { failure } from "../values/failure.ts"
import { ifMissing, onDisk, readJson, unlessRefused, writeDurably } from "./files.ts"
import { outputFileOf } from "./contents.ts"
import { outputPaths, readmeName } from "./paths.ts"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removeBelow } from "./remove.ts"
import { nodeCrypto } from "../values/node.ts"

/**
 * Creates the output folder, or restricts the access to one with only the README, as in a clone of the repository. Any
 * other folder keeps the mode that its owner gave it. Throws the failure OutputFolderUnusable.
 */
export const makeOutputFolder = async (folder: string): Promise<void> => {
  await makeFolder(folder)
  const names = await readdir(folder)
  if (names.length === 1 && names[0] === readmeName) await unlessRefused(() => chmod(folder, 0o700))
}

/** Node's recursive `mkdir` does not return for a folder under /proc, where the system refuses it as not found. */
const makeFolder = async (folder: string, output = folder): Promise<void> => {
  const unusable = (detail: string) => failure({ _tag: "OutputFolderUnusable", folder: output, detail })
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory()) return
  if (found) throw unusable(`${folder} is not a folder`)
  const parent = dirname(folder)
  if (parent !== folder) await makeFolder(parent, output)
  await mkdir(folder, { mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") throw unusable(`the system does not allow a folder in ${parent}`)
    // Another process may have created it.
    if (cause.code !== "EEXIST") throw cause
  })
}

/** Removes what sluice has written into the folder, and nothing else; its mark stays, so that a killed call can be repeated. */
export const emptyOutputFolder = async (folder: string): Promise<void> => {
  const mark = basename(outputPaths(folder).demo)
  for (const name of await readdir(folder))
    if (outputFileOf(name) !== undefined && name !== mark) await removeBelow(folder, name)
}

/** The names in a folder; none if it does not exist. */
export const namesIn = (folder: string): Promise<ReadonlyArray<string>> => readdir(folder).catch(ifMissing([]))

const Owner = Schema.Struct({ id: Schema.String })

/**
 * The id of the folder, by which a database or a bucket knows whose data it has. It is made when it is first needed, and moves
 * with the folder.
 */
export const ownerOf = Effect.fnUntraced(function* (output: string) {
  const path = outputPaths(output).owner
  const known = yield* readJson(path, Owner)
  if (known) return known.id
  const id = nodeCrypto().randomUUID()
  yield* onDisk(path, "written", () => writeDurably(path, JSON.stringify({ id } satisfies typeof Owner.Type)))
  return id
})
