/** Maintenance of the lake: fewer and larger files, and no files of versions that are older than the settings keep. */
import * as Effect from "effect/Effect"
import { literal } from "../../stores/warehouse/sql.ts"
import { failure } from "../../values/failure.ts"
import type { Lake } from "./lake.ts"
import { metadata, newestCommitsSql } from "./tables.ts"

/** Files that an expired version needed are deleted a day later, so that a query that has begun can end. */
const graceHours = 24
const grace = `now()::TIMESTAMP::TIMESTAMPTZ - INTERVAL ${graceHours} HOUR`
/** Files with fewer bytes are merged. */
const smallBytes = 16_000_000
/** Share of deleted rows from which a file is rewritten. */
const deletedShare = 0.2

const expiry = (period: string): string => `now()::TIMESTAMP::TIMESTAMPTZ - INTERVAL ${literal(period)}`

/** Each step with what it does, SQL for how many, and the statement that does it. */
const stepsOf = (expireAfter: string) =>
  [
    {
      step: "commits",
      what: "rows of sluice.commits that later ones replace",
      count: `SELECT (SELECT count(*) FROM lake.sluice.commits) - (SELECT count(*) FROM ${newestCommitsSql}) AS n`,
      run: `DELETE FROM lake.sluice.commits WHERE (location_id, table_name, run_id, committed_at) NOT IN (
        SELECT (location_id, table_name, run_id, committed_at) FROM ${newestCommitsSql})`
    },
    {
      step: "rewrite",
      what: `files of which more than ${deletedShare * 100} % of the rows are deleted`,
      count: `SELECT count(*) AS n FROM ${metadata}.ducklake_data_file AS f
        JOIN ${metadata}.ducklake_delete_file AS d ON d.data_file_id = f.data_file_id AND d.end_snapshot IS NULL
        WHERE f.end_snapshot IS NULL AND d.delete_count > ${deletedShare} * f.record_count`,
      run: `CALL ducklake_rewrite_data_files('lake', delete_threshold => ${deletedShare})`
    },
    {
      step: "expire",
      what: `snapshots older than ${expireAfter}`,
      count: `SELECT count(*) AS n FROM lake.snapshots() WHERE snapshot_time < ${expiry(expireAfter)}
        AND snapshot_id < (SELECT max(snapshot_id) FROM lake.snapshots())`,
      run: `CALL ducklake_expire_snapshots('lake', older_than => ${expiry(expireAfter)})`
    },
    {
      step: "merge",
      what: "files below 16 MB without deleted rows, if their table and location have several",
      count: `SELECT coalesce(sum(files), 0) AS n FROM (
        SELECT count(*) AS files FROM ${metadata}.ducklake_data_file AS f
        LEFT JOIN ${metadata}.ducklake_file_partition_value AS p USING (data_file_id)
        ANTI JOIN (FROM ${metadata}.ducklake_delete_file WHERE end_snapshot IS NULL) AS d USING (data_file_id)
        WHERE f.end_snapshot IS NULL AND f.file_size_bytes < ${smallBytes}
        GROUP BY f.table_id, p.partition_value HAVING count(*) > 1)`,
      run: `CALL ducklake_merge_adjacent_files('lake', max_file_size => ${smallBytes})`
    },
    {
      step: "delete",
      what: `files that no version has needed for ${graceHours} hours`,
      count: `SELECT count(*) AS n FROM ${metadata}.ducklake_files_scheduled_for_deletion WHERE schedule_start < ${grace}`,
      run: `CALL ducklake_cleanup_old_files('lake', older_than => ${grace})`
    },
    {
      step: "orphans",
      what: `files older than ${graceHours} hours that belong to no version`,
      count: `SELECT count(*) AS n FROM ducklake_delete_orphaned_files('lake', dry_run => true, older_than => ${grace})`,
      run: `CALL ducklake_delete_orphaned_files('lake', older_than => ${grace})`
    }
  ] as const

/** Counts the files, snapshots or rows of each step, then takes the steps. Each is a transaction: what is done before a failure stays done. */
export const maintainLake = Effect.fn("lake.maintain")(function* (
  { rows, settings, transaction }: Lake,
  apply: boolean
) {
  const steps = stepsOf(settings.expireAfter)
  const found = yield* Effect.forEach(steps, ({ count, step, what }) =>
    Effect.map(rows(count), ([row]) => ({ step, what, count: Number(row!["n"]) }))
  )
  if (apply)
    for (const { run, step } of steps) {
      if (step === "delete") yield* refuseForeign({ rows, settings })
      yield* transaction([run])
    }
  return found
})

/** Files that DuckLake would delete, as it and sluice name them, below the folder of the lake. */
const ownFile = String.raw`([\w][^/\\]*/)+ducklake-[0-9a-f-]+(-delete)?\.parquet`

/** A catalog is a database that others may be able to write: what it says to delete is deleted only below the lake. */
const refuseForeign = Effect.fnUntraced(function* ({ rows, settings: { place } }: Pick<Lake, "rows" | "settings">) {
  const [foreign] = yield* rows(
    `SELECT path FROM ${metadata}.ducklake_files_scheduled_for_deletion
     WHERE NOT path_is_relative OR NOT regexp_full_match(path, ${literal(ownFile)}) LIMIT 1`
  )
  if (foreign)
    return yield* failure({
      _tag: "LakeFailed",
      place,
      detail: `its catalog says that ${JSON.stringify(foreign["path"])} is to be deleted, which is no file of the lake; nothing was deleted. Find out who can write the catalog`
    })
})

/**
 * Removes every earlier version at once, and the statistics that contain values of it: the rows that an erasure has replaced
 * are then in no file. It removes the earlier versions of all locations of the lake.
 */
export const purgeLake = Effect.fn("lake.purge")(function* ({ rows, settings, transaction }: Lake) {
  for (const statement of [
    "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    "CALL ducklake_merge_adjacent_files('lake')",
    "CALL ducklake_expire_snapshots('lake', older_than => now()::TIMESTAMP::TIMESTAMPTZ)",
    "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)",
    // The smallest and largest values of a table, which readers use to skip it; without them, they read it.
    `UPDATE ${metadata}.ducklake_table_column_stats SET min_value = NULL, max_value = NULL`
  ]) {
    if (statement.includes("cleanup")) yield* refuseForeign({ rows, settings })
    yield* transaction([statement])
  }
})
