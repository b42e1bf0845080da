/** What the page shows of the tables of a release. It is read once for each release, whoever asks first. */
import { limits } from "./limits.ts"
import { type Links, withLinks } from "./links.ts"
import type { Release } from "./releases.ts"

export interface ShownCatalog {
  readonly tables: ReturnType<typeof withLinks>
  /** The name of each location that has one. */
  readonly locations: Readonly<Record<string, string>>
}

/** `links`: a release is shown without them if they cannot be read. */
export const shownCatalogs = (links: () => Promise<Links>) => {
  const known = new WeakMap<Release, Promise<ShownCatalog>>()
  let found: Promise<Links> | undefined
  return (release: Release): Promise<ShownCatalog> => {
    found ??= links().catch((): Links => new Map())
    const one = known.get(release) ?? read(release, found)
    known.set(release, one)
    one.catch(() => known.delete(release))
    return one
  }
}

const read = async ({ database }: Release, links: Promise<Links>): Promise<ShownCatalog> => {
  // Not that of a browser: another one may wait for the same answer.
  const { signal } = new AbortController()
  const [tables, names] = await Promise.all([
    database.catalog(signal),
    database
      .query(`SELECT id, name FROM locations WHERE name IS NOT NULL LIMIT ${limits.rows}`, signal)
      .catch(() => ({ rows: [] }))
  ])
  return { tables: withLinks(tables, await links), locations: Object.fromEntries(names.rows) as Record<string, string> }
}
