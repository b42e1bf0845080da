/** What a transaction changes beside the rows: their counts, the versions of the content, and the keys for the next release. */
import { changeVersions, recordChangedKeys } from "../../../stores/warehouse/meta/content-versions.ts"
import { RunChanges } from "../../../stores/warehouse/meta/run-changes.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { idColumn } from "../../../catalog/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { Statement } from "../../../stores/warehouse/warehouse.ts"

export class Changes {
  readonly counts = new RunChanges()
  private readonly released: ReadonlySet<string>
  private readonly changed = new Set<string>()

  /** `released`: the resources that a release has. */
  constructor(released: ReadonlySet<string>) {
    this.released = released
  }

  /** The first statement of a transaction: if that is repeated, what the attempt before has noted does not count. */
  begin(): ReadonlyArray<string> {
    this.counts.clear()
    this.changed.clear()
    return []
  }

  /** To run with a change of a resource's tables. `keys`: a relation with the `location_id` and `key` of each changed row. */
  ofRows(resource: string, keys: string): ReadonlyArray<string> {
    this.changed.add(resource)
    return this.released.has(resource) ? [recordChangedKeys(resource, keys)] : []
  }

  /** The statements that record what has changed so far. */
  take(): ReadonlyArray<string> {
    const statements = [...this.counts.take(), ...changeVersions(this.changed)]
    this.changed.clear()
    return statements
  }
}

/**
 * Replaces the field key of custom values by the field id, once both are loaded; also in earlier versions. `loaded`: tables
 * of the batch.
 */
export const fieldKeyStatements = (
  resources: ReadonlyArray<Resource>,
  changes: Changes,
  loaded: ReadonlySet<string>
): ReadonlyArray<Statement> =>
  resources.flatMap(({ table: parent, wide }) => {
    if (!wide?.byKey || !(loaded.has(parent) || loaded.has("custom_fields"))) return []
    const [field, parentId] = [name(wide.field), name(idColumn(parent))]
    return [
      ["crm", ""],
      ["crm_history", " AND o._valid_from = v._valid_from"]
    ].flatMap(([schema, sameVersion]): ReadonlyArray<Statement> => {
      const values = `${schema}.${name(wide.table)}`
      const unresolved = `crm.custom_fields AS f
       WHERE v.${field} NOT IN (SELECT id FROM crm.custom_fields)
         AND f.location_id = v.location_id AND f.field_key IN (v.${field}, ${literal(`${wide.model}.`)} || v.${field})
         AND NOT EXISTS (FROM ${values} AS o WHERE o.location_id = v.location_id AND o.${parentId} = v.${parentId} AND o.${field} = f.id${sameVersion})`
      const keys = `(SELECT DISTINCT v.location_id, v.${parentId} AS key FROM ${values} AS v, ${unresolved})`
      return [
        {
          ifAny: keys,
          run: [() => changes.ofRows(parent, keys), `UPDATE ${values} AS v SET ${field} = f.id FROM ${unresolved}`]
        }
      ]
    })
  })
