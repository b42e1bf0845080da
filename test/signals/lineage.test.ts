/** OpenLineage events: received by a server of the test, and checked by the schemas of the OpenLineage project. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Account, discard, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const schemas = fileURLToPath(new URL("../fixtures/openlineage/", import.meta.url))
const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addFormat("uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat("uri", (text) => URL.canParse(text))
ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
for (const path of globSync("**/*.json", { cwd: schemas }))
  ajv.addSchema(JSON.parse(readFileSync(join(schemas, path), "utf8")))

// oxlint-disable-next-line typescript/no-explicit-any
type Event = any

const check = (url: string, value: unknown): void => {
  const isValid = ajv.getSchema(url)
  assert.isDefined(isValid, url)
  assert.isTrue(isValid!(value), `${url}: ${JSON.stringify(isValid!.errors)} ${JSON.stringify(value).slice(0, 500)}`)
}

/** The event by its own schema, and each facet by the schema that it names. */
const checked = (event: Event): Event => {
  check("https://openlineage.io/spec/2-0-2/OpenLineage.json", event)
  check(event.schemaURL, event)
  const facets = [event.run, event.job, ...event.inputs, ...event.outputs].flatMap((one) => [
    ...Object.values(one.facets ?? {}),
    ...Object.values(one.outputFacets ?? {})
  ])
  for (const facet of facets) check((facet as Event)._schemaURL, facet)
  return event
}

let account: Account
let receiver: Receiver
let folder: string
const secret = "s3cret-lineage-key"

beforeAll(async () => {
  account = await openAlone("contacts,users", "--contacts", "20")
  receiver = await startReceiver()
  folder = newFolder()
})
afterAll(() => {
  receiver.stop()
  discard(account)
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = 200
})

const sync = (environment: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
  sluice(["sync", ...account.selection, ...flags], {
    ...account.environment,
    OPENLINEAGE_URL: `${receiver.url}/openlineage`,
    OPENLINEAGE_API_KEY: secret,
    ...environment
  })
const eventsOf = (bodies: ReadonlyArray<string>): ReadonlyArray<Event> =>
  bodies.map((body) => checked(JSON.parse(body)))
const received = () => eventsOf(receiver.received.map(({ body }) => body.toString()))
const typesOf = (events: ReadonlyArray<Event>, name: string): ReadonlyArray<string> =>
  events.filter(({ job }) => job.name === name).map(({ eventType }) => eventType)

describe("OpenLineage", () => {
  it("gets START and COMPLETE of the run and of each table, with columns and counts", async () => {
    const { code, stderr } = await sync()
    assert.strictEqual(code, 0, stderr)
    for (const { authorization, path } of receiver.received) {
      assert.strictEqual(path, "/openlineage/api/v1/lineage")
      assert.strictEqual(authorization, `Bearer ${secret}`)
    }
    const events = received()
    for (const name of ["sync", "sync.contacts", "sync.users", "sync.locations"])
      assert.deepStrictEqual(typesOf(events, name), ["START", "COMPLETE"], name)
    assert.strictEqual(events.at(-1).job.name, "sync", "the run ends last")

    const run = events.find(({ job }) => job.name === "sync").run.runId
    const contacts = events.find(({ eventType, job }) => eventType === "COMPLETE" && job.name === "sync.contacts")
    assert.match(contacts.run.runId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/, "version 7")
    assert.strictEqual(contacts.run.facets.parent.run.runId, run)
    assert.strictEqual(contacts.job.namespace, "sluice")
    assert.deepStrictEqual(contacts.inputs, [
      { namespace: account.service.url, name: `${account.service.locationId}/contacts` }
    ])
    const [table] = contacts.outputs
    assert.strictEqual(table.namespace, `duckdb://${account.output}/published/crm.duckdb`)
    assert.strictEqual(table.name, "crm.crm.contacts")
    const [count] = await query(account.warehouse, "SELECT count(*)::INT AS n FROM crm.contacts")
    assert.strictEqual(table.outputFacets.outputStatistics.rowCount, count!["n"])
    const columns = await query(
      account.warehouse,
      "SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE schema_name = 'crm' AND table_name = 'contacts' ORDER BY column_index"
    )
    const typeOf = (sql: string) => sql.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
    assert.deepStrictEqual(
      table.facets.schema.fields.map(({ name, type }: Event) => [name, type]).toSorted(),
      columns.map(({ name, type }) => [name, typeOf(String(type))]).toSorted()
    )
    assert.includeMembers(
      contacts.outputs.map(({ name }: Event) => name),
      ["crm.crm.contact_tags"]
    )
  })

  it("gets FAIL with a reason but without the service's words, or ABORT, and ends what it started", async () => {
    assert.strictEqual((await sync({ SLUICE_TOKEN: "a-token-that-is-wrong" })).code, 77)
    const failed = received()
    assert.deepStrictEqual(typesOf(failed, "sync"), ["START", "FAIL"])
    assert.strictEqual(failed.at(-1).run.facets.errorMessage.message, "sluice sync ended with exit code 77")
    assert.notInclude(JSON.stringify(failed), "a-token-that-is-wrong")

    receiver.received.length = 0
    assert.strictEqual((await sync({}, "--full", "--deadline", "0s")).code, 75)
    const paused = received()
    assert.deepStrictEqual(typesOf(paused, "sync"), ["START", "ABORT"])
    for (const events of [failed, paused]) {
      const ids = new Map<string, Array<string>>()
      for (const { eventType, run } of events) ids.set(run.runId, [...(ids.get(run.runId) ?? []), eventType])
      for (const [, types] of ids) assert.match(types.join(), /^START,(COMPLETE|FAIL|ABORT)$/)
    }
  })

  it("gets ABORT of a run that a signal stops, and of the tables that it was reading", async () => {
    const slow = await openAlone("contacts,contact_notes", "--contacts", "100", "--latency", "20-30")
    try {
      const stopped = new AbortController()
      const running = sluice(
        ["sync", ...slow.selection],
        { ...slow.environment, OPENLINEAGE_URL: receiver.url },
        { signal: stopped.signal }
      )
      await slow.service.requested(30)
      stopped.abort(143)
      assert.strictEqual((await running).code, 143)
      const events = received()
      assert.deepStrictEqual(typesOf(events, "sync"), ["START", "ABORT"])
      assert.deepStrictEqual(typesOf(events, "sync.contact_notes"), ["START", "ABORT"])
    } finally {
      discard(slow)
    }
  })

  it("appends the same events to a file", async () => {
    const file = join(folder, "lineage", "events.ndjson")
    const settings = join(folder, "sluice.toml")
    writeFileSync(settings, `[signals]\nopenlineage_file = "${file}"\nopenlineage_namespace = "nightly"\n`)
    assert.strictEqual((await sync({}, "--config", settings)).code, 0)
    assert.strictEqual((await sync({ OPENLINEAGE_DISABLED: "true" }, "--config", settings)).code, 0)
    const events = eventsOf(readFileSync(file, "utf8").trim().split("\n"))
    assert.lengthOf(events, receiver.received.length)
    const order = (one: Event, other: Event) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)
    assert.deepStrictEqual(events.toSorted(order), received().toSorted(order))
    assert.strictEqual(events[0].job.namespace, "nightly")
  })

  it("that fails costs one warning and a few seconds, and is not named with its address or key", async () => {
    for (const answer of [500, "hang", "refused"] as const) {
      if (answer !== "refused") receiver.answer = answer
      const nowhere = answer === "refused" ? { OPENLINEAGE_URL: `http://127.0.0.1:1/${secret}` } : {}
      const begun = performance.now()
      const { code, stdout, stderr } = await sync(nowhere)
      assert.strictEqual(code, 0)
      assert.lengthOf(stderr.match(/The OpenLineage server was not reached: it .* \d+ events are missing\./g) ?? [], 1)
      assert.notInclude(stdout + stderr, secret)
      assert.isBelow(performance.now() - begun, 12_000)
    }
  })
})
