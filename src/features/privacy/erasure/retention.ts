/** What the retention settings say is too old: records of a table, and those that belong to them, such as files. */
import { Effect } from "effect"
import { present } from "../../../catalog/present.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { type Resource, resourceOf } from "../../../catalog/resource.ts"
import { snakeCase } from "../../../catalog/fields.ts"
import { columnWithRole, keyText, tablesOf } from "../../../catalog/tables.ts"
import type { Failure } from "../../../values/failure.ts"
import { isOfChosen, keysTable, linkedResources, partsOfChosen } from "../subject/belongings.ts"
import { countRecords } from "../subject/collect.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { filesOfRecords } from "../../../stores/warehouse/stored-files.ts"
import { queryRow } from "../../../stores/warehouse/query.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { numbers } from "../../../values/rows.ts"
import type { Hold } from "./hold.ts"
import { holdsTable } from "./holds.ts"
import type { ErasurePlan, Unjudged } from "./job.ts"
import { ownColumns } from "./treatment.ts"

export interface RetentionRule {
  readonly table: string
  /** As in the settings: `24 months`. */
  readonly period: string
}

/**
 * The column by which the age of a record counts; `undefined` if it has none. That of a past period is the better one where they
 * differ: a conversation is as old as its last message.
 */
export const ageColumn = (resource: Resource): string | undefined => {
  const [table] = tablesOf(resource)
  const dated = resource.backfill && snakeCase(resource.backfill.dateField)
  return table.columns.find(({ name }) => name === dated)?.name ?? columnWithRole(table, "created")
}

/** `now`: ISO 8601. Records under a hold stay, and so do those whose time says nothing; these are counted. */
export const planRetention = Effect.fn("erasure.planRetention")(function* (
  { resources }: Catalogue,
  rules: ReadonlyArray<RetentionRule>,
  holds: ReadonlyArray<Hold>,
  now: string
): Effect.fn.Return<ErasurePlan, Failure, Warehouse> {
  const linked = linkedResources(resources)
  const ordered = [...resources.filter(({ person }) => !person), ...linked.map(({ resource }) => resource)]
  const affected: Array<Resource> = []
  for (const resource of ordered) {
    const whole = linked.find((one) => one.resource === resource)?.parent
    const isPart = whole !== undefined && affected.includes(whole)
    const rule = rules.find(({ table }) => table === resource.table)
    const parents = Object.entries(resource.person?.records ?? {}).filter(([, table]) =>
      affected.some((one) => one.table === table)
    )
    const { owner } = resource.person ?? {}
    const held = holds.flatMap(({ contacts }) => contacts)
    const isHeld = ownColumns(resource.person?.contacts).map(
      (column) => `AND coalesce(${name(column)}, '') NOT IN (${["-", ...held].map(literal).join(", ")})`
    )
    const conditions = [
      ...(rule
        ? [
            `(${name(present(ageColumn(resource), `time in ${rule.table}`))} < TIMESTAMPTZ ${literal(now)} - INTERVAL ${literal(rule.period)})`
          ]
        : []),
      ...parents.map(
        ([column, table]) =>
          `(location_id, ${name(column)}) IN (SELECT (location_id, key) FROM ${keysTable(resourceOf(resources, table))})`
      ),
      ...(owner && affected.length > 0 ? [isOfChosen(owner, affected)] : []),
      ...(isPart
        ? [
            `(location_id, ${keyText(resource)}) IN (SELECT (location_id, key) FROM (${partsOfChosen(resource, whole, ["crm"])}))`
          ]
        : [])
    ]
    if (conditions.length === 0 || holds.some((hold) => holdsTable(hold, resource.table))) continue
    yield* (yield* Warehouse).run(
      `CREATE OR REPLACE TABLE ${keysTable(resource)} AS SELECT DISTINCT location_id, ${keyText(resource)} AS key
       FROM crm.${name(resource.table)} WHERE (${conditions.join(" OR ")}) ${isHeld.join(" ")}`
    )
    affected.push(resource)
  }
  const rows: Record<string, number> = {}
  const unjudged = yield* Effect.forEach(rules, ({ table }) => unjudgedIn(resourceOf(resources, table), affected, now))
  const identifiers = (yield* Effect.forEach(affected, (resource) => countRecords(resource, rows))).flat()
  return {
    identifiers,
    texts: [],
    files: yield* filesOfRecords(affected, keysTable),
    rows,
    kept: {},
    unjudged: unjudged.flat()
  }
})

/** Records of a rule that stay although nobody knows whether they are too old. */
const unjudgedIn = Effect.fnUntraced(function* (resource: Resource, affected: ReadonlyArray<Resource>, now: string) {
  const { table } = resource
  const time = present(ageColumn(resource), `time in ${table}`)
  const stays = affected.includes(resource)
    ? `(location_id, ${keyText(resource)}) NOT IN (SELECT (location_id, key) FROM ${keysTable(resource)})`
    : "true"
  const isRejected = `(location_id, ${keyText(resource)}) IN (
    SELECT (location_id, key) FROM meta.rejected_values WHERE table_name = ${literal(table)} AND column_name = ${literal(time)})`
  const found = yield* queryRow(
    numbers("missing", "unreadable", "future", "rejected"),
    `SELECT count(*) FILTER (${name(time)} IS NULL AND NOT ${isRejected}) AS missing,
       count(*) FILTER (${name(time)} IS NULL AND ${isRejected}) AS unreadable,
       count(*) FILTER (${name(time)} > TIMESTAMPTZ ${literal(now)}) AS future,
       (SELECT count(DISTINCT (location_id, record)) FROM meta.rejected_records WHERE table_name = ${literal(table)}) AS rejected
     FROM crm.${name(table)} WHERE ${stays}`
  )
  const reasons = ["missing", "unreadable", "future", "rejected"] as const
  return reasons.flatMap((why): ReadonlyArray<Unjudged> =>
    found[why] > 0 ? [{ table, why, records: found[why] }] : []
  )
})
