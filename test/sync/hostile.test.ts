/** Invalid data from the service is rejected with a reason, and everything else is loaded. */
import { assert, describe, it } from "@effect/vitest"
import { type ReceivedRequest, type Reply, contactsPage, pageOf, raw, syncHostile } from "../support/hostile.ts"

const slow = { tags: ["slow"] }
/** One page of contacts for every request, and two workflows that have to be loaded as well. */
const contacts = (body: unknown) => (request: ReceivedRequest) =>
  request.path === "/contacts/search" ? { body } : workflows(request)
const workflows = ({ path }: ReceivedRequest): Reply | undefined =>
  path.startsWith("/workflows/") ? { body: { workflows: [{ id: "w1" }, { id: "w2" }] } } : undefined
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
type Row = Readonly<Record<string, unknown>>
const listed = (rows: ReadonlyArray<Row>) => rows.map((row) => Object.values(row).join(" | "))

describe("a record that cannot become a row", () => {
  const bad: ReadonlyArray<readonly [record: string, reason: string]> = [
    ['"text"', "not an object"],
    ["null", "not an object"],
    ["[1]", "not an object"],
    [`{"id":"deep","new":${nested(100_000)}}`, "nested too deeply"],
    [`{"new":${nested(100_001)}}`, "nested too deeply"],
    [`{"id":${nested(100_002)}}`, "no id"],
    ['{"id":{"toString":1,"valueOf":2}}', "no id"],
    ['{"id":""}', "no id"],
    ['{"id":"a\\ud800"}', "id contains a lone surrogate or a NUL"],
    ['{"id":"a\\u0000b"}', "id contains a lone surrogate or a NUL"],
    ['{"id":"a\xff\xfeb"}', "id contains a lone surrogate or a NUL"],
    [`{"id":"big","new":"${"x".repeat(10 << 20)}"}`, "larger than 4 MB"]
  ]

  it("is rejected with its reason, and the other records are loaded", slow, async () => {
    const page = contactsPage('{"id":"before"}', ...bad.map(([record]) => record), '{"id":"behind"}')
    const { ran, rows } = await syncHostile(contacts(page), "contacts,workflows")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.match(ran.stderr, new RegExp(`contacts: ${bad.length} records have no key`))
    assert.deepStrictEqual(await rows("SELECT id FROM crm.contacts ORDER BY id"), [{ id: "before" }, { id: "behind" }])
    const rejected = await rows(
      "SELECT reason, count(*) AS n, max(length(record)) AS longest FROM meta.rejected_records GROUP BY ALL ORDER BY ALL"
    )
    assert.deepStrictEqual(
      rejected.map(({ reason }) => reason),
      [...new Set(bad.map(([, reason]) => reason))].sort()
    )
    assert.isBelow(Math.max(...rejected.map(({ longest }) => Number(longest))), 20_000)
    assert.deepStrictEqual(
      await rows("SELECT record FROM meta.rejected_records WHERE reason LIKE '%lone surrogate%' ORDER BY record"),
      ['{"id":"a\\u0000b"}', '{"id":"a\\ud800"}', '{"id":"a\\udcff\\udcfeb"}'].map((record) => ({ record }))
    )
    assert.deepStrictEqual(await rows("SELECT count(*) AS n FROM crm.workflows"), [{ n: "2" }])
  })
})

describe("a value that its column cannot represent", () => {
  const record = `{"id":"c1","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":3,
    "toString":"t","hasOwnProperty":0,"\\ud800key":"\\udfff","nul\\u0000key":"nul\\u0000",
    "firstName":"Zo\xeb","lastName":"cut \\ud83d","city":"nul\\u0000city","address1":12345678901234567890,
    "website":1e999,"state":-0,"dateAdded":1e999,"opportunities":[1e999,-1e-999,12345678901234567890,-0,"\\udc00"],
    "attachments":{"\\ud800":"\\\\ud800"},"tags":["\\ud800","ok","__proto__"],
    "customFields":[{"id":"__proto__","value":"a"},{"id":"constructor","value":1e999},{"id":"toString","value":"\\ud800"},
      {"id":"\\u0000","value":1},{"id":"../../etc/passwd","value":"b"}],
    "dndSettings":{"__proto__":{"status":"active"},"\\ud800":{"status":"active"}}}`

  it(
    "is stored as closely as possible and listed, and names of JavaScript's prototypes are ordinary keys",
    slow,
    async () => {
      const page = contactsPage(record, '{"id":"__proto__","firstName":"A"}', '{"id":"constructor","firstName":"B"}')
      const formats = { SLUICE_FORMATS: "duckdb,parquet,csv" }
      const { ran, rows } = await syncHostile(contacts(page), "contacts,workflows", formats)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const [row] = await rows(
        `SELECT first_name, last_name, replace(city, chr(0), '<0>') AS city, address1, website, state, date_added,
       opportunities::VARCHAR AS opportunities, attachments::VARCHAR AS attachments, _extra::VARCHAR AS extra FROM crm.contacts WHERE id = 'c1'`
      )
      const unknown =
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":3,"toString":"t",'
      assert.deepStrictEqual(row, {
        first_name: "Zo\ufffd",
        last_name: "cut \ufffd",
        city: "nul<0>city",
        address1: "12345678901234567890",
        website: "1e999",
        state: "0",
        date_added: null,
        opportunities: '[1e999,-1e-999,12345678901234567890,0,"\ufffd"]',
        attachments: '{"\ufffd":"\\\\ud800"}',
        extra: `${unknown}"hasOwnProperty":0,"\ufffdkey":"\ufffd","nul\\u0000key":"nul\\u0000"}`
      })
      const kept = "contains a lone surrogate, stored as U+FFFD"
      assert.deepStrictEqual(
        listed(await rows("SELECT table_name, column_name, reason, value FROM meta.rejected_values ORDER BY ALL")),
        [
          `contact_custom_values | value | ${kept} | "\\ud800"`,
          `contact_tags | tag | ${kept} | "\\ud800"`,
          `contacts | _extra | ${kept} | ${unknown}"hasOwnProperty":0,"\\ud800key":"\\udfff","nul\\u0000key":"nul\\u0000"}`,
          `contacts | attachments | ${kept} | {"\\ud800":"\\\\ud800"}`,
          "contacts | date_added | does not fit instant | 1e999",
          `contacts | first_name | ${kept} | "Zo\\udceb"`,
          `contacts | last_name | ${kept} | "cut \\ud83d"`,
          `contacts | opportunities | ${kept} | [1e999,-1e-999,12345678901234567890,0,"\\udc00"]`
        ]
      )
      const bad = "contains a lone surrogate or a NUL; in c1"
      assert.deepStrictEqual(listed(await rows("SELECT table_name, reason FROM meta.rejected_records ORDER BY ALL")), [
        `contact_custom_values | custom_field_id ${bad}/contact_custom_values/3`,
        `contact_dnd_settings | channel ${bad}/contact_dnd_settings/\ufffd`,
        `contact_tags | tag ${bad}/contact_tags/0`
      ])
      assert.deepStrictEqual(
        listed(
          await rows("SELECT custom_field_id AS id, value::VARCHAR AS value FROM crm.contact_custom_values ORDER BY id")
        ),
        ['../../etc/passwd | "b"', '__proto__ | "a"', "constructor | 1e999", 'toString | "\ufffd"']
      )
      assert.deepStrictEqual(
        listed(await rows("SELECT id, first_name FROM crm.contacts WHERE id <> 'c1' ORDER BY id")),
        ["__proto__ | A", "constructor | B"]
      )
      const changes = await rows("SELECT field FROM meta.schema_changes WHERE kind = 'different type'")
      assert.deepStrictEqual(listed(changes), ["date_added"], "a value that is stored with a replacement is no change")
    }
  )
})

describe("an invalid page", () => {
  const noList = /the response has no list/
  const pages = {
    contacts: ["/contacts/search", '"contacts"', noList],
    forms: ["/forms/", "null", noList],
    surveys: ["/surveys/", "[1,2]", noList],
    calendars: ["/calendars/", "1e999", noList],
    pipelines: ["/opportunities/pipelines", `{"n":12345678901234567890,"x":${nested(100_000)}}`, /nested too deeply/]
  } as const

  it("(text, null, list, number, too deep) makes its resource incomplete with a reason, and others are read", async () => {
    const resources = Object.keys(pages).join(",")
    const { ran, rows } = await syncHostile((request) => {
      const page = Object.values(pages).find(([start]) => request.path.startsWith(start))
      return page ? { body: raw(page[1]) } : workflows(request)
    }, `${resources},workflows`)
    assert.strictEqual(ran.code, 3, ran.stderr)
    const read = await rows("SELECT resource, status, warnings[1] AS warning FROM meta.run_resources")
    for (const [resource, [, , reason]] of Object.entries(pages)) {
      const { status, warning } = read.find((row) => row["resource"] === resource)!
      assert.strictEqual(status, "incomplete", resource)
      assert.match(String(warning), reason)
      assert.match(ran.stderr, new RegExp(`${resource}: .*${reason.source}`))
    }
    assert.deepStrictEqual(await rows("SELECT count(*) AS n FROM crm.workflows"), [{ n: "2" }])
  })
})

describe("a cursor", () => {
  it.each([
    ["a lone surrogate", '["\\ud800",12345678901234567890]'],
    ["an object with names of JavaScript's prototypes", '{"toString":1,"__proto__":2}']
  ])("with %s is sent back unchanged and requests the next page", slow, async (_, cursor) => {
    const first = Array.from({ length: 500 }, (_, n) => `{"id":"${n}\\ud800","searchAfter":${cursor}}`)
    const { ran, requests, rows } = await syncHostile(({ body, path }) => {
      if (path !== "/contacts/search") return undefined
      return { body: contactsPage(...(body.includes("searchAfter") ? ['{"id":"next"}'] : first)) }
    }, "contacts")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.include(requests.map(({ body }) => body).join("\n"), `"searchAfter":${cursor}`)
    assert.deepStrictEqual(await rows("SELECT id FROM crm.contacts"), [{ id: "next" }])
  })

  it(
    "nested 100,000 deep is not used: another strategy reads the list, and the run reports the reason",
    slow,
    async () => {
      const page = (from: number, to: number) => {
        const cursorOf = (n: number) => (n === 499 ? nested(100_000) : 1)
        const ids = Array.from({ length: to - from }, (_, n) => n + from)
        return pageOf(510, ...ids.map((n) => `{"id":"${n}","searchAfter":${cursorOf(n)}}`))
      }
      const { ran, rows } = await syncHostile(({ path, body }) => {
        if (path !== "/contacts/search") return undefined
        return { body: body.includes('"page":2') ? page(500, 510) : page(0, 500) }
      }, "contacts")
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /contacts: POST \/contacts\/search could not be used: the cursor is too large/)
      assert.deepStrictEqual(await rows("SELECT count(*) AS n FROM crm.contacts"), [{ n: "510" }])
    }
  )
})
