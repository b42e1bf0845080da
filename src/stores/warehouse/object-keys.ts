/** The objects whose fields and records are read. */
import * as Effect from "effect/Effect"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { Resource } from "../../catalog/resource.ts"
import { isAny, queryTexts } from "./query.ts"
import { literal, name } from "./sql.ts"

/** Whether the account made the object, so that it can have records. */
export const isOwnObject = (key: string): boolean => key.startsWith("custom_object")

/** The settings with the keys of the objects that the location is known to have, if they name none. */
export const withObjectKeys = Effect.fnUntraced(function* (
  optional: OptionalSettings,
  location: string,
  resources: ReadonlyArray<Resource>
) {
  const isKnown = ["objects", "businesses"].every((table) => resources.some((one) => one.table === table))
  if (optional.object_keys.length > 0 || !isKnown) return optional
  const inLocation = `location_id = ${literal(location)} AND _deleted_at IS NULL`
  const keys = yield* queryTexts(
    `SELECT key FROM crm.objects WHERE ${inLocation} AND (starts_with(key, 'custom_object')
       OR key = 'business' AND EXISTS (FROM crm.businesses WHERE ${inLocation})) ORDER BY ALL`
  )
  return { ...optional, object_keys: keys }
})

/** Whether a partition has given rows, named by the columns that it sets. */
export const hasRows = (table: string, location: string, columns: Readonly<Record<string, unknown>>) => {
  const are = Object.entries(columns).map(([column, value]) => `${name(column)}::VARCHAR = ${literal(String(value))}`)
  return isAny(`crm.${name(table)} WHERE ${[`location_id = ${literal(location)}`, ...are].join(" AND ")}`)
}
