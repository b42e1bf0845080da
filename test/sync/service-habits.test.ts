/**
 * Ways of the service that a whole command has to live with. test/simulation/claims.test.ts has the others, and
 * test/extract/ties.test.ts what a misplaced record makes of a list.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { openAccount, openAlone } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { begin } from "../support/life.ts"

const slow = { tags: ["slow"] }
type Row = Readonly<Record<string, unknown>>
const idsOf = (rows: ReadonlyArray<Row>) => rows.map(({ id }) => String(id)).toSorted()

it("an API that is down ends the run with 75, and publishes nothing", async () => {
  const life = await begin(openAlone("forms", "--contacts", "2", "--faults", "500:1"))
  life.clock = acceleratedClock()
  await life.sync("", 75, { SLUICE_FORMATS: "csv" })
  assert.isFalse(existsSync(join(life.account.output, "published")))
  assert.isAtMost((await life.service.stats()).requests, 14)
})

it.each(["all", "open"])("every task is read, if a search without a flag finds %s", async (found) => {
  const { account, sync } = await begin(openAlone("tasks", "--contacts", "40", "--quirk", `taskSearch=${found}`))
  await sync()
  assert.isTrue((await account.service.records("tasks")).some(({ completed }) => completed === true))
  assert.deepStrictEqual(await account.differences(), [])
})

it("users whose detail does not exist keep the rows of the list, and their details are incomplete", slow, async () => {
  const life = await begin(openAlone("users,locations", "--contacts", "20", "--quirk", "userReads=missing"))
  for (let night = 1; night <= 2; night++)
    assert.match((await life.sync("", 3)).stderr, /users\/details: failed requests: \d+, .* not found/)
  assert.deepStrictEqual(await life.deleted("users"), [])
  for (const table of ["user_permissions", "user_scopes", "user_phones"])
    assert.isNotEmpty(await life.ask(`FROM crm.${table}`), table)
})

it("every contact with an id is a row, and every other is a rejected record", slow, async () => {
  const life = await begin(openAccount("--contacts", "60", "--world", "nasty"))
  const { stderr } = await life.sync()
  const strays = await life.service.records("contacts?strays=1")
  const hasId = ({ id }: Row) => typeof id === "string" && id !== ""
  const sent = [...(await life.service.records("contacts")), ...strays].filter(hasId)
  assert.deepStrictEqual(idsOf(await life.ask("SELECT id FROM crm.contacts")), [...new Set(idsOf(sent))])
  const rejects = await life.ask("FROM meta.rejected_records WHERE table_name = 'contacts'")
  assert.isNotEmpty(rejects)
  assert.match(stderr, /contacts.*: \d+ records have no key; see meta.rejected_records/)
  assert.strictEqual(rejects.length, strays.filter((record) => !hasId(record)).length)
  const unexplained = await life.ask(
    `SELECT table_name, column_name, any_value(value) AS example FROM meta.rejected_values
     WHERE regexp_matches(value, '^"\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z"$') GROUP BY ALL`
  )
  assert.deepStrictEqual(unexplained, [], "well-formed instants are not rejected")
})

it("a time zone that is not known is reported by sync and check", async () => {
  const life = await begin(openAlone("locations", "--contacts", "2"))
  life.alter = (_, answer) => {
    const { location } = answer as { readonly location?: Row }
    return location === undefined ? answer : { location: { ...location, timezone: "Mars/Olympus" } }
  }
  const { stderr } = await life.sync()
  assert.match(stderr, /^The location \S+ has the time zone "Mars\/Olympus", which is not known/m)
  const checked = await life.run(["check"], {})
  assert.match(checked.stdout, /time_zone:\S+.*"Mars\/Olympus" is not known/)
})

describe("conversations", () => {
  /** The list has this conversation at its place, with another date. */
  const misdated = (answer: unknown, id: string, lastMessageDate: number) => {
    const page = answer as { readonly conversations?: ReadonlyArray<Row> }
    const conversations = page.conversations?.map((one) => (one["id"] === id ? { ...one, lastMessageDate } : one))
    return { ...page, ...(conversations && { conversations }) }
  }
  const inOrder = (records: ReadonlyArray<Row>) =>
    records
      .map(({ id, lastMessageDate }) => ({ id: String(id), date: Date.parse(String(lastMessageDate)) }))
      .toSorted((one, other) => one.date - other.date)

  it("of which more than fit a page have the same time are all read, without a warning", async () => {
    const life = await begin(
      openAlone("conversations", "--world", "nasty", "--contacts", "100", "--conversations", "400")
    )
    const records = await life.service.records("conversations")
    const tied = Map.groupBy(inOrder(records), ({ date }) => date).values()
    assert.isAbove(Math.max(...tied.map((one) => one.length)), 100, "the account has such conversations")
    const { stderr } = await life.sync()
    assert.deepStrictEqual(idsOf(await life.ask("SELECT id FROM crm.conversations")), idsOf(records))
    assert.notMatch(stderr, /share one|were read/)
  })

  it("of another time than their place in the list says are stored with all others", async () => {
    const life = await begin(openAlone("conversations", "--contacts", "6"))
    const records = await life.service.records("conversations")
    const second = inOrder(records)[1]!
    life.alter = (_, answer) => misdated(answer, second.id, Date.UTC(2099, 0))
    await life.sync()
    assert.deepStrictEqual(idsOf(await life.ask("SELECT id FROM crm.conversations")), idsOf(records))
  })
})
