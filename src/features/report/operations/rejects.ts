/** Sections: values and records that did not fit, and what the service sends differently from its documents. */
import * as Effect from "effect/Effect"
import { type WideLoss, wideLosses } from "../../../stores/warehouse/meta/wide-losses.ts"
import { selected } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { count, counted } from "../format.ts"
import { dayAndTime } from "../../../values/moment.ts"
import { type Html, html } from "../../../values/html.ts"
import { cleanReason, fieldName, shape } from "../mask.ts"
import { section, tableOf } from "../table.ts"
import { type Period, since } from "./period.ts"

interface Rejected {
  readonly table: string
  /** `undefined` if the whole record was rejected. */
  readonly column: string | undefined
  readonly reason: string
  readonly shapes: ReadonlyArray<string>
  readonly lastDay: number
  readonly all: number
}

interface Rounded {
  readonly table: string
  readonly column: string
  readonly lastDay: number
  readonly all: number
}

interface Drift {
  readonly table: string
  readonly field: string
  readonly kind: string
  readonly shape: string
  readonly firstSeenAt: number
  readonly isNew: boolean
}

export interface Rejects {
  readonly rejected: ReadonlyArray<Rejected>
  readonly rejectedCount: number
  readonly rounded: ReadonlyArray<Rounded>
  /** Cells of wide tables. */
  readonly wide: ReadonlyArray<WideLoss>
  readonly drift: ReadonlyArray<Drift>
  readonly driftCount: number
}

/** Rows that are shown of each list. */
const rowsMax = 50
/** Longer values are cut in the query: a rejected record may have megabytes. */
const samplesOf = (value: string): string =>
  `to_json(list_distinct([min(left(${value}, 220)), max(left(${value}, 220)), any_value(left(${value}, 220) ORDER BY length(${value}), ${value})]))::VARCHAR AS samples`

export const rejectsOf = Effect.fn("report.rejects")(function* (period: Period) {
  const warehouse = yield* Warehouse
  const recent = `count(*) FILTER (rejected_at > ${since(period, 1)}) AS last_day`
  const rejected = yield* warehouse.rows(
    `SELECT * FROM (
       SELECT table_name, column_name, reason, count(*) AS n, ${recent}, ${samplesOf("value")}
       FROM meta.rejected_values GROUP BY ALL
       UNION ALL BY NAME
       SELECT table_name, NULL AS column_name, regexp_replace(reason, '; in .*$', '', 's') AS reason, count(*) AS n, ${recent}, ${samplesOf("record")}
       FROM meta.rejected_records GROUP BY ALL)
     ORDER BY last_day DESC, n DESC, table_name, column_name, reason LIMIT ${rowsMax}`
  )
  const drift = yield* warehouse.rows(
    `SELECT table_name, field, kind, any_value(sample ORDER BY sample) AS sample, epoch_ms(min(first_seen_at)) AS first_seen,
       min(first_seen_at) > ${since(period, 7)} AS is_new
     FROM meta.schema_changes GROUP BY ALL ORDER BY first_seen DESC, table_name, field, kind LIMIT ${rowsMax}`
  )
  const rounded = yield* warehouse.rows(
    `SELECT table_name, column_name, sum(rounded) AS n, coalesce(sum(rounded) FILTER (started_at > ${since(period, 1)}), 0) AS last_day
     FROM meta.rounded_values JOIN meta.runs USING (run_id) GROUP BY ALL ORDER BY last_day DESC, n DESC, table_name, column_name LIMIT ${rowsMax}`
  )
  const [counts] = yield* warehouse.rows(
    `SELECT (SELECT count(*) FROM meta.rejected_values) + (SELECT count(*) FROM meta.rejected_records) AS rejected,
       (SELECT count(*) FROM (SELECT DISTINCT table_name, field, kind FROM meta.schema_changes)) AS drift`
  )
  return {
    rejected: rejected.map((row) => ({
      table: String(row["table_name"]),
      column: row["column_name"] === null ? undefined : String(row["column_name"]),
      reason: cleanReason({ _tag: "Text", text: String(row["reason"]) }),
      shapes: [...new Set(selected<ReadonlyArray<string>>(row["samples"]).map(shape))].sort(),
      lastDay: Number(row["last_day"]),
      all: Number(row["n"])
    })),
    rejectedCount: Number(counts?.["rejected"]),
    wide: yield* wideLosses(),
    rounded: rounded.map((row) => ({
      table: String(row["table_name"]),
      column: String(row["column_name"]),
      lastDay: Number(row["last_day"]),
      all: Number(row["n"])
    })),
    drift: drift.map((row) => {
      const [field, kind] = [String(row["field"]), String(row["kind"])]
      // Of an enum value, the field is `column = value`.
      const [column] = kind.endsWith("value") ? field.split(" = ") : [field]
      return {
        table: String(row["table_name"]),
        field: fieldName(column!),
        kind,
        shape: shape(String(row["sample"] ?? "")),
        firstSeenAt: Number(row["first_seen"]),
        isNew: row["is_new"] === true
      }
    }),
    driftCount: Number(counts?.["drift"])
  }
})

const masked =
  "Values are shown by their shape: a for a letter, 0 for a digit. Those who may read personal data find them as sent in"

export const rejectsSection = ({ rejected, rejectedCount }: Rejects): Html => {
  const lastDay = rejected.reduce((sum, one) => sum + one.lastDay, 0)
  return section({
    id: "rejects",
    title: "Values that did not fit",
    lead:
      rejectedCount === 0
        ? "Every value fits its column, and every record has become a row."
        : `${counted(rejectedCount, "value or record", "values and records")} in all, ${count(lastDay)} in the last 24 hours. ${masked} meta.rejected_values and meta.rejected_records.`,
    content:
      rejectedCount === 0
        ? undefined
        : tableOf({
            id: "rejected",
            caption: "Rejected values and records",
            rows: rejected,
            folded: 15,
            columns: [
              { head: "Table", cell: ({ table }) => table },
              { head: "Column", cell: ({ column }) => column ?? "whole record" },
              { head: "Why", kind: "wide", cell: ({ reason }) => reason },
              { head: "24 h", kind: "number", cell: ({ lastDay: n }) => count(n) },
              { head: "In all", kind: "number", cell: ({ all }) => count(all) },
              { head: "Shapes", cell: ({ shapes }) => shapes.map((one) => html`<code>${one}</code> `) }
            ]
          })
  })
}

/** Absent if no number was rounded. */
export const roundedSection = ({ rounded }: Rejects): Html | undefined =>
  rounded.length === 0
    ? undefined
    : section({
        id: "rounded",
        title: "Numbers that were rounded",
        lead: `${counted(
          rounded.reduce((sum, { all }) => sum + all, 0),
          "number"
        )} had more decimals than the seven of a column, and are stored rounded. Nothing else is lost; the vault has them as sent.`,
        content: tableOf({
          id: "rounded-values",
          caption: "Rounded numbers by column",
          rows: rounded,
          folded: 12,
          columns: [
            { head: "Table", cell: ({ table }) => table },
            { head: "Column", cell: ({ column }) => column },
            { head: "24 h", kind: "number", cell: ({ lastDay }) => count(lastDay) },
            { head: "In all", kind: "number", cell: ({ all }) => count(all) }
          ]
        })
      })

/** Absent if every cell shows its value. */
export const wideSection = ({ wide }: Rejects): Html | undefined =>
  wide.length === 0
    ? undefined
    : section({
        id: "wide-losses",
        title: "Custom values that wide tables do not show exactly",
        lead: "A number with more than seven decimals is rounded, and a value that does not fit the type of its field leaves the cell empty. meta.wide_readings has both as sent.",
        content: tableOf({
          id: "wide-cells",
          caption: "Cells by column, now",
          rows: wide,
          folded: 12,
          columns: [
            { head: "Table", cell: ({ table }) => table },
            { head: "Column", cell: ({ column }) => fieldName(column) },
            { head: "Rounded", kind: "number", cell: ({ rounded }) => count(rounded) },
            { head: "Empty", kind: "number", cell: ({ unfit }) => count(unfit) }
          ]
        })
      })

export const driftSection = ({ drift, driftCount }: Rejects): Html => {
  const recent = drift.filter(({ isNew }) => isNew).length
  return section({
    id: "drift",
    title: "Schema changes",
    lead:
      driftCount === 0
        ? "The service sends what its documents describe."
        : `${counted(driftCount, "field or value", "fields and values")} differ from the documents of the service, ${count(recent)} of them new in the last 7 days. ${masked} meta.schema_changes.`,
    content:
      driftCount === 0
        ? undefined
        : tableOf({
            id: "schema-changes",
            caption: "New fields, types and values, the latest first",
            rows: drift,
            folded: 12,
            columns: [
              { head: "Table", cell: ({ table }) => table },
              { head: "Field", cell: ({ field }) => field },
              { head: "Kind", cell: ({ kind }) => kind },
              { head: "Shape", cell: (one) => html`<code>${one.shape}</code>` },
              { head: "First seen, UTC", kind: "number", cell: ({ firstSeenAt }) => dayAndTime(firstSeenAt) }
            ]
          })
  })
}
