/**
 * How the records of a resource belong to a person: a contact of the account, or somebody who is known by an address only.
 * One link suffices. A column of a child table is written with its table: `task_relations.record_id`.
 */
export interface PersonLinks {
  /** Columns with the id of a contact. */
  readonly contacts?: ReadonlyArray<string>
  /** Columns with the id of a record that belongs to the person, and the table of that record. */
  readonly records?: Readonly<Record<string, string>>
  /**
   * Columns with an email address or a phone number of the person. Default: the columns with the role `email`, `phone` or
   * `emailOrPhone`.
   */
  readonly addresses?: ReadonlyArray<string>
  /** A column with the name of a table, and one with the key of its record, which belongs to the person. */
  readonly owner?: { readonly table: string; readonly key: string }
  /** The law may demand the record for its amounts: an erasure can keep it without the person. */
  readonly isFinancial?: true
}
