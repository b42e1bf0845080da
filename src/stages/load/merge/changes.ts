/** What a transaction changes beside the rows: their counts, the versions of the content, and the keys for the next release. */
import * as Effect from "effect/Effect"
import { changeVersions, recordChangedKeys } from "../../../stores/warehouse/meta/content-versions.ts"
import { RunChanges } from "../../../stores/warehouse/meta/run-changes.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { idColumn } from "../../../catalog/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { Transaction } from "../../../stores/warehouse/transaction.ts"

/** Of one attempt of one transaction. */
export class Changes {
  readonly counts = new RunChanges()
  private readonly released: ReadonlySet<string>
  private readonly changed = new Set<string>()

  /** `released`: the resources that a release has. */
  constructor(released: ReadonlySet<string>) {
    this.released = released
  }

  /** Statements that go with a change of a resource's tables. `keys`: a relation with the `location_id` and `key` of each changed row. */
  ofRows(resource: string, keys: string): ReadonlyArray<string> {
    this.changed.add(resource)
    return this.released.has(resource) ? [recordChangedKeys(resource, keys)] : []
  }

  /** The statements that record what has changed. */
  statements(): ReadonlyArray<string> {
    return [...this.counts.take(), ...changeVersions(this.changed)]
  }
}

/**
 * Replaces the field key of custom values by the field id, once both are loaded; also in earlier versions. `loaded`: tables
 * of the batch.
 */
export const replaceFieldKeys = Effect.fnUntraced(function* (
  tx: Transaction,
  resources: ReadonlyArray<Resource>,
  changes: Changes,
  loaded: ReadonlySet<string>
) {
  for (const { table: parent, wide } of resources) {
    if (!wide?.byKey || !(loaded.has(parent) || loaded.has("custom_fields"))) continue
    const [field, parentId] = [name(wide.field), name(idColumn(parent))]
    for (const [schema, sameVersion] of [
      ["crm", ""],
      ["crm_history", " AND o._valid_from = v._valid_from"]
    ]) {
      const values = `${schema}.${name(wide.table)}`
      const unresolved = `crm.custom_fields AS f
       WHERE v.${field} NOT IN (SELECT id FROM crm.custom_fields)
         AND f.location_id = v.location_id AND f.field_key IN (v.${field}, ${literal(`${wide.model}.`)} || v.${field})
         AND NOT EXISTS (FROM ${values} AS o WHERE o.location_id = v.location_id AND o.${parentId} = v.${parentId} AND o.${field} = f.id${sameVersion})`
      const keys = `(SELECT DISTINCT v.location_id, v.${parentId} AS key FROM ${values} AS v, ${unresolved})`
      if (yield* tx.isAny(keys))
        tx.run(...changes.ofRows(parent, keys), `UPDATE ${values} AS v SET ${field} = f.id FROM ${unresolved}`)
    }
  }
})
