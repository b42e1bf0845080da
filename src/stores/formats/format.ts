/** What a format of files is: how rows become files, how these are brought up to date, and how they are read back. */
import type { Effect } from "effect"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import type { Failure } from "../../values/failure.ts"
import type { StoredColumn } from "../warehouse/content.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import type { WideView } from "../warehouse/wide-view.ts"

/** The rows of a table, a wide view or a model. */
export interface Rows {
  /** The files are named after it. */
  readonly name: string
  /** FROM clause. */
  readonly from: string
  readonly columns: ReadonlyArray<StoredColumn>
  readonly key: ReadonlyArray<string>
  readonly metadata: Metadata
  /** The rows are those of a wide view, which needs too much memory to be read at once. */
  readonly wide?: WideView | undefined
  /** There are none, and the columns are those of a definition. */
  readonly isEmpty?: boolean
}

/** A description, and facts as JSON, for formats whose files say what they contain. */
export interface Metadata {
  readonly description: string
  readonly sluice: string
}

/** What an earlier release has of the rows. */
export interface Earlier {
  /** The rows of its records in `meta.changed_keys` have changed since, and no others. */
  readonly table: PublishedTable
  /** One or more; the paths are absolute. */
  readonly files: ReadonlyArray<Pick<Written, "path" | "rows">>
}

export interface Written {
  readonly path: string
  /** `*`: the file contains all tables. */
  readonly table: string
  readonly rows: number
}

type Writing<A> = Effect.Effect<A, Failure, Warehouse>

export interface Format {
  /** The file of rows of this name, or the first of several. */
  readonly fileOf: (name: string) => string
  /** Writes files below `folder`, to which their paths are relative; the folder of `fileOf` exists. */
  readonly write: (rows: Rows, folder: string) => Writing<ReadonlyArray<Written>>
  /** The same from the earlier files, if this is possible and less work. */
  readonly update?: (rows: Rows, earlier: Earlier, folder: string) => Writing<ReadonlyArray<Written> | undefined>
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

/** What a format returns that has written one file. */
export const oneFile =
  (path: string, table: string) =>
  (rows: number): ReadonlyArray<Written> => [{ path, table, rows }]
