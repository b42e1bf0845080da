/**
 * The custom values of a wide table, without its empty cells: each value is typed once. The wide view would evaluate every
 * field of every row.
 */
import { type Stream as EffectStream, Stream } from "effect"
import { fastDecimalSql } from "../../catalog/decimals.ts"
import { type KindName, isText, kinds } from "../../catalog/kinds.ts"
import { fileTextOf } from "../warehouse/content.ts"
import { readValuesSql } from "../warehouse/meta/wide-readings.ts"
import { literal, name } from "../warehouse/sql.ts"
import { kindOfField, typed } from "../warehouse/wide-types.ts"
import type { WideView } from "../warehouse/wide-views.ts"

export interface WideValue {
  readonly row: number
  /** Position among the columns of custom fields. */
  readonly column: number
  readonly text: string
}

/** SQL for the text of a value of this kind. */
export type Form = (kind: KindName, value: string) => string

/**
 * SELECT of the text of every value, after the positions of its row and of its column: the driver takes as long for each of
 * three texts as for one. `rows`: the positions of the rows, with
 * `location_id`, `id` and `position`. `order`: by `position` and `place`.
 */
export const wideValuesSql = (wide: WideView, rows: string, form: Form, order: string): string => {
  const dataTypes = [...new Set(wide.columns.map(({ dataType }) => dataType))]
  const fields = wide.columns.flatMap(({ fields, dataType }, place) =>
    fields.map(
      ({ field, location }) => `(${literal(location)}, ${literal(field)}, ${place}, ${dataTypes.indexOf(dataType)})`
    )
  )
  // A column for each type, so that each value is typed once however often its form uses it.
  const values = dataTypes.map(
    (dataType, index) => `CASE WHEN type = ${index} THEN ${valueSql(dataType)} END AS value_${index}`
  )
  // Without the cast, one JSON type would make all of them JSON.
  const cases = dataTypes.map(
    (dataType, index) => `WHEN ${index} THEN CAST(${form(kindOfField(dataType), `value_${index}`)} AS VARCHAR)`
  )
  return `WITH fields (location, field, place, type) AS (VALUES ${fields.join(", ")}),
    found AS (
      SELECT r.position, fields.place, fields.type, v.text, v.json
      FROM ${readValuesSql(`crm.${name(wide.values)}`, wide)} AS v JOIN fields ON fields.location = v.location_id AND fields.field = v.${name(wide.field)}
      JOIN ${rows} AS r ON r.location_id = v.location_id AND r.id = v.${name(wide.parent)}
    ),
    typed AS (SELECT position, place, type, ${values.join(", ")} FROM found),
    shown AS (SELECT position, place, CASE type ${cases.join(" ")} END AS shown FROM typed)
    SELECT position || ' ' || place || ' ' || shown FROM shown WHERE shown IS NOT NULL ORDER BY ${order}`
}

const valueSql = (dataType: string | undefined): string =>
  kindOfField(dataType) === "decimal" ? fastDecimalSql("text") : typed(dataType, "text", "json")

/** The rows of `wideValuesSql`. */
export const wideValues = <E, R>(
  rows: EffectStream.Stream<ReadonlyArray<string | null>, E, R>
): EffectStream.Stream<WideValue, E, R> =>
  Stream.map(rows, ([positioned]) => {
    const afterRow = positioned!.indexOf(" ")
    const afterColumn = positioned!.indexOf(" ", afterRow + 1)
    return {
      row: Number(positioned!.slice(0, afterRow)),
      column: Number(positioned!.slice(afterRow + 1, afterColumn)),
      text: positioned!.slice(afterColumn + 1)
    }
  })

/** The text of a value in a CSV file. */
export const csvForm: Form = (kind, value) => {
  const type = kinds[kind].sql
  return isText(type) ? value : fileTextOf({ name: value, type })
}
