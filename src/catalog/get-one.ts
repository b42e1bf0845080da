/** The request that reads one record by itself: for its details, to confirm that it was deleted, and for `verify --sample`. */
import { type Bindings, type BoundRequest, type Request, bind, rowParameters } from "./request.ts"
import type { Resource } from "./resource.ts"

/** The request that reads one record, where it needs nothing of the record but its id. */
export const requestById = ({ getOne }: Resource): Request | undefined =>
  getOne && rowParameters(getOne.request).length === 1 ? getOne.request : undefined

/** The request that reads the record of a row. */
export const requestForRow = (
  { getOne, childOf }: Resource,
  row: Readonly<Record<string, unknown>>,
  run: Pick<Bindings, "location" | "company">
): BoundRequest | undefined => {
  const [name] = childOf ? rowParameters(childOf.strategy.request) : []
  const parent = name === undefined ? undefined : { name, id: row[childOf!.column] }
  return getOne && bind(getOne.request, { ...run, id: row["id"], row, parent })
}
