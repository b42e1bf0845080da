/** The request that reads a single record: for its detail, to confirm its deletion, and for `verify --sample`. */
import { type Bindings, type BoundRequest, bind, rowColumns, rowParameters } from "./request.ts"
import type { Resource } from "./resource.ts"

/** The columns of a row from which `requestForRow` makes its request. */
export const columnsOfRequest = ({ getOne, childOf }: Resource): ReadonlyArray<string> => [
  ...new Set(["id", ...(childOf ? [childOf.column] : []), ...(getOne ? rowColumns(getOne.request) : [])])
]

/** The request that reads the record of a row; undefined if the API has none. */
export const requestForRow = (
  { getOne, childOf }: Resource,
  row: Readonly<Record<string, unknown>>,
  run: Pick<Bindings, "location" | "company">
): BoundRequest | undefined => {
  const parents = childOf && rowParameters(childOf.strategy.request).map((name) => ({ name, id: row[childOf.column] }))
  const parent = parents?.[0]
  return getOne && bind(getOne.request, { ...run, id: row["id"], row, parent })
}
