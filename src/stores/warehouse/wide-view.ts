/** A wide view, as those see it that publish, mask and describe it. */
import type { PersonalData } from "../../catalog/personal-data.ts"

/** A view of a table with its own columns and one for each custom field. */
export interface WideView {
  /** Name of the view. */
  readonly view: string
  /** Name of the view that has the first columns of the same rows. */
  readonly first: string
  /** The table whose rows it shows. */
  readonly table: string
  /** The table of custom values. */
  readonly values: string
  /** Columns of the table of custom values: the id of the row, and the field. */
  readonly parent: string
  readonly field: string
  /** The columns that the view has in addition to those of the table. */
  readonly columns: ReadonlyArray<WideColumn>
  /** SELECT of the rows in a range of row ids. The range bounds memory, because DuckDB does not spill `list` aggregates. */
  readonly rows: (schema: string, first: number, last: number) => string
  /** SELECT of the rows whose ids a relation has. */
  readonly among: (schema: string, ids: string) => string
  /** Changes with the view and the descriptions of its columns. */
  readonly definition: string
  /** Creates the view. */
  readonly statement: (schema: string) => string
  /**
   * Creates the same in a published file: a table without rows, which a reader need not gather from all values, or a view if it
   * has no columns of its own. With a macro that shows the rows with some ids.
   */
  readonly published: (schema: string) => ReadonlyArray<string>
  readonly comments: (schema: string) => ReadonlyArray<string>
  /** New columns, whose names are to be stored permanently. */
  readonly named: ReadonlyArray<FieldColumn>
}

export interface WideColumn {
  readonly column: string
  /** One of a location at most. */
  readonly fields: ReadonlyArray<FieldOfLocation>
  /** From the field's definition; undefined for fields without a definition, such as some form answers. */
  readonly dataType: string | undefined
  readonly label: string
  readonly personal: PersonalData
}

export interface FieldOfLocation {
  readonly location: string
  readonly field: string
}
export interface FieldColumn extends FieldOfLocation {
  readonly view: string
  readonly column: string
  /** The view that has had the field until now. */
  readonly knownView: string | undefined
}
