/**
 * Brings the database of a target up to date with the target's current release. Beside the releases, `loaded.duckdb` is the
 * file that the database got last: the changes since then are the difference of two files, whatever happened in between.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { constants } from "node:fs"
import { copyFile, link, mkdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { onDisk, writeDurably } from "../../../output/files.ts"
import { readJson } from "../../../output/json-file.ts"
import { outputPaths, snapshotName } from "../../../output/paths.ts"
import type { PostgresDestination, Target } from "../../../settings/targets.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Failure } from "../../../values/failure.ts"
import type { TableName } from "../changes.ts"
import { type PreviousRelease, previousRelease } from "../manifest.ts"
import type { Model } from "../models/model.ts"
import { isLoaded, loadRelease } from "./load.ts"
import { ownerOf } from "./owner.ts"
import { releaseTables } from "./release-tables.ts"
import { loadedName } from "./rows.ts"
import { connect, patiently } from "./server.ts"

export interface Delivery {
  readonly tables: ReadonlyArray<TableName>
  readonly models: ReadonlyArray<Model>
  readonly locations: ReadonlyArray<string>
  /** The output folder. */
  readonly output: string
  readonly memoryMb: number
  readonly full: boolean
}

/** Returns the tables that were changed in the database. */
export const deliver = Effect.fn("postgres.deliver")(function* (
  { folder, masking, name: target }: Target,
  destination: PostgresDestination,
  { full, locations, memoryMb, models, output, tables }: Delivery
): Effect.fn.Return<ReadonlyArray<string>, Failure> {
  const release = yield* previousRelease(folder)
  // A release that was just published is complete.
  if (release === undefined) return []
  const { manifest } = release
  const owner = yield* ownerOf(output)
  const content = manifest.files.find(({ path }) => path === snapshotName)!.sha256
  const { schema } = destination
  const kept = masking === undefined ? manifest.problems.map(({ model }) => `bi.${model}`) : []
  const sorted = locations.toSorted()
  const changed = yield* Effect.gen(function* () {
    const server = yield* connect(destination)
    if (!full && (yield* isLoaded(server, { content, locations: sorted, owner, schema }))) return []
    return yield* Effect.gen(function* () {
      const found = yield* releaseTables(schema, manifest, tables, models)
      return yield* loadRelease(server, {
        target,
        schema,
        tables: found,
        kept: new Set(kept),
        owner,
        locations: sorted,
        content,
        loadedContent: yield* attachLoaded(dirname(folder)),
        run: manifest.run,
        full,
        file: yield* scratchFile(output)
      })
    }).pipe(
      Effect.provide(Warehouse.layer(join(release.folder, snapshotName), { access: "read", isRelease: true, memoryMb }))
    )
  }).pipe(Effect.scoped, (work) => patiently(target, work))
  yield* keepLoaded(dirname(folder), release, content)
  return changed
})

const scratchFile = Effect.fnUntraced(function* (output: string) {
  const { temporary } = outputPaths(output)
  yield* onDisk(temporary, "created", () => mkdir(temporary, { recursive: true, mode: 0o700 }))
  return join(temporary, "copied.csv")
})

const Loaded = Schema.Struct({
  /** SHA-256 of the file. */
  content: Schema.String
})

const loadedPaths = (folder: string) => ({ file: join(folder, "loaded.duckdb"), about: join(folder, "loaded.json") })

/** Attaches the file that the database got last. Returns its SHA-256; `undefined` if there is none that can be opened. */
const attachLoaded = Effect.fnUntraced(function* (folder: string) {
  const { about, file } = loadedPaths(folder)
  const known = yield* Effect.orElseSucceed(readJson(about, Loaded), () => undefined)
  if (known === undefined) return undefined
  const warehouse = yield* Warehouse
  return yield* warehouse.run(`ATTACH ${literal(file)} AS ${loadedName} (READ_ONLY)`).pipe(
    Effect.as(known.content),
    Effect.orElseSucceed(() => undefined)
  )
})

/** What says which file it is comes last: without it, the file is of no use. */
const keepLoaded = Effect.fnUntraced(function* (folder: string, release: PreviousRelease, content: string) {
  const { about, file } = loadedPaths(folder)
  const known = yield* Effect.orElseSucceed(readJson(about, Loaded), () => undefined)
  if (known?.content === content) return
  yield* onDisk(file, "written", async () => {
    const [from, part] = [join(release.folder, snapshotName), `${file}.part`]
    await rm(about, { force: true })
    await rm(part, { force: true })
    // Releases are never written to again.
    await link(from, part).catch(() => copyFile(from, part, constants.COPYFILE_FICLONE))
    await rename(part, file)
    await writeDurably(about, JSON.stringify({ content } satisfies typeof Loaded.Type))
  })
})
