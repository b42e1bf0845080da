/** One conversation that is not where its date belongs in the list. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { type Account, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"

interface Page {
  readonly conversations: ReadonlyArray<Readonly<Record<string, unknown>>>
}

describe.each([
  ["one page", 12],
  ["several pages", 400]
])("on %s", (where, contacts) => {
  let account: Account
  let altered: Awaited<ReturnType<typeof alteredService>>
  let misplaced: { readonly id: string; readonly date: number } | undefined
  const sync = (output: string) =>
    sluice(["sync", "--full", ...account.selection], {
      ...account.environment,
      SLUICE_BASE_URL: altered.url,
      SLUICE_OUTPUT: output
    })
  const inOutput = async (output: string, sql: string) => (await query(join(output, "warehouse.duckdb"), sql))[0]!
  beforeAll(async () => {
    account = await openAlone("conversations,messages", "--contacts", String(contacts))
    altered = await alteredService(account.service, ({ path }, answer) =>
      path.startsWith("/conversations/search")
        ? {
            ...(answer as Page),
            conversations: (answer as Page).conversations.map((one) =>
              one["id"] === misplaced?.id ? { ...one, lastMessageDate: misplaced!.date } : one
            )
          }
        : answer
    )
  })
  afterAll(() => {
    altered.close()
    account.service.stop()
  })

  it("it is stored with all others, wherever it is and whatever its date", { tags: ["slow"] }, async () => {
    const all = (await account.service.records("conversations")).toSorted(
      (one, other) => Date.parse(String(one["lastMessageDate"])) - Date.parse(String(other["lastMessageDate"]))
    )
    assert.strictEqual(all.length > 200, where === "several pages")
    let output = ""
    for (const place of [0, Math.floor(all.length / 2), 99, all.length - 1].filter((place) => place in all))
      for (const date of ["2020-01-01", "2099-01-01"]) {
        const what = `${place} of ${all.length} is dated ${date}`
        misplaced = { id: String(all[place]!["id"]), date: Date.parse(date) }
        output = await newOutput()
        const ran = await sync(output)
        const { n } = await inOutput(output, "SELECT count(*)::INT AS n FROM crm.conversations")
        assert.strictEqual(n, all.length, what)
        const { status } = await inOutput(
          output,
          "SELECT status FROM meta.run_resources WHERE resource = 'conversations' ORDER BY run_id DESC LIMIT 1"
        )
        assert.strictEqual(ran.code, status === "complete" ? 0 : 3, `${what}: ${ran.stderr}`)
        if (where === "one page") assert.strictEqual(status, "complete", what)
        else if (place !== 0 && place !== all.length - 1) {
          assert.strictEqual(status, "incomplete", what)
          assert.match(ran.stderr, /conversations: a record is not where its lastMessageDate belongs in the list/)
        }
      }
    misplaced = undefined
    const ran = await sync(output)
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
})

it("a conversation of another time than its place in the list says is stored with all others", async () => {
  const account = await openAlone("conversations", "--contacts", "6")
  const altered = await alteredService(account.service, ({ path }, answer) => {
    const { conversations } = answer as Partial<Page>
    if (!path.startsWith("/conversations/search") || !conversations) return answer
    return {
      ...(answer as Page),
      conversations: conversations.map((one, n) => (n === 1 ? { ...one, lastMessageDate: Date.UTC(2099, 0) } : one))
    }
  })
  try {
    const environment = { ...account.environment, SLUICE_BASE_URL: altered.url }
    const ran = await sluice(["sync", ...account.selection], environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    const rows = await query(account.warehouse, "SELECT id FROM crm.conversations ORDER BY id")
    const all = (await account.service.records("conversations")).map(({ id }) => ({ id: String(id) }))
    assert.deepStrictEqual(
      rows,
      all.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    )
  } finally {
    altered.close()
    account.service.stop()
  }
})
