/**
 * The published file that is current. A release replaces the link to the published folder, so the file is opened by the path
 * of its own release, and opened anew once the link points to another one. An open file delays no release: it has no
 * lock that a publish waits for, and its space is freed when it is closed.
 */
import { realpath, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { readManifest } from "../../output/manifest.ts"
import { isRelease, snapshotName } from "../../output/paths.ts"
import { type DatabaseOptions, Database, DatabaseError } from "./database.ts"
import { limits } from "./limits.ts"
import { type Links, withLinks } from "./links.ts"
import type { NamedTable } from "./messages.ts"

export interface Release extends DatabaseOptions {
  /** The name of its folder, such as 000007-20260131T100000000Z. */
  readonly id: string
  /** When it was written. */
  readonly writtenAt: string | undefined
  readonly database: Database
}

export class Releases {
  readonly #published: string
  readonly #memoryMb: number
  #current: Release | undefined
  constructor(published: string, memoryMb: number) {
    this.#published = published
    this.#memoryMb = memoryMb
  }

  /** Fails with a DatabaseError if there is no published file. */
  async current(): Promise<Release> {
    const file = join(this.#published, snapshotName)
    const path = await realpath(file).catch(() => undefined)
    const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
    if (path === undefined || found === undefined)
      throw new DatabaseError("failed", `${file} does not exist. Run ./sluice publish, then try again.`)
    // Without links, each release is at the same path.
    const folder = basename(dirname(path))
    const id = isRelease(folder) ? folder : `${folder}-${Math.round(found.mtimeMs)}`
    if (this.#current?.path === path && this.#current.id === id) return this.#current
    const writtenAt = await writtenAtOf(dirname(path))
    // Another request may have opened it in the meantime.
    const current = this.#current
    if (current?.path === path && current.id === id) return current
    const options = { path, memoryMb: this.#memoryMb }
    this.#current = { ...options, id, writtenAt, database: new Database(options) }
    current?.database.close()
    return this.#current
  }

  close(): void {
    this.#current?.database.close()
  }
}

/** A release can be removed at this moment, and the manifest only serves the heading of the page. */
const writtenAtOf = (folder: string): Promise<string | undefined> =>
  readManifest(folder).then(
    ({ writtenAt }) => writtenAt,
    () => undefined
  )

/** The tables of a release as the page lists them, before it knows their columns. */
export interface ShownTables {
  readonly tables: ReadonlyArray<NamedTable>
  /** The name of each location that has one. */
  readonly locations: Readonly<Record<string, string>>
}

/** What the page shows of the tables of a release. */
export interface ShownCatalog extends ShownTables {
  readonly tables: ReturnType<typeof withLinks>
}

export interface Shown {
  readonly tables: Promise<ShownTables>
  readonly catalog: Promise<ShownCatalog>
}

/**
 * Both are read once for each release, whoever asks first. `links`: a release is shown without them if they cannot be read; they
 * take this process long enough that the tables come first.
 */
export const shownCatalogs = (links: () => Promise<Links>) => {
  const known = new WeakMap<Release, Shown>()
  let found: Promise<Links> | undefined
  return (release: Release): Shown => {
    const one = known.get(release) ?? shownOf(release, () => (found ??= links().catch((): Links => new Map())))
    known.set(release, one)
    one.catalog.catch(() => known.delete(release))
    return one
  }
}

const shownOf = ({ database }: Release, links: () => Promise<Links>): Shown => {
  // Not that of a browser: another one may wait for the same answer.
  const { signal } = new AbortController()
  const names = database
    .query(`SELECT id, name FROM locations WHERE name IS NOT NULL LIMIT ${limits.rows}`, signal)
    .catch(() => ({ rows: [] }))
  const locations = names.then(({ rows }) => Object.fromEntries(rows) as Record<string, string>)
  const tables = Promise.all([database.tables(signal), locations]).then(([tables, locations]) => ({
    tables,
    locations
  }))
  const whole = tables.then(async ({ locations }) => {
    const columns = database.catalog(signal)
    return { tables: withLinks(await columns, await links()), locations }
  })
  return { tables, catalog: whole }
}
