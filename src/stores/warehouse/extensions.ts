/**
 * Loads extensions of DuckDB. It checks the signature of a file in each database that loads it, which takes 0.3 s of CPU for
 * those of a lake: a fifth of the sync of a small location. A process that runs the syncs of many locations checks each file
 * once, and then loads what it has checked.
 */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api"
import { statSync } from "node:fs"
import { literal } from "./sql.ts"

/** Which file at a path has a signature that DuckDB has accepted. */
const checked = new Map<string, string>()

/** Setting of a new database. If it accepts files without a signature, `loadExtension` checks them elsewhere. */
export const acceptsUnsigned = (): boolean => checked.size > 0

export const loadExtension = async (connection: DuckDBConnection, path: string, isUnsigned: boolean): Promise<void> => {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  const identity = found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join()
  const load = `LOAD ${literal(path)}`
  if (isUnsigned && (identity === undefined || checked.get(path) !== identity)) {
    const instance = await DuckDBInstance.create(":memory:")
    try {
      await (await instance.connect()).run(load)
    } finally {
      instance.closeSync()
    }
  }
  await connection.run(load)
  if (identity !== undefined) checked.set(path, identity)
}

/** Where DuckDB has installed an extension; it is downloaded if need be. */
export const installedExtension = async (connection: DuckDBConnection, extension: string): Promise<string> => {
  const path = async () => {
    const sql = `SELECT install_path FROM duckdb_extensions() WHERE installed AND extension_name = ${literal(extension)}`
    return (await connection.runAndReadAll(sql)).getRows()[0]?.[0]
  }
  const found = await path()
  if (found === undefined) await connection.run(`INSTALL ${extension}`)
  return String(found ?? (await path()))
}
