import { assert } from "vitest"
import { type Client, ids, type Json } from "../client.ts"

/** Reads a list by offset (or skip) until a short page, and checks that it has each record of a collection once. */
export const walkAll = async (
  s: Client,
  path: string,
  members: string | undefined,
  collection: string,
  sizes: ReadonlyArray<number | undefined>,
  start = "offset"
): Promise<Array<Json>> => {
  const expected = ids(await s.records(collection))
  assert.isNotEmpty(expected, collection)
  let rows: Array<Json> = []
  for (const size of sizes) {
    rows = []
    for (;;) {
      const limit = size === undefined ? "" : `&limit=${size}`
      const { body, status } = await s.get(`${path}${limit}&${start}=${rows.length}`)
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}`)
      const page = (members === undefined ? body : body[members]) as Array<Json>
      rows.push(...page)
      if (page.length < (size ?? 10)) break
    }
    assert.deepEqual(ids(rows), expected, `${path} by ${size ?? "default"}`)
  }
  return rows
}

/** The statuses of several requests. */
export const statuses = async (replies: ReadonlyArray<Promise<{ status: number }>>): Promise<Array<number>> =>
  (await Promise.all(replies)).map(({ status }) => status)
