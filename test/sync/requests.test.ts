/** Compares the requests of a full run with a lower bound; `SHOW=1` prints the table. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, openAccount } from "../support/account.ts"
import { type Bound, lowerBound } from "../support/lower-bound.ts"

describe("the requests of a full run", () => {
  let account: Account
  let bounds: ReadonlyArray<Bound>
  let sent: Readonly<Record<string, number>>
  beforeAll(async () => {
    account = await openAccount("--contacts", "700")
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
    sent = (await account.service.stats()).requestsByOperation
    bounds = await lowerBound(account.service)
    if (process.env["SHOW"])
      for (const { resource, records, operation, requests } of bounds)
        console.log(`| ${resource} | ${operation} | ${records} | ${sent[operation] ?? 0} | ${requests} |`)
  })
  afterAll(() => account.service.stop())

  it("are at most 2 % above the lower bound", () => {
    const least = bounds.reduce((sum, { requests }) => sum + requests, 0)
    const bounded = bounds.reduce((sum, { operation }) => sum + (sent[operation] ?? 0), 0)
    assert.isAtMost(bounded, least * 1.02)
    assert.isAtLeast(bounded, least, "fewer would mean that something was not read")
  })

  it("are of operations in the lower bound, except for those of the small lists", () => {
    const known = new Set(bounds.map(({ operation }) => operation))
    const others = Object.entries(sent).filter(([operation]) => !known.has(operation))
    assert.sameMembers(
      others.map(([operation]) => operation),
      [
        "GET /locations/:locationId/timezones",
        "GET /locations/:locationId/conversationChannels/:type",
        "GET /locations/:locationId/templates",
        "POST /locations/:locationId/tasks/search",
        "GET /emails/locations/:locationId/templates",
        "POST /social-media-posting/:locationId/posts/list"
      ]
    )
  })
})
