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

/** The shapes of the service are written out where they are compared. */
export type Shown = Readonly<Record<string, any>>

/** Fields of a record under the names of their columns. */
export const columns = (record: Shown, fields: string, prefix = ""): Shown =>
  Object.fromEntries(
    fields
      .split(" ")
      .map((field) => [prefix + field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), record[field]])
  )

/** One spelling for values that are the same: instants, decimals with zeros behind, what is not there. */
export const text = (row: Shown): string =>
  JSON.stringify(
    Object.values(row).map((value: unknown) => {
      const written = String(value ?? "")
      if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(written)) return Date.parse(written.replace(/\+00$/, "Z"))
      if (/^\d+\.\d{4,}$/.test(written)) return String(Number(written))
      return typeof value === "number" ? written : (value ?? null)
    })
  )
