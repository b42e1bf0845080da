/**
 * The folder of a demo. Each demo makes it anew, and no command reads an account into it: the made-up account and a real one
 * must never be in one folder.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { onDisk } from "../output/files.ts"
import { emptyOutputFolder, makeOutputFolder, namesIn } from "../output/folder.ts"
import { outputFileOf } from "../output/contents.ts"
import { demoFolder, outputPaths, snapshotName } from "../output/paths.ts"
import { removeBelow } from "../output/remove.ts"
import { configError } from "../console/errors.ts"
import { ledgerOf } from "../stores/ledger/file.ts"
import { linesOf } from "../stores/ledger/verify.ts"
import { locationsInVault } from "../stores/vault/locations.ts"
import { rowsByLocation } from "../stores/warehouse/locations.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"

const Mark = Schema.Struct({
  /** The address of the service of the demo, whose own syncs may write here. */
  service: Schema.String,
  locations: Schema.Array(Schema.String)
})
type Mark = typeof Mark.Type

/** What the mark of a demo says; earlier versions left an empty file. `undefined`: it is not the folder of a demo. */
export const markOf = Effect.fnUntraced(function* (folder: string) {
  const path = outputPaths(folder).demo
  if (!existsSync(path)) return undefined
  const text = yield* onDisk(path, "read", () => readFile(path, "utf8"))
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Mark))(text).pipe(
    Effect.orElseSucceed((): Mark => ({ service: "", locations: [demoLocation] }))
  )
})

/** The location that demos make up. */
export const demoLocation = "MQy3HCtB7HMsvNJpqDMX"

/**
 * Fails if an account would be read into the folder of a demo. `services`: the addresses from which it would be read; `next`:
 * what to do instead, with another folder.
 */
export const refuseDemoFolder = Effect.fnUntraced(function* (
  folder: string,
  services: ReadonlyArray<string | undefined>,
  next: (otherFolder: string) => string
) {
  const mark = yield* markOf(folder)
  if (mark === undefined || services.every((service) => service === mark.service)) return
  // Earlier versions read accounts into the folder of a demo.
  const held = yield* Effect.orElseSucceed(heldLocations(folder), () => new Set<string>())
  const [real] = [...held].filter((location) => !mark.locations.includes(location))
  return yield* real === undefined
    ? configError(
        `${folder} is the folder of a demo, and the account would be mixed with a made-up one. Nothing was read.`,
        `${next(otherThan(folder, "output"))}; or move ${folder} away, then run the same command again.`
      )
    : configError(
        `${folder} has the made-up account of a demo, ${mark.locations[0]}, beside the location ${real}. Nothing was read.`,
        `./sluice location remove ${mark.locations[0]} shows what would be removed; --apply removes it, and syncs go on.`
      )
})

/** Empties the folder of an earlier demo, or creates it. Fails if it holds anything but what this demo makes up. */
export const freshDemoFolder = Effect.fnUntraced(function* (folder: string, mark: Mark) {
  const names = yield* onDisk(folder, "read", () => namesIn(folder))
  const isUsed = names.some((name) => outputFileOf(name) !== undefined)
  const why = isUsed ? yield* foreignIn(folder, mark.locations) : undefined
  if (isUsed && ((yield* markOf(folder)) === undefined || why !== undefined))
    return yield* untouched(folder, why, `./sluice demo --output ${otherThan(folder, demoFolder)}`)
  yield* onDisk(folder, "created", async () => {
    await makeOutputFolder(folder)
    await writeMark(folder, mark)
    await emptyOutputFolder(folder)
  })
})

/** As `freshDemoFolder`, for a folder with one output folder for each location. */
export const freshDemoFleet = Effect.fnUntraced(function* (folder: string, mark: Mark) {
  const next = `./sluice demo --fleet --output ${otherThan(dirname(folder), demoFolder)}`
  const names = (yield* onDisk(folder, "read", () => namesIn(folder))).filter(
    (name) => name !== basename(outputPaths(folder).demo)
  )
  for (const name of names) {
    const why = mark.locations.includes(name) ? yield* foreignIn(join(folder, name), mark.locations) : `holds ${name}`
    if (why !== undefined || (yield* markOf(folder)) === undefined) return yield* untouched(folder, why, next)
  }
  yield* onDisk(folder, "created", async () => {
    await makeOutputFolder(folder)
    await writeMark(folder, mark)
    for (const name of names) await removeBelow(folder, name)
  })
})

/** What a folder holds that no demo has made; fails if this cannot be read. */
const foreignIn = Effect.fnUntraced(function* (folder: string, locations: ReadonlyArray<string>) {
  const others = [...(yield* heldLocations(folder))].filter((location) => !locations.includes(location))
  if (others.length > 0) return `holds the location ${others.join(", ")}, which no demo has made up`
  // A demo has no OAuth app.
  return existsSync(outputPaths(folder).tokens) ? "holds the OAuth tokens of an account" : undefined
})

const untouched = (folder: string, why = "is not the folder of a demo", next: string) =>
  configError(`${folder} ${why}. The demo did not touch it.`, next)

const writeMark = (folder: string, mark: Mark): Promise<void> =>
  writeFile(outputPaths(folder).demo, JSON.stringify(mark), { mode: 0o600 })

const otherThan = (folder: string, usual: string): string =>
  relative(process.cwd(), folder) === usual ? `another-${usual}` : usual

/** Fails if anything cannot be read, because it may be of another location. */
export const heldLocations = Effect.fnUntraced(function* (folder: string) {
  const { published, vault, warehouse } = outputPaths(folder)
  const held = new Set((yield* locationsInVault(vault)).keys())
  for (const path of [warehouse, join(published, snapshotName)]) {
    if (!existsSync(path)) continue
    const tables = yield* rowsByLocation().pipe(
      Effect.provide(Warehouse.layer(path, { access: "read", anyFormat: true, memoryMb: 256 })),
      // A run that was stopped before it made the tables leaves an empty file.
      Effect.catchIf(
        ({ reason }) => reason._tag === "WarehouseNotFound" && path === warehouse,
        () => Effect.succeed([])
      )
    )
    for (const { location } of tables) held.add(location)
  }
  for (const { record } of yield* onDisk(ledgerOf(folder), "read", () => linesOf(ledgerOf(folder))))
    for (const location of namedIn(record?.detail["locations"])) held.add(location)
  return held
})

const namedIn = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])
