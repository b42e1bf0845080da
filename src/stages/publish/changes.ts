/** What has changed since the current release, by table: nothing, the rows of some records, or everything. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import { firstWide } from "../../catalog/tables.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { query } from "../../stores/warehouse/query.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { Limits } from "../../values/limits.ts"
import type { WideView } from "../../stores/warehouse/wide-view.ts"
import type { PreviousRelease } from "./manifest.ts"

/** A table or wide view to publish. */
export interface TableName extends PublishedTable {
  readonly wide?: WideView | undefined
}

/** Adds to each view its definition, from which it can be read in parts, and after the first view of a table the further ones. */
export const withViews = (
  tables: ReadonlyArray<PublishedTable>,
  views: ReadonlyArray<WideView>
): ReadonlyArray<TableName> =>
  tables.flatMap((table) => {
    const own = views.filter(({ view }) => firstWide(view) === table.name)
    return own.length === 0 ? [table] : own.map((wide) => ({ ...table, name: wide.view, wide }))
  })

/** `some`: all rows of the records in `meta.changed_keys` have changed, and no others. */
export type Change = "none" | "some" | "all"

export interface TableChange extends TableName {
  readonly change: Change
  /** About which part of its rows a release replaces. */
  readonly share: number
}

export interface Changes {
  readonly versions: Readonly<Record<string, string>>
  readonly tables: ReadonlyArray<TableChange>
}

/** Increase it when the program writes other bytes for the same rows. */
const layout = 5

/** The version of a table in a release. `content`: that of its resource in the warehouse. */
export const versionOf = (content: string | undefined, wide?: TableName["wide"]): string =>
  hash("sha256", JSON.stringify([layout, content, wide?.definition])).slice(0, 32)

export const changesSince = Effect.fn("publish.changesSince")(function* (
  previous: PreviousRelease | undefined,
  tables: ReadonlyArray<TableName>
) {
  const stored = yield* contentVersions()
  const released = previous?.manifest.state.versions ?? {}
  const { changedShare } = (yield* Limits).publish
  const shares = yield* changedShares(tables.filter(({ wide }) => !wide))
  const found = tables.map((table) => {
    const { version, base } = stored.of(table.resource)
    const wasReleased = (content: string | undefined) => released[table.name] === versionOf(content, table.wide)
    const some = shares.get(table.resource) ?? 0
    const isFew = !changedShare.isExceededBy(some)
    const change: Change = wasReleased(version) ? "none" : base && isFew && wasReleased(base) ? "some" : "all"
    const share = { none: 0, some, all: 1 }[change]
    return { ...table, version: versionOf(version, table.wide), change, share }
  })
  return {
    versions: Object.fromEntries(found.map((table) => [table.name, table.version])),
    tables: found
  }
})

/** The changed keys of each resource in proportion to its records. */
const changedShares = Effect.fnUntraced(function* (tables: ReadonlyArray<TableName>) {
  const counts = yield* query(
    { resource: String, size: Number },
    "SELECT resource, count(DISTINCT (location_id, key)) AS size FROM meta.changed_keys GROUP BY ALL"
  )
  const { changedKeys } = (yield* Limits).publish
  const known = counts.filter(({ resource }) => tables.some(({ name }) => name === resource))
  const countOf = ({ resource }: (typeof counts)[number]) => `SELECT count(*) AS n FROM crm.${name(resource)}`
  const all = yield* rowsOfEach({ n: Number }, known, countOf)
  const shareOf = (size: number, n: number) => (changedKeys.isExceededBy(size) ? 1 : size / Math.max(1, n))
  return new Map(all.map(([{ resource, size }, { n }]) => [resource, shareOf(size, n)]))
})
