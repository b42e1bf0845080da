/**
 * Every number at which the program cuts, splits, gives up or turns to another way, by room, with what happens then. The
 * simulator draws them small, and counts which its worlds cross. What shapes only what is shown is a constant elsewhere.
 */
import * as Context from "effect/Context"

export type Limit = ReturnType<typeof limitTo>

/** Whoever compares with a limit has to ask it, so that none is crossed without being counted. */
export const limitTo = (value: number, onCross = () => {}) => {
  const crossed = (): true => {
    onCross()
    return true
  }
  const isExceededBy = (count: number): boolean => count > value && crossed()
  return {
    /** For SQL and for messages. Where SQL compares, `crossed` says so. */
    value,
    crossed,
    isExceededBy,
    isReachedBy: (count: number): boolean => count >= value && crossed(),
    first: <A>(all: ReadonlyArray<A>) => (isExceededBy(all.length) ? all.slice(0, value) : all),
    last: <A>(all: ReadonlyArray<A>) => (isExceededBy(all.length) ? all.slice(-value) : all),
    /** All of them, as many in each group as it allows. */
    groupsOf: <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
      isExceededBy(all.length)
        ? Array.from({ length: Math.ceil(all.length / value) }, (_, n) => all.slice(n * value, (n + 1) * value))
        : [all]
  }
}

const usual = {
  api: {
    /** Bytes of a body: of a larger one, a smaller page is requested, because small values take forty times their size in memory. */
    bodyBytes: 16 * 1024 * 1024,
    /** Bytes of the body of an error that are read: its message is at the start. */
    errorBytes: 64 * 1024,
    /** Attempts for a request, before it counts as unanswered. */
    attempts: 7,
    /** The same for a file: one may take ten minutes, and only few run at once. */
    fileAttempts: 3,
    /** Milliseconds for which the service may throttle a request, as if others used the budget; then the run is paused. */
    throttledMs: 15 * 60_000,
    /** Longer waits of the budget, in milliseconds, are left to a scheduler: the run is paused. */
    waitMs: 3_600_000,
    /** Redirects to follow before a file is rejected. */
    redirects: 5,
    /** A host that asks for a longer wait, in milliseconds, is asked again by the next run. */
    hostWaitMs: 30_000,
    /** Last seconds of the service's clock that are compared, so that a clock which is set during a run is noticed. */
    clockSeconds: 24
  },
  extract: {
    /** Parents whose children are requested before it is asked again which are due. */
    parents: 500,
    /** The same until one was answered: enough to see whether any is. */
    firstParents: 40,
    /** The same for a list that no account has shown yet. */
    trialParents: 1,
    /** Consecutive parents that may fail before it is asked whether it is of any use to go on. */
    failuresInARow: 20,
    /** Forms of refusals that are asked for again, the most frequent ones first; parents with another one count as failed. */
    refusalForms: 3,
    /** Live rows among which the control is chosen: the first whose id looks like that of the missing one. */
    controls: 50,
    /** Rows of a table that may be deleted at once, whatever their share; with more, none is. */
    deletedRows: 20,
    /** Readings from one place of a list whose cursors expire, before its strategy fails. */
    restarts: 4,
    /** How often a request is repeated if its page repeats an earlier one, before the strategy fails. */
    repeats: 2,
    /** The same in one partition. */
    allRepeats: 10,
    /** Attempts for a page that was made smaller, because none was answered. */
    reducedAttempts: 2,
    /** Records in a row that may be left out, because no page with them is answered; more are no single records. */
    missedInARow: 3,
    /** Records of a page, far above any page of the service: one transaction loads it, so a larger one fails. */
    pageRecords: 100_000,
    /** Steps back in a list that loses records while it is read; with more, it would never be read to its end. */
    stepsBack: 200,
    /** Pages beyond twice the records that the service counts, before the list is endless. */
    excessPages: 10,
    /** Ids of the last page that are kept: the next page must overlap it. */
    lastIds: 100,
    /** Ids of the first page of a partition that those of others are compared with. */
    firstIds: 100,
    /** Full readings in a row that a total may cause without a changed row, before it is no longer asked for. */
    vainReadings: 3,
    /** Links in a row that a host leaves unanswered, before the others to it are left to the next run. */
    silentLinks: 20,
    /** Files that are one entry of the vault. */
    fileRecords: 5000
  },
  load: {
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
    /** The same of what it reads: the vault keeps more recent bytes in memory, so that they need not be read again. */
    nearBytes: 2 * 1024 * 1024,
    /** Characters of a row, which DuckDB reads into buffers of four times its size; a record with a longer one is rejected. */
    rowLength: 4 * 1024 * 1024,
    /** Differences from the definition that a batch reports one by one, and the others together: names may be data. */
    drift: 200,
    /** Names of fields that the scanner learns from the records of a table; records with further ones are read by the normaliser. */
    learntFields: 1000,
    /** Rows of a record's child table among which the scanner seeks a repeated one; the normaliser reads records with more. */
    scannedRows: 500,
    /** Values of an enum that the scanner knows as bytes. Others are made texts each time. */
    enumValues: 16
  },
  vault: {
    /** Bytes with which a segment is full, and is compressed. It is read as a whole, so this bounds memory. */
    segmentBytes: 16 * 1024 * 1024,
    /** Bytes of the newest frames that are kept in memory; the loader reads older ones from the disk. */
    recentBytes: 4 * 1024 * 1024
  },
  warehouse: {
    /** Small tables that one statement reads: to plan 48 takes twice as long as three times 16. */
    tablesTogether: 16,
    /** Their rows, because DuckDB holds the joins of a statement in memory at the same time. */
    rowsTogether: 50_000,
    /** Rows of a table whose content is summed here rather than by DuckDB. */
    smallRows: 250,
    /** Such tables that one statement reads, to bound the memory for its plan. */
    smallTables: 50,
    /** Columns of a wide view; further fields are in a second one, which `meta.limits` names. DuckDB cannot handle many more. */
    wideColumns: 1000,
    /** Keys of changed records that are kept for the next release; with more, it writes all tables anew. */
    keptChangedKeys: 1_000_000,
    /** Rows of a wide table that one statement gathers, or more where memory allows. */
    wideRows: 256
  },
  publish: {
    /** Keys of changed records that the next release reads; with more, it writes the table anew. */
    changedKeys: 200_000,
    /** Share of the rows of a table that may have changed, before it is written anew. */
    changedShare: 0.2,
    /** Share of all rows that such tables may have, before the file of all tables is written anew. */
    replacedShare: 0.2,
    /** Times its size when it was written anew that the file may have: DuckDB does not shrink it, and rows that are replaced leave gaps. */
    growth: 1.6,
    /** Rows with which a release is written with all compression. */
    compressedRows: 50_000
  },
  /** No world plays the rooms from here on; their own tests draw these small. */
  pipe: {
    /** Rows of a table that one statement writes to a pipe. */
    partRows: 50_000
  },
  serve: {
    /** Ended jobs that are kept; an older one is forgotten with its files. */
    jobs: 50,
    /** Results of more than 200,000 characters that are held in memory, the newest ones. */
    largeResults: 5,
    /** Bytes at the end of a log that are shown, and of what has ended, whose result is the last line. */
    logTailBytes: 256_000,
    resultTailBytes: 8_000_000,
    /** Events that wait for a browser, before it is given up. */
    waitingEvents: 200,
    /** Browsers of each role that may be open; a further one is told to come later. */
    browsers: 50,
    /** Checks of a password that may wait, before other networks are told to try later: each takes 64 MB for a moment. */
    passwordChecks: 20,
    /** Networks whose wrong passwords are counted; the oldest is forgotten. */
    networks: 10_000
  }
}
type Usual = typeof usual

export type Limits = { readonly [Room in keyof Usual]: { readonly [Name in keyof Usual[Room]]: Limit } }
export type SmallLimits = { readonly [Room in keyof Usual]?: { readonly [Name in keyof Usual[Room]]?: number } }

/** The limits of which some are others. `onCross`: is told by `room.name` whenever one takes effect. */
export const limitsOf = (others: SmallLimits = {}, onCross: (name: string) => void = () => {}): Limits =>
  Object.fromEntries(
    Object.entries(usual).map(([room, own]) => [
      room,
      Object.fromEntries(
        Object.entries({ ...own, ...others[room as keyof Usual] }).map(([name, value]) => [
          name,
          limitTo(Number(value), () => onCross(`${room}.${name}`))
        ])
      )
    ])
  ) as Limits

export const usualLimits = limitsOf()
export const Limits = Context.Reference("sluice/Limits", { defaultValue: () => usualLimits })
