/** The limits behind which the program does the same work in another way. The simulator draws them small, so that its worlds cross them. */
import * as Context from "effect/Context"

export const Limits = Context.Reference("sluice/Limits", {
  defaultValue: () => ({
    /** Rows of a table that a loader keeps in memory, at about 100 bytes each. Of larger tables, the merge looks up each batch. */
    knownRows: 200_000,
    /** Rows that it reads at once rather than those of each page. */
    smallKnownRows: 5000,
    /** Pages of one table whose rows it looks up one page at a time. */
    knownPages: 8,

    /** Raw bytes, records and tables of a transaction: enough to fill whole row groups. Further ones are in the next transaction. */
    batchBytes: 24 * 1024 * 1024,
    batchRecords: 50_000,
    batchTables: 24,
    /** Bytes of rows whose unknown fields are merged at a time: as a map they take about fifty times the size of the text. */
    sliceBytes: 512 * 1024,
    /** Raw bytes that the loader reads at a time. */
    readBytes: 1024 * 1024,
    /** Raw bytes that it may be behind, one batch in preparation and one being committed, before requests wait for it. */
    backlogBytes: 48 * 1024 * 1024,

    /** Parents whose children are requested before it is asked again which are due. */
    parents: 500,
    /** The same until one was answered: enough to see whether any is. */
    firstParents: 40,
    /** Consecutive parents that may fail before it is asked whether it is of any use to go on. */
    failuresInARow: 20,

    /** Keys of changed records that the next release reads; with more, it writes the table anew. */
    changedKeys: 200_000,
    /** Keys that are kept for it; with more, it writes all tables anew. */
    keptChangedKeys: 1_000_000,
    /** Rows of a table that one statement writes to a pipe. */
    partRows: 50_000,
    /** Rows of a wide table that one statement gathers, or more where memory allows. */
    wideRows: 256,
    /** Rows of small tables that one statement reads, because DuckDB holds its joins in memory at the same time. */
    rowsTogether: 50_000,
    /** Rows with which a release is written with all compression. */
    compressedRows: 50_000
  })
})
export type Limits = typeof Limits.Service
