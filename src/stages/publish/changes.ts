/** What has changed since the current release, by table: nothing, the rows of some records, or everything. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import { firstWide } from "../../catalog/tables.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { query, queryNumber } from "../../stores/warehouse/query.ts"
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
}

export interface Changes {
  readonly versions: Readonly<Record<string, string>>
  readonly tables: ReadonlyArray<TableChange>
}

/** Increase it when the program writes other bytes for the same rows. */
const layout = 4

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
  const changed = yield* changedShares(tables.filter(({ wide }) => !wide))
  const found = tables.map((table) => {
    const { version, base } = stored.of(table.resource)
    const wasReleased = (content: string | undefined) => released[table.name] === versionOf(content, table.wide)
    const isFew = !changedShare.isExceededBy(changed.get(table.resource) ?? 0)
    const change: Change = wasReleased(version) ? "none" : base && isFew && wasReleased(base) ? "some" : "all"
    return { ...table, version: versionOf(version, table.wide), change }
  })
  return {
    versions: Object.fromEntries(found.map((table) => [table.name, table.version])),
    tables: found
  }
})

/** The changed keys of each resource in proportion to its records. */
const changedShares = Effect.fnUntraced(function* (tables: ReadonlyArray<TableName>) {
  const parents = new Map(tables.filter(({ resource, name }) => resource === name).map((table) => [table.name, table]))
  const counts = yield* query(
    { resource: String, n: Number },
    "SELECT resource, count(DISTINCT (location_id, key)) AS n FROM meta.changed_keys GROUP BY ALL"
  )
  const { changedKeys } = (yield* Limits).publish
  const shares = new Map<string, number>()
  for (const { resource, n } of counts) {
    if (!parents.has(resource)) continue
    const all = yield* queryNumber(`SELECT count(*) FROM crm.${name(resource)}`)
    shares.set(resource, changedKeys.isExceededBy(n) ? 1 : n / Math.max(1, all))
  }
  return shares
})
