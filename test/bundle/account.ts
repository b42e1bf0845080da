/** An output folder with a release of some tables, for the tests of bundles. */
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { type Account, openSynced } from "../support/account.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

export interface BundleAccount {
  readonly account: Account
  readonly environment: Readonly<Record<string, string>>
  /** A folder for bundles. */
  readonly folder: string
  readonly export: (...args: ReadonlyArray<string>) => Promise<Ran>
  readonly verify: (...args: ReadonlyArray<string>) => Promise<Ran>
}

/** With child tables, money in several currencies, and rows of the nasty world. */
export const bundledTables = "contacts,contact_notes,invoices,orders,transactions"

export const openBundleAccount = async (formats = "duckdb,parquet,csv"): Promise<BundleAccount> => {
  const account = await openSynced({ tables: bundledTables, flags: ["--contacts", "40", "--world", "nasty"], formats })
  const { environment } = account
  return {
    account,
    environment,
    folder: newFolder(),
    export: (...args) => sluice(["export", "bundle", ...args], environment),
    verify: (...args) => sluice(["export", "verify", ...args], environment)
  }
}

/** The content of every file of a folder, by path. */
export const filesIn = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path)])
  )

/** Modes and times of the files and folders of a folder, by path. */
export const modesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()].map((path) => {
      const { mode, mtimeMs } = statSync(join(folder, path))
      return [path, `${(mode & 0o777).toString(8)} ${mtimeMs}`]
    })
  )
