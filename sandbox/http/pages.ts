import type { Collection, Data, Entry } from "../account/collection.ts"

/** The JSON text `{"<name>":[...],...rest}`, from records that are JSON texts. */
export const pageOf = (name: string, texts: ReadonlyArray<string>, rest: Data): string => {
  const tail = JSON.stringify(rest)
  return `{${JSON.stringify(name)}:[${texts.join(",")}]${tail === "{}" ? "}" : `,${tail.slice(1)}`}`
}

/** Appends members to the JSON text of an object. */
export const extend = (text: string, members: Data): string =>
  `${text.slice(0, -1)},${JSON.stringify(members).slice(1)}`

export const listed = (collection: Collection, rows: ReadonlyArray<Entry>): Array<string> =>
  rows.map((row) => collection.list(row))

/** The page numbers in the `meta` of A 4.4 and B 4.8; null for a page that does not exist. */
export const pageNumbers = (page: number, size: number, total: number): Data => ({
  total,
  currentPage: page,
  nextPage: page * size < total ? page + 1 : null,
  prevPage: page > 1 ? page - 1 : null
})
