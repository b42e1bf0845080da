/** The locations of an agency, from the API: `GET /locations/search` has no total, so the end is a page without a new one. */
import { commonHeaders } from "../../../stages/api/http.ts"
import type { NewLocation } from "./roster.ts"

const pageSize = 100
/** More than any agency has, in case the service repeats itself with other ids. */
const pagesMax = 1000

/** Rejects with a sentence about the response. */
export const agencyLocations = async (
  baseUrl: string,
  token: string,
  companyId: string | undefined
): Promise<ReadonlyArray<NewLocation>> => {
  const found = new Map<string, NewLocation>()
  for (let page = 0; page < pagesMax; page++) {
    const query = new URLSearchParams({ skip: String(page * pageSize), limit: String(pageSize) })
    if (companyId !== undefined) query.set("companyId", companyId)
    const before = found.size
    for (const { id, name } of await pageOf(`${baseUrl}/locations/search?${query}`, token))
      if (id !== undefined) found.set(id, { location: id, name })
    if (found.size === before) break
  }
  return [...found.values()]
}

type Page = ReadonlyArray<{ readonly id?: string; readonly name?: string }>
const pageOf = async (url: string, token: string): Promise<Page> => {
  const headers = { ...commonHeaders, authorization: `Bearer ${token}`, "accept-encoding": "gzip" }
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) })
  if (!response.ok)
    throw new Error(`GET /locations/search answered ${response.status}: ${(await response.text()).slice(0, 200)}`)
  const body = (await response.json()) as { readonly locations?: unknown }
  if (!Array.isArray(body.locations)) throw new Error("GET /locations/search answered without a list of locations")
  return body.locations
}
