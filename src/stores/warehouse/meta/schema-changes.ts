/**
 * `meta.schema_changes`, `meta.enum_values`, `meta.unexpected_values`: what the service sends differently from its
 * documents. A new field, a new type and an undocumented value of an enum column are each reported once.
 */
import * as Effect from "effect/Effect"
import { isAny, query } from "../query.ts"
import { literal } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"
import { addBlockedFields } from "./run-resources.ts"

/**
 * `from`: a relation with location, "table", field, kind, sample, key (of its record), run, _n (order), _at (milliseconds),
 * _count. A sample that an erasure has removed is replaced by the next one.
 */
export const addSchemaChanges = (from: string): string =>
  `INSERT INTO meta.schema_changes (location_id, table_name, field, kind, sample, sample_key, first_run_id, first_seen_at, seen)
   SELECT location, "table", field, kind, arg_min(sample, _n), arg_min(key, _n), arg_min(run, _n), to_timestamp(min(_at) / 1000), sum(_count)
   FROM ${from} GROUP BY ALL ON CONFLICT DO UPDATE SET seen = seen + excluded.seen,
     sample = coalesce(sample, excluded.sample), sample_key = if(sample IS NULL, excluded.sample_key, sample_key)`

/** A value of an enum column that the documents do not list. */
export interface MetValue {
  readonly run: string
  readonly location: string
  readonly table: string
  readonly column: string
  readonly value: string
}

const metSql = (values: ReadonlyArray<MetValue>): string =>
  `(VALUES ${values
    .map(
      ({ run, location, table, column, value }, n) =>
        `(${n}, ${[run, location, table, column].map(literal).join(", ")}, ${withNul(value)})`
    )
    .join(", ")}) AS met (n, run_id, location_id, table_name, column_name, value)`

/** A literal cannot contain a NUL, and a column can. */
const withNul = (value: string): string => value.split("\0").map(literal).join(" || chr(0) || ")

/** Values of columns for which the documents list other values. */
export const addUnexpectedValues = (values: ReadonlyArray<MetValue>): ReadonlyArray<string> =>
  values.length === 0
    ? []
    : [
        `INSERT INTO meta.unexpected_values (location_id, table_name, column_name, value)
         SELECT DISTINCT location_id, table_name, column_name, value FROM ${metSql(values)}
         ANTI JOIN meta.unexpected_values AS known USING (location_id, table_name, column_name, value)`
      ]

/** All values of columns for which the documents list none. */
export const addEnumValues = (values: ReadonlyArray<MetValue>): ReadonlyArray<string> =>
  values.length === 0
    ? []
    : [
        `INSERT INTO meta.enum_values (location_id, table_name, column_name, value, first_run_id)
         SELECT location_id, table_name, column_name, value, arg_min(run_id, n) FROM ${metSql(values)}
         ANTI JOIN meta.enum_values AS known USING (location_id, table_name, column_name, value) GROUP BY ALL`
      ]

/**
 * Records and returns the schema drift of a run. `blocked` returns the resource whose frozen schema does not accept a
 * new value of an enum column. Such a value is loaded nevertheless, because its column exists.
 */
export const reportSchemaDrift = Effect.fnUntraced(function* (
  run: string,
  blocked: (table: string, field: string) => string | undefined
) {
  const warehouse = yield* Warehouse
  const field = "v.column_name || ' = ' || v.value"
  const columns = "(location_id, table_name, field, kind, sample, first_run_id, first_seen_at, seen)"
  const isNew = `first_run_id = ${literal(run)}`
  const statements = [
    // If the documents list no values, a value is a change only if an earlier run has read values of the column.
    `INSERT INTO meta.schema_changes ${columns}
     SELECT v.location_id, v.table_name, ${field}, 'new value', v.value, v.first_run_id, now(), 1 FROM meta.enum_values AS v
     SEMI JOIN (FROM meta.enum_values WHERE first_run_id < ${literal(run)}) AS before USING (location_id, table_name, column_name)
     WHERE v.${isNew} ON CONFLICT DO NOTHING`,
    // This includes values of an interrupted run, which has not reported them.
    `INSERT INTO meta.schema_changes ${columns}
     SELECT v.location_id, v.table_name, ${field}, 'unexpected value', v.value, ${literal(run)}, now(), 1
     FROM meta.unexpected_values AS v ON CONFLICT DO UPDATE SET seen = seen + 1`
  ]
  if (yield* isAny(`(SELECT 1 FROM meta.enum_values WHERE ${isNew} UNION ALL SELECT 1 FROM meta.unexpected_values)`))
    yield* warehouse.transaction(statements)
  const values = yield* query(
    { location_id: String, table_name: String, field: String },
    `SELECT location_id, table_name, field FROM meta.schema_changes
     WHERE kind LIKE '% value' AND ${isNew}`
  )
  const blocking = values.flatMap(({ location_id: location, table_name: table, field: value }) => {
    const resource = blocked(table, value)
    return resource === undefined ? [] : [addBlockedFields({ run, location, label: resource }, [`${table}.${value}`])]
  })
  yield* warehouse.transaction([...blocking, "DELETE FROM meta.unexpected_values"])
  const met = yield* query(
    { change: String, kind: String },
    `SELECT DISTINCT table_name || '.' || field AS change, kind FROM meta.schema_changes
     WHERE first_run_id = ${literal(run)} ORDER BY ALL`
  )
  const isUnexpected = ({ kind }: { readonly kind: string }) => kind === "unexpected value"
  return {
    /** As `table.field (kind)`. */
    changes: met.flatMap((one) => (isUnexpected(one) ? [] : [`${one.change} (${one.kind})`])),
    /** As `table.column = value`. */
    unexpectedValues: met.filter(isUnexpected).map(({ change }) => change)
  }
})
