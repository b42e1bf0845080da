/** Sections: values and records that did not fit, and what the service sends differently from its documents. */
import * as Effect from "effect/Effect"
import type { StandingRejects } from "../../../stores/warehouse/meta/standing-rejects.ts"
import { reachedLimits } from "../../../stores/warehouse/meta/limits.ts"
import { wideLosses } from "../../../stores/warehouse/meta/wide-readings.ts"
import { literal, selected } from "../../../stores/warehouse/sql.ts"
import { count, counted } from "../format.ts"
import { dayAndTime, html } from "../../../pages/html.ts"
import { cleanReason, fieldName, shape } from "../mask.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { number, sumOf, text, wide } from "../../../pages/html-table.ts"
import { tableSection } from "../section.ts"
import { type Period, since } from "./period.ts"

/** Rows that are shown of each list. */
const rowsMax = 50
/** Longer values are cut in the query: a rejected record may have megabytes. */
const samplesOf = (value: string): string =>
  `to_json(list_distinct([min(left(${value}, 220)), max(left(${value}, 220)), any_value(left(${value}, 220) ORDER BY length(${value}), ${value})]))::VARCHAR AS shapes`

/** In place of a column. */
const wholeRecord = "whole record"

const masked =
  "Values are shown by their shape: a for a letter, 0 for a digit. Those who may read personal data find them as sent in"

/** With the number of the last day. */
export const rejectsSection = Effect.fn("report.rejects")(function* (
  period: Period,
  standing: ReadonlyArray<StandingRejects>
) {
  const recent = `count(*) FILTER (rejected_at > ${since(period, 1)}) AS last_day`
  const rows = yield* query(
    {
      table: String,
      column: String,
      reason: (text) => cleanReason({ _tag: "Text", text: String(text) }),
      shapes: (samples) => [...new Set(selected<ReadonlyArray<string>>(samples).map(shape))].sort(),
      lastDay: Number,
      n: Number,
      all: Number,
      allOfDay: Number
    },
    `SELECT table_name AS "table", coalesce(column_name, ${literal(wholeRecord)}) AS "column", reason, shapes, last_day AS lastDay, n, sum(n) OVER () AS "all", sum(last_day) OVER () AS allOfDay FROM (
       SELECT table_name, column_name, reason, count(*) AS n, ${recent}, ${samplesOf("value")}
       FROM meta.rejected_values GROUP BY ALL
       UNION ALL BY NAME
       SELECT table_name, NULL AS column_name, regexp_replace(reason, '; in .*$', '', 's') AS reason, count(*) AS n, ${recent}, ${samplesOf("record")}
       FROM meta.rejected_records GROUP BY ALL)
     ORDER BY last_day DESC, n DESC, table_name, column_name, reason LIMIT ${rowsMax}`
  )
  const lastDay = rows[0]?.allOfDay ?? 0
  const content = tableSection(rows, {
    id: "rejects",
    title: "Values that did not fit",
    lead: `${counted(rows[0]?.all ?? 0, "value or record", "values and records")} in all, ${count(lastDay)} in the last 24 hours. ${standingText(standing)} ${masked} meta.rejected_values and meta.rejected_records.`,
    empty: "Every value fits its column, and every record has become a row.",
    table: {
      id: "rejected",
      caption: "Rejected values and records",
      folded: 15,
      behind: ({ column, table }) =>
        column === wholeRecord
          ? `FROM meta.rejected_records\nWHERE table_name = ${literal(table)}`
          : `FROM meta.rejected_values\nWHERE table_name = ${literal(table)} AND column_name = ${literal(column)}`,
      columns: [
        text("Table", ({ table }) => table),
        text("Column", ({ column }) => column),
        wide("Why", ({ reason }) => reason),
        number("24 h", (one) => one.lastDay, `rejected_at > ${since(period, 1)}`),
        number("In all", ({ n }) => n),
        text("Shapes", ({ shapes }) => shapes.map((one) => html`<code>${one}</code> `))
      ]
    }
  })
  return { lastDay, content }
})

const standingText = (standing: ReadonlyArray<StandingRejects>): string =>
  standing.length === 0
    ? "All of them are mended."
    : `Not mended yet: ${standing.map(({ rejected, resource }) => `${resource} ${count(rejected)}`).join(", ")}.`

/** Absent if no number was rounded. */
export const roundedSection = Effect.fn("report.rounded")(function* (period: Period) {
  const rows = yield* query(
    { table: String, column: String, n: Number, lastDay: Number },
    `SELECT table_name AS "table", column_name AS "column", sum(rounded) AS n, coalesce(sum(rounded) FILTER (started_at > ${since(period, 1)}), 0) AS lastDay
     FROM meta.rounded_values JOIN meta.runs USING (run_id) GROUP BY ALL ORDER BY lastDay DESC, n DESC, table_name, column_name LIMIT ${rowsMax}`
  )
  const all = sumOf(rows, ({ n }) => n)
  return tableSection(rows, {
    id: "rounded",
    title: "Numbers that were rounded",
    lead: `${counted(all, "number")} had more decimals than the seven of a column, and are stored rounded. Nothing else is lost; the vault has them as sent.`,
    table: {
      id: "rounded-values",
      caption: "Rounded numbers by column",
      folded: 12,
      behind: ({ column, table }) =>
        `FROM meta.rounded_values JOIN meta.runs USING (run_id)\nWHERE table_name = ${literal(table)} AND column_name = ${literal(column)}`,
      columns: [
        text("Table", ({ table }) => table),
        text("Column", ({ column }) => column),
        number("24 h", ({ lastDay }) => lastDay, `started_at > ${since(period, 1)}`),
        number("In all", ({ n }) => n)
      ]
    }
  })
})

/** Absent if every cell of a wide table shows its value. */
export const wideSection = Effect.fn("report.wide")(function* () {
  return tableSection(yield* wideLosses(), {
    id: "wide-losses",
    title: "Custom values that wide tables do not show exactly",
    lead: "A number with more than seven decimals is rounded, and a value that does not fit the type of its field leaves the cell empty. meta.wide_readings has both as sent.",
    table: {
      id: "wide-cells",
      caption: "Cells by column, now",
      folded: 12,
      behind: ({ table }) => `FROM meta.wide_losses\nWHERE view_name = ${literal(table)}`,
      columns: [
        text("Table", ({ table }) => table),
        text("Column", ({ column }) => fieldName(column)),
        number("Rounded", ({ rounded }) => rounded, "rounded > 0"),
        number("Empty", ({ unfit }) => unfit, "unfit > 0")
      ]
    }
  })
})

/** Absent if no limit leaves anything out. */
export const limitsSection = Effect.fn("report.limits")(function* () {
  return tableSection(yield* reachedLimits(), {
    id: "limits",
    title: "What a limit leaves out",
    lead: "The tables beside each have it. meta.limits has the names.",
    table: {
      id: "limits-table",
      caption: "Limits that were reached, now",
      folded: 12,
      behind: ({ place }) => `FROM meta.limits\nWHERE place = ${literal(place)}`,
      columns: [
        text("Table", ({ place }) => place),
        text("What", ({ what }) => what),
        number("Room for", ({ allowed }) => allowed),
        number("There are", ({ found }) => found),
        text("The others are in", ({ whole }) => whole)
      ]
    }
  })
})

export const driftSection = Effect.fn("report.drift")(function* (period: Period) {
  const rows = yield* query(
    {
      table: String,
      field: (name) => fieldName(String(name)),
      kind: String,
      shape: (sample) => shape(String(sample)),
      firstSeenAt: Number,
      all: Number,
      recent: Number
    },
    // The field of an enum value is `column = value`.
    `SELECT * REPLACE (if(ends_with(kind, 'value'), split_part(field, ' = ', 1), field) AS field), count(*) OVER () AS "all", count(*) FILTER (isNew) OVER () AS recent FROM (
       SELECT table_name AS "table", field, kind, coalesce(any_value(sample ORDER BY sample), '') AS shape,
         epoch_ms(min(first_seen_at)) AS firstSeenAt, min(first_seen_at) > ${since(period, 7)} AS isNew
       FROM meta.schema_changes GROUP BY ALL) AS found
     ORDER BY firstSeenAt DESC, "table", found.field, kind LIMIT ${rowsMax}`
  )
  return tableSection(rows, {
    id: "drift",
    title: "Schema changes",
    lead: `${counted(rows[0]?.all ?? 0, "field or value", "fields and values")} differ from the documents of the service, ${count(rows[0]?.recent ?? 0)} of them new in the last 7 days. ${masked} meta.schema_changes.`,
    empty: "The service sends what its documents describe.",
    table: {
      id: "schema-changes",
      caption: "New fields, types and values, the latest first",
      folded: 12,
      behind: ({ kind, table }) =>
        `FROM meta.schema_changes\nWHERE table_name = ${literal(table)} AND kind = ${literal(kind)}`,
      columns: [
        text("Table", ({ table }) => table),
        text("Field", ({ field }) => field),
        text("Kind", ({ kind }) => kind),
        text("Shape", (one) => html`<code>${one.shape}</code>`),
        number("First seen, UTC", ({ firstSeenAt }) => dayAndTime(firstSeenAt))
      ]
    }
  })
})
