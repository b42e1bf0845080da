/** Helpers for records of the sandbox. */
export type Row = Readonly<Record<string, unknown>>

/** The families that the commerce tests read. */
export const families = "email,products,invoices,payments,social,blogs,funnels,forms"

export const idOf = (record: Row) => String(record["id"] ?? record["_id"])
export const list = (value: unknown) => (value ?? []) as ReadonlyArray<Row>
export const isObject = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether the record is flagged as deleted; a number is no flag. */
export const isDeleted = ({ deleted, status }: Row) => String(deleted) === "true" || status === "deleted"

/** The record with U+FFFD for lone surrogates. */
export const wellFormed = (record: Row): Row =>
  JSON.parse(JSON.stringify(record), (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value
  ) as Row

/** A record as the service sends it; the tests that compare it write out its shape. */
export type Shown = Readonly<Record<string, any>>

/** The fields of a record, under the names of their columns. */
export const columns = (record: Shown, fields: string, prefix = ""): Shown =>
  Object.fromEntries(
    fields
      .split(" ")
      .map((field) => [prefix + field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), record[field]])
  )

/** One notation for equal values: instants, decimals with trailing zeros, and missing values. */
export const text = (row: Shown): string =>
  JSON.stringify(
    Object.values(row).map((value: unknown) => {
      const written = String(value ?? "")
      if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(written)) return Date.parse(written.replace(/\+00$/, "Z"))
      if (/^\d+\.\d{4,}$/.test(written)) return String(Number(written))
      return typeof value === "number" ? written : (value ?? null)
    })
  )
