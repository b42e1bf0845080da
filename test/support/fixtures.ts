/** Folders with which many tests begin. Each is created once for a state of the sources, in the system's temporary folder. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Catalogue, discover } from "../../src/catalog/discover.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "./sluice.ts"
import { asShared } from "./tiers.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** A hash of all files that a fixture may depend on. */
const fingerprint = (): string => {
  const hash = createHash("sha256").update(process.versions.node)
  for (const folder of ["src", "sandbox", "pipelines", "models", "test/support"])
    for (const file of readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).sort())
      if (/\.(ts|sql|yml)$/.test(file)) hash.update(file).update(readFileSync(join(repository, folder, file)))
  return hash.digest("hex").slice(0, 16)
}
let key: string | undefined

const prefix = "sluice-fixture-"
/** Longer than any run of the tests, so that no other run uses a fixture that was not used for this time. */
const keptMs = 3 * 3_600_000

const removeOld = (): void => {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
    const path = join(tmpdir(), name)
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > keptMs)
      rmSync(path, { recursive: true, force: true })
  }
}

/** The folder with this name, which `make` fills if it does not exist. Tests must copy it, not change it. */
export const fixture = async (name: string, make: (folder: string) => Promise<unknown>): Promise<string> => {
  if (key === undefined) removeOld()
  const path = join(tmpdir(), `${prefix}${name}-${(key ??= fingerprint())}`)
  if (existsSync(path)) {
    utimesSync(path, new Date(), new Date())
    return path
  }
  const building = mkdtempSync(join(tmpdir(), prefix))
  await asShared(() => make(building))
  try {
    renameSync(building, path)
  } catch {
    // Another worker has created it first.
    rmSync(building, { recursive: true })
  }
  return path
}

const warehouse = "warehouse.duckdb"

/** A warehouse with the empty tables of these definitions, to begin others with: creating tables takes long. */
export const templateOf = async (catalogue: Catalogue, folder = newFolder()): Promise<string> => {
  const path = join(folder, warehouse)
  const layer = Warehouse.layer(path, { access: "write", memoryMb: 128 })
  await Effect.runPromise(prepare(catalogue).pipe(Effect.provide(layer)))
  return path
}

/** Copies a warehouse with empty tables into a folder, because creating the tables takes a second. */
export const prepareIn = async (folder: string): Promise<void> => {
  const prepared = await fixture("prepared", async (building) => templateOf(await discover(), building))
  cpSync(join(prepared, warehouse), join(folder, warehouse))
}

/** A new output folder with empty tables. */
export const newOutput = async (): Promise<string> => {
  const folder = newFolder()
  await prepareIn(folder)
  return folder
}

/** A copy with the times of the files, to the nanosecond: they tell whether a published file is the one that was written. */
export const copyOf = (folder: string): string => {
  const copy = newFolder()
  execFileSync("cp", ["-a", `${folder}/.`, copy])
  return copy
}
