import type { Collection, Data, Entry } from "../account/collection.ts"

/** `{"<name>":[...],...rest}` from texts that are already JSON. */
export const pageOf = (name: string, texts: ReadonlyArray<string>, rest: Data): string => {
  const tail = JSON.stringify(rest)
  return `{${JSON.stringify(name)}:[${texts.join(",")}]${tail === "{}" ? "}" : `,${tail.slice(1)}`}`
}

/** JSON text of an object with more members at its end. */
export const extend = (text: string, members: Data): string =>
  `${text.slice(0, -1)},${JSON.stringify(members).slice(1)}`

export const listed = (collection: Collection, rows: ReadonlyArray<Entry>): Array<string> =>
  rows.map((row) => collection.list(row))

/** The page numbers of the metas of A 4.4 and B 4.8: null where there is no such page. */
export const pageNumbers = (page: number, size: number, total: number): Data => ({
  total,
  currentPage: page,
  nextPage: page * size < total ? page + 1 : null,
  prevPage: page > 1 ? page - 1 : null
})
