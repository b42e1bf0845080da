/** The bounds of every answer. docs/question.md lists them. */
export const limits = {
  /** Rows of an answer that the page shows. */
  rows: 1000,
  /** UTF-16 units of a value that the page shows. */
  cellCharacters: 2000,
  /** UTF-16 units of all values of an answer; a wide view has hundreds of columns. */
  answerCharacters: 8_000_000,
  downloadRows: 1_000_000,
  /** Bytes of the file of a download. */
  downloadBytes: 2_000_000_000,
  /** What a download leaves free on the disk of its file. */
  freeBytesMin: 500_000_000,
  sqlBytes: 100_000,
  queryMs: 30_000,
  downloadMs: 300_000,
  /** Queries that run at once. */
  queries: 4,
  /** Memory of the process that runs the queries, beyond DuckDB's own limit. */
  processMb: 500
} as const

/** A sort by a custom field, or a query of the user, needs more than a sync, and nothing is written to disk instead. */
export const memoryMbMin = 512
