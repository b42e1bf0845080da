/** What a format of files is: how rows become a file, how this is brought up to date, and how files are read back. */
import type { Effect } from "effect"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import type { Failure } from "../../values/failure.ts"
import type { RowTexts, StoredColumn } from "../warehouse/content.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import type { WideView } from "../warehouse/wide-view.ts"

/** The rows of a table, a wide view or a model. */
export interface Rows {
  /** The file is named after it. */
  readonly name: string
  /** FROM clause. */
  readonly from: string
  readonly columns: ReadonlyArray<StoredColumn>
  readonly metadata: Metadata
  /** The rows are those of a wide view, which needs too much memory to be read at once. */
  readonly wide?: WideView | undefined
  /** Rows that were read already. */
  readonly texts?: RowTexts | undefined
  /** There are none, and the columns are those of a definition. */
  readonly isEmpty?: boolean
}

/** A description, and facts as JSON, for formats whose files say what they contain. */
export interface Metadata {
  readonly description: string
  readonly sluice: string
}

/** The file of an earlier release. */
export interface Earlier extends Pick<Written, "path" | "rows"> {
  /** The rows of the records with `keys` have changed since, and no others. */
  readonly table: PublishedTable
  readonly keys: Writing<ReadonlySet<string>>
  /** FROM clause of their present rows. */
  readonly changed: string
}

export interface Written {
  readonly path: string
  /** `*`: the file contains all tables. */
  readonly table: string
  readonly rows: number
}

type Writing<A> = Effect.Effect<A, Failure, Warehouse>

export interface Format {
  /** The file of rows of this name, in the folder of the format. */
  readonly fileOf: (name: string) => string
  /** Writes the file at `path`, whose folder exists. Returns the number of rows. */
  readonly write: (rows: Rows, path: string) => Writing<number>
  /** The same from the earlier file, if this is possible and less work. */
  readonly update?: (rows: Rows, earlier: Earlier, path: string) => Writing<number | undefined>
  /**
   * Writes some of the rows of a file, for a reader that cannot wait for all of them; absent if the format is no text. `from`:
   * FROM clause. The files of all parts, one after the other, are the file of a release.
   */
  readonly writePart?: (
    from: string,
    columns: ReadonlyArray<StoredColumn>,
    path: string,
    isFirst: boolean
  ) => Writing<number>
  /** How the rows of files are read back, to compare them; absent if their texts are not those of the data. */
  readonly reading?: Reading
}

export interface Reading {
  /** FROM clause of the rows of the files. */
  readonly from: (paths: ReadonlyArray<string>, columns: ReadonlyArray<string>) => string
  /** Every value that it returns is its text. */
  readonly areTexts: boolean
  /** What is wrong with a file, although its rows can be read. */
  readonly problem?: (path: string, columns: ReadonlyArray<string>) => Effect.Effect<string | undefined, Failure>
}
