/** Records of the sandbox as the tests of the definitions look at them. */
export type Row = Readonly<Record<string, unknown>>

/** The families these tests read. */
export const families = "email,products,invoices,payments,social,blogs,funnels,forms"

export const idOf = (record: Row) => String(record["id"] ?? record["_id"])
export const list = (value: unknown) => (value ?? []) as ReadonlyArray<Row>
export const isObject = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What the record itself says; a number is no flag. */
export const isDeleted = ({ deleted, status }: Row) => String(deleted) === "true" || status === "deleted"

/** Half a surrogate pair is no text in any encoding. */
export const wellFormed = (record: Row): Row =>
  JSON.parse(JSON.stringify(record), (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value
  ) as Row
