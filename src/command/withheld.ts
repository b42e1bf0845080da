/** Since when the settings keep what out of an output folder: what was stored before is still there. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { withheldNames } from "../catalog/withheld.ts"
import { onDisk, readJson, writeDurably } from "../output/files.ts"
import { namesIn } from "../output/folder.ts"
import { type OutputPaths, outputPaths } from "../output/paths.ts"
import { type PseudonymKey, keyFingerprint } from "../settings/masking.ts"

/** What `withheld.json` contains. */
const State = Schema.Struct({
  version: Schema.Literal(1),
  withheld: Schema.Record(
    Schema.String,
    Schema.Struct({
      /** ISO 8601. */
      since: Schema.String,
      /** The folder had responses and tables then, in which it is. */
      isStoredEarlier: Schema.Boolean,
      /** Of a hash: the fingerprint of its key. */
      key: Schema.optionalKey(Schema.String)
    })
  )
})
type Since = (typeof State.Type)["withheld"]

/** What is kept out, by its names for people. */
export const keptOut = ({ resources }: Catalogue): ReadonlyArray<string> => [
  ...new Set(
    resources.flatMap(({ table, withheld }) =>
      withheld ? [...withheldNames(withheld), ...(withheld.isNotRead ? [table] : [])] : []
    )
  )
]

/** What is kept out and was stored before it was. */
export const storedEarlier = Effect.fn("withheld.storedEarlier")(function* (folder: string, catalogue: Catalogue) {
  return earlierIn(yield* sinceIn(folder, keptOut(catalogue), undefined))
})

/** The catalogue whose descriptions say since when what was stored before is kept out; without that if it cannot be read. */
export const withSince = Effect.fn("withheld.withSince")(function* (folder: string, catalogue: Catalogue) {
  const found = yield* Effect.orElseSucceed(sinceIn(folder, keptOut(catalogue), undefined), (): Since => ({}))
  const since = new Map(earlierIn(found).map((name) => [name, `${found[name]?.since}`.slice(0, 10)]))
  const resources = catalogue.resources.map(({ withheld, ...one }) => ({
    ...one,
    ...(withheld && { withheld: { ...withheld, since } })
  }))
  return since.size === 0 ? catalogue : { ...catalogue, resources }
})

/**
 * Notes since when the settings keep what out. Only for a run that holds the folder, before it stores a page. Returns what was
 * stored `earlier` and what is no longer kept out (`lifted`).
 */
export const noteWithheld = Effect.fn("withheld.note")(function* (
  folder: string,
  catalogue: Catalogue,
  key: PseudonymKey | undefined
) {
  const path = outputPaths(folder).withheld
  const known = (yield* readJson(path, State))?.withheld ?? {}
  const withheld = yield* sinceIn(folder, keptOut(catalogue), key && keyFingerprint(key))
  yield* onDisk(path, "written", () =>
    Object.keys(withheld).length === 0
      ? rm(path, { force: true })
      : writeDurably(path, `${JSON.stringify({ version: 1, withheld } satisfies typeof State.Type, null, 1)}\n`)
  )
  return { earlier: earlierIn(withheld), lifted: Object.keys(known).filter((name) => !Object.hasOwn(withheld, name)) }
})

const earlierIn = (since: Since): ReadonlyArray<string> =>
  Object.entries(since).flatMap(([name, { isStoredEarlier }]) => (isStoredEarlier ? [name] : []))

/** `key`: absent if it is not known. */
const sinceIn = Effect.fnUntraced(function* (folder: string, names: ReadonlyArray<string>, key: string | undefined) {
  const paths = outputPaths(folder)
  if (names.length === 0) return {}
  const known = (yield* readJson(paths.withheld, State))?.withheld ?? {}
  const isStoredEarlier = yield* onDisk(paths.vault, "read", () => isUsed(paths))
  const since = new Date(yield* Clock.currentTimeMillis).toISOString()
  return Object.fromEntries(
    names.map((name) => {
      const own = name.startsWith("hash of ") && key !== undefined ? { key } : {}
      const before = known[name]
      const isSame = before !== undefined && (key === undefined || before.key === own.key)
      return [name, isSame ? before : { since, isStoredEarlier, ...own }]
    })
  )
})

/** Whether the folder has anything of an account. */
const isUsed = async ({ published, vault }: OutputPaths): Promise<boolean> => {
  const names = await namesIn(vault)
  const sizes = await Promise.all(names.map((name) => stat(join(vault, name))))
  return sizes.some(({ size }) => size > 0) || existsSync(published)
}
