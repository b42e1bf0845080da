/** The tables of schema `meta`: the state of the syncs, and reports. Other modules of this folder access one table each. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import { type Warehouse, metaTablesAtOpening, metaTablesSql } from "../warehouse.ts"
import { literal, name } from "../sql.ts"

interface MetaTable {
  readonly comment: string
  /** Column definitions, as in CREATE TABLE. */
  readonly columns: string
  /** Only sluice needs the table, so it is not published. */
  readonly internal?: true
}

const metaTables: Readonly<Record<string, MetaTable>> = {
  runs: {
    comment:
      "One row per run of a command that writes. clock_ahead_ms: by how much the machine's clock was ahead of the service's, or behind if negative, if by more than five minutes; the moments of such a run are those of the service",
    columns: `run_id VARCHAR PRIMARY KEY, command VARCHAR, started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ,
      status VARCHAR, exit_code INTEGER, requests BIGINT, planned_requests BIGINT`
  },
  run_resources: {
    comment:
      "What each run did for each resource of each location. Without a request, what earlier runs have read is still complete: no parent was due, or the records are in the pages of another table",
    columns: `run_id VARCHAR, location_id VARCHAR, resource VARCHAR, mode VARCHAR, since TIMESTAMPTZ, requests BIGINT DEFAULT 0,
      pages BIGINT DEFAULT 0, records BIGINT DEFAULT 0, new_rows BIGINT DEFAULT 0, changed_rows BIGINT DEFAULT 0,
      deleted_rows BIGINT DEFAULT 0, rejected_values BIGINT DEFAULT 0, rejected_records BIGINT DEFAULT 0,
      dropped_records BIGINT DEFAULT 0, blocked_fields VARCHAR[], status VARCHAR, warnings VARCHAR[], reading JSON,
      finished_at TIMESTAMPTZ, PRIMARY KEY (run_id, location_id, resource)`
  },
  watermarks: {
    comment:
      "How far each resource was read completely. complete_at of children is when those of the least recently fetched parent were fetched, and of a list that a run has resumed when its reading began, unless what changed since then was read as well; deletions_sought_at of a list, when it was last read in full, or when the service's total agreed with the rows",
    columns: `location_id VARCHAR, resource VARCHAR, watermark TIMESTAMPTZ, complete_at TIMESTAMPTZ,
      full_complete_at TIMESTAMPTZ, total BIGINT, requests BIGINT, capabilities JSON,
      deletions_sought_at TIMESTAMPTZ, PRIMARY KEY (location_id, resource)`
  },
  checkpoints: {
    comment: "Where to resume lists that were not read to their end",
    columns: `location_id VARCHAR, resource VARCHAR, partition VARCHAR, checkpoint JSON,
      PRIMARY KEY (location_id, resource, partition)`,
    internal: true
  },
  parent_state: {
    comment: "What was fetched for each parent row: for which version of the row, when, and where to resume",
    columns: `location_id VARCHAR, resource VARCHAR, parent_id VARCHAR, parent_version VARCHAR, content_hash VARCHAR,
      fetched_at TIMESTAMPTZ, full_at TIMESTAMPTZ, checkpoint JSON`,
    internal: true
  },
  seen_keys: {
    comment: "Keys met so far by full readings that have not ended",
    columns: `location_id VARCHAR, resource VARCHAR, key VARCHAR`,
    internal: true
  },
  known_pages: {
    comment: "Pages of lists that are read in full each time: the digest of each, that of its rows, and their keys",
    columns: `location_id VARCHAR, resource VARCHAR, digest VARCHAR, "rows" VARCHAR, keys VARCHAR[]`,
    internal: true
  },
  missing_children: {
    comment: "Rows that a complete reading of their parent did not return, and about which no decision has been made",
    columns: `location_id VARCHAR, resource VARCHAR, key VARCHAR, parent_id VARCHAR, first_at TIMESTAMPTZ, last_at TIMESTAMPTZ`,
    internal: true
  },
  backfilled_windows: {
    comment: "Windows of the past that a backfill has read: from, and up to but not including, a time",
    columns: `location_id VARCHAR, resource VARCHAR, from_at TIMESTAMPTZ, to_at TIMESTAMPTZ, run_id VARCHAR`
  },
  planned_totals: {
    comment: "Totals of lists that the service reported to a plan, for the sync that follows",
    columns: `location_id VARCHAR, resource VARCHAR, since TIMESTAMPTZ, total BIGINT, reported_at TIMESTAMPTZ`,
    internal: true
  },
  rejected_values: {
    comment:
      "Values that did not fit their column, as sent; the column holds NULL, or what the reason says. The key of a child row is that of its record, then its table and its own key or position: inv1/invoice_items/3",
    columns: `run_id VARCHAR, location_id VARCHAR, table_name VARCHAR, key VARCHAR, column_name VARCHAR, value VARCHAR,
      reason VARCHAR, rejected_at TIMESTAMPTZ`
  },
  rejected_records: {
    comment: "Records that could not become a row, as sent",
    columns: `run_id VARCHAR, location_id VARCHAR, table_name VARCHAR, record VARCHAR, reason VARCHAR, rejected_at TIMESTAMPTZ`
  },
  rounded_values: {
    comment:
      "How many numbers had more decimals than their column, by the batches of a run; the column holds them rounded, the vault as sent. The noise of floating-point numbers does not count",
    columns: `run_id VARCHAR, location_id VARCHAR, resource VARCHAR, table_name VARCHAR, column_name VARCHAR, rounded BIGINT`
  },
  // `sample_key`: of the record that the sample comes from, by which an erasure removes it.
  schema_changes: {
    comment:
      "What the service sends differently from its documents: new fields, values of a different type, objects of which no member is known (the sample has the names of their members), undocumented values of enum columns",
    columns: `location_id VARCHAR, table_name VARCHAR, field VARCHAR, kind VARCHAR, sample VARCHAR, first_run_id VARCHAR,
      first_seen_at TIMESTAMPTZ, seen BIGINT, sample_key VARCHAR, PRIMARY KEY (location_id, table_name, field, kind)`
  },
  enum_values: {
    comment: "Values met in enum columns for which the API's documents list no values",
    columns: `location_id VARCHAR, table_name VARCHAR, column_name VARCHAR, value VARCHAR, first_run_id VARCHAR`
  },
  unexpected_values: {
    comment: "Values of enum columns that the API's documents do not list, met since a run last reported them",
    columns: `location_id VARCHAR, table_name VARCHAR, column_name VARCHAR, value VARCHAR`
  },
  model_problems: {
    comment:
      "Models of schema bi that could not be built for the last release, and since when their table is out of date: it is that of the run kept_run_id; NULL if the release has no table",
    columns: `model VARCHAR, problem VARCHAR, kept_run_id VARCHAR, kept_at TIMESTAMPTZ`
  },
  targets: {
    comment:
      "Each place that gets the tables, the published files among them: the run whose tables it shows, since when it does not get what is new, and why",
    columns: `target VARCHAR, release_run_id VARCHAR, delivered_at TIMESTAMPTZ, failed_since TIMESTAMPTZ, problem VARCHAR`,
    internal: true
  },
  wide_columns: {
    comment: "The column of a wide view that each custom field has; a column never changes its field",
    columns: `view_name VARCHAR, location_id VARCHAR, field VARCHAR, column_name VARCHAR`
  },
  wide_losses: {
    comment:
      "Cells of wide tables that do not show their custom value exactly, now: rounded to the decimals of the column, or empty because the value does not fit its type. The table of values has them as sent",
    columns: `view_name VARCHAR, column_name VARCHAR, rounded BIGINT, unfit BIGINT`
  },
  limits: {
    comment:
      "What a limit leaves out, now: the table that lacks something, how many it can have and how many there are, what it lacks, and the tables that have it",
    columns: `place VARCHAR, what VARCHAR, allowed BIGINT, found BIGINT, left_out VARCHAR[], whole VARCHAR`
  },
  wide_readings: {
    comment:
      "Custom values of fields of numbers, dates and times that were sent in another notation than the standard one, and how the wide tables show them; NULL if they are none",
    columns: `location_id VARCHAR, field VARCHAR, sent VARCHAR, reading VARCHAR, is_rounded BOOLEAN`
  },
  coverage: {
    comment: "What the last run did with every read operation of the API",
    columns: `run_id VARCHAR, location_id VARCHAR, operation VARCHAR, purpose VARCHAR, tables VARCHAR[], status VARCHAR, reason VARCHAR`
  },
  history_limit: {
    comment:
      "The time before which prune.history has removed earlier versions; contacts_as_of is an error for times before it",
    columns: `before_at TIMESTAMPTZ`
  },
  columns: {
    comment: "The data dictionary: every column with its meaning",
    columns: `table_name VARCHAR, column_name VARCHAR, type VARCHAR, description VARCHAR, personal_data VARCHAR, refers_to VARCHAR`
  },
  content_versions: {
    comment: "The version of the content of each resource's tables, now and in the last release",
    columns: `resource VARCHAR, version VARCHAR, base VARCHAR`,
    internal: true
  },
  changed_keys: {
    comment: "Keys of the rows that have changed since the last release",
    columns: `resource VARCHAR, location_id VARCHAR, key VARCHAR`,
    internal: true
  },
  vault_offset: {
    comment: "How far the vault is loaded",
    columns: `segment BIGINT, byte_offset BIGINT`,
    internal: true
  },
  safeguards: {
    comment: "What files beside the warehouse must still contain: the list of erased people, and the ledger",
    columns: `file VARCHAR PRIMARY KEY, entries BIGINT, sha256 VARCHAR`,
    internal: true
  },
  unknown_states: {
    comment: "How much the figures of the last release leave out; bi.mart_unknown_state has the states",
    columns: `fact VARCHAR, currency VARCHAR, records BIGINT, amount DECIMAL(38, 7)`,
    internal: true
  },
  schema_version: {
    comment: "The format of this file, and the definitions that its tables were last brought up to date with",
    columns: `format INTEGER, fingerprint VARCHAR`,
    internal: true
  }
}

export const metaTableStatements: ReadonlyArray<string> = [
  ...Object.entries(metaTables).map(
    ([table, { columns }]) => `CREATE TABLE IF NOT EXISTS meta.${name(table)} (${columns})`
  ),
  // Later than the first files of this format.
  ...["min", "max"].map((end) => `ALTER TABLE meta.runs ADD COLUMN IF NOT EXISTS planned_requests_${end} BIGINT`),
  "ALTER TABLE meta.runs ADD COLUMN IF NOT EXISTS clock_ahead_ms BIGINT",
  "ALTER TABLE meta.watermarks ADD COLUMN IF NOT EXISTS deletions_sought_at TIMESTAMPTZ"
]

/** Tables of `meta` that are published with the data. */
export const publishedMetaTables: ReadonlyArray<string> = Object.entries(metaTables)
  .flatMap(([table, { internal }]) => (internal ? [] : [table]))
  .toSorted()

export const metaCommentStatements: ReadonlyArray<string> = Object.entries(metaTables).flatMap(
  ([table, { comment, internal }]) => (internal ? [] : [`COMMENT ON TABLE meta.${name(table)} IS ${literal(comment)}`])
)

/** The tables of `meta` in the file: none if the file is new, or if its first run was killed early. */
export const existingMetaTables = (warehouse: Warehouse["Service"]): Effect.Effect<ReadonlySet<string>, Failure> => {
  const known = metaTablesAtOpening.get(warehouse)
  if (known !== undefined)
    return Effect.succeed(new Set(known === "all" ? Object.keys(metaTables) : publishedMetaTables))
  return Effect.map(
    warehouse.rows(metaTablesSql),
    (rows) => new Set(rows.map(({ table_name: table }) => String(table)))
  )
}
