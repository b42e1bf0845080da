/** Custom values that name their field by its key instead of its id. */
import type { Resource } from "../../../catalog/resource.ts"
import { idColumn } from "../../../catalog/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { Statement } from "../../../stores/warehouse/warehouse.ts"
import type { Changes } from "./changes.ts"

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
