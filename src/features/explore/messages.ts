/** What the server and the process that runs the queries send each other. */

/** Identifies an answer of the process. */
interface Numbered {
  readonly id: number
}

export type Request = Numbered &
  (
    | { readonly kind: "tables" }
    | { readonly kind: "catalog" }
    | { readonly kind: "dictionary" }
    | { readonly kind: "query"; readonly sql: string }
    | { readonly kind: "download"; readonly sql: string; readonly format: DownloadFormat; readonly file: string }
    /** Interrupts the request with this id. */
    | { readonly kind: "cancel" }
  )

export type DownloadFormat = "csv" | "parquet" | "xlsx"

/** What is shown of a table before it is opened. */
export interface NamedTable {
  readonly schema: string
  readonly name: string
  readonly kind: "table" | "view"
  readonly comment: string | null
  /** With those of deleted records; absent for a view. */
  readonly rows?: number
  /** A view of schema `bi` that is no model. */
  readonly isStaging?: true
}

export interface CatalogTable extends NamedTable {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly comment: string | null }>
  /** The rows of deleted records; absent if there are none. */
  readonly deleted?: number
  /** Of a wide table: the table whose rows it shows. Its macro `<name>_of(ids)` shows some rows; of a release whose wide tables are views, it reads only their custom values. */
  readonly wide?: { readonly table: string; readonly columns: ReadonlyArray<string> }
}

export interface Dictionary {
  /** By the table without its schema. */
  readonly columns: ReadonlyArray<{
    readonly table: string
    readonly column: string
    /** The class of personal data. */
    readonly personal: string
    /** The table to whose ids its values belong. */
    readonly refersTo?: string
  }>
  /** When the least recently read location of each resource was read completely. */
  readonly read: ReadonlyArray<{ readonly resource: string; readonly at: string }>
}

/** The columns that the text of a query names, and those of which the columns of its result are made. */
export interface QueryParts {
  readonly named: ReadonlyArray<string>
  /** By column; one without a name has a number. Columns of tables, each followed by those by which it is multiplied. */
  readonly made: Readonly<Record<string, Readonly<Record<"numbers" | "sums", ReadonlyArray<ReadonlyArray<string>>>>>>
}

export interface QueryResult {
  /** Those that the query names. */
  readonly tables: ReadonlyArray<string>
  readonly parts: QueryParts
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  /** Values as text. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | null>>
  /** Whether there are more rows. */
  readonly isCut: boolean
  /** The number of values of which only the beginning is shown. */
  readonly cutCells: number
}

export type Answer = Numbered &
  (
    | { readonly value: unknown }
    | { readonly error: { readonly code: "refused" | "sql" | "memory" | "failed"; readonly message: string } }
  )
