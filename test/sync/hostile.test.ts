/** Invalid data from the service is rejected with a reason, and everything else is loaded. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { query } from "../support/compare.ts"
import {
  type ReceivedRequest,
  type Reply,
  contactsPage,
  hostileService,
  pageOf,
  raw,
  syncHostile
} from "../support/hostile.ts"
import { sluice } from "../support/sluice.ts"

/** One page of contacts for every request, and two workflows that have to be loaded as well. */
const contacts = (body: unknown) => (request: ReceivedRequest) =>
  request.path === "/contacts/search" ? { body } : workflows(request)
const workflows = ({ path }: ReceivedRequest): Reply | undefined =>
  path.startsWith("/workflows/") ? { body: { workflows: [{ id: "w1" }, { id: "w2" }] } } : undefined
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

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

  it("is rejected with its reason, and the other records are loaded", { tags: ["slow"] }, async () => {
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
  const formats = { SLUICE_FORMATS: "duckdb,parquet,csv" }

  it(
    "is stored as closely as possible and listed as rejected, and names of JavaScript's prototypes are ordinary keys",
    { tags: ["slow"] },
    async () => {
      const { ran, rows } = await syncHostile(
        contacts(contactsPage(record, '{"id":"__proto__","firstName":"A"}', '{"id":"constructor","firstName":"B"}')),
        "contacts,workflows",
        formats
      )
      assert.strictEqual(ran.code, 0, ran.stderr)
      const [row] = await rows(
        `SELECT first_name, last_name, replace(city, chr(0), '<0>') AS city, address1, website, state, date_added,
       opportunities::VARCHAR AS opportunities, attachments::VARCHAR AS attachments, _extra::VARCHAR AS extra FROM crm.contacts WHERE id = 'c1'`
      )
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
        extra:
          '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":3,"toString":"t",' +
          '"hasOwnProperty":0,"\ufffdkey":"\ufffd","nul\\u0000key":"nul\\u0000"}'
      })
      const kept = "contains a lone surrogate, stored as U+FFFD"
      assert.deepStrictEqual(
        await rows("SELECT table_name, column_name, reason, value FROM meta.rejected_values ORDER BY ALL"),
        [
          { table_name: "contact_custom_values", column_name: "value", reason: kept, value: '"\\ud800"' },
          { table_name: "contact_tags", column_name: "tag", reason: kept, value: '"\\ud800"' },
          {
            table_name: "contacts",
            column_name: "_extra",
            reason: kept,
            value:
              '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":3,"toString":"t",' +
              '"hasOwnProperty":0,"\\ud800key":"\\udfff","nul\\u0000key":"nul\\u0000"}'
          },
          { table_name: "contacts", column_name: "attachments", reason: kept, value: '{"\\ud800":"\\\\ud800"}' },
          { table_name: "contacts", column_name: "date_added", reason: "does not fit instant", value: "1e999" },
          { table_name: "contacts", column_name: "first_name", reason: kept, value: '"Zo\\udceb"' },
          { table_name: "contacts", column_name: "last_name", reason: kept, value: '"cut \\ud83d"' },
          {
            table_name: "contacts",
            column_name: "opportunities",
            reason: kept,
            value: '[1e999,-1e-999,12345678901234567890,0,"\\udc00"]'
          }
        ]
      )
      assert.deepStrictEqual(await rows("SELECT table_name, reason FROM meta.rejected_records ORDER BY ALL"), [
        {
          table_name: "contact_custom_values",
          reason: "custom_field_id contains a lone surrogate or a NUL; in c1/contact_custom_values/3"
        },
        {
          table_name: "contact_dnd_settings",
          reason: "channel contains a lone surrogate or a NUL; in c1/contact_dnd_settings/\ufffd"
        },
        { table_name: "contact_tags", reason: "tag contains a lone surrogate or a NUL; in c1/contact_tags/0" }
      ])
      assert.deepStrictEqual(
        await rows("SELECT custom_field_id AS id, value::VARCHAR AS value FROM crm.contact_custom_values ORDER BY id"),
        [
          { id: "../../etc/passwd", value: '"b"' },
          { id: "__proto__", value: '"a"' },
          { id: "constructor", value: "1e999" },
          { id: "toString", value: '"\ufffd"' }
        ]
      )
      assert.deepStrictEqual(await rows("SELECT id, first_name FROM crm.contacts WHERE id <> 'c1' ORDER BY id"), [
        { id: "__proto__", first_name: "A" },
        { id: "constructor", first_name: "B" }
      ])
      // A value that is stored with a replacement is no schema change.
      assert.deepStrictEqual(await rows("SELECT field FROM meta.schema_changes WHERE kind = 'different type'"), [
        { field: "date_added" }
      ])
    }
  )
})

describe("an invalid page", () => {
  it.each([
    ["a text", raw('"contacts"'), /the response has no list contacts/],
    ["null", raw("null"), /the response has no list contacts/],
    ["a list", raw("[1,2]"), /the response has no list contacts/],
    ["a number", raw("1e999"), /the response has no list contacts/],
    [
      "a deeply nested object with large numbers",
      raw(`{"n":12345678901234567890,"x":${nested(100_000)}}`),
      /nested too deeply/
    ]
  ])("%s makes its resource incomplete with a reason, and other resources are read", async (_, body, reason) => {
    const { ran, rows } = await syncHostile(contacts(body), "contacts,workflows")
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, reason)
    const [resource] = await rows(
      "SELECT status, warnings[1] AS warning FROM meta.run_resources WHERE resource = 'contacts'"
    )
    assert.strictEqual(resource!["status"], "incomplete")
    assert.match(String(resource!["warning"]), reason)
    assert.deepStrictEqual(await rows("SELECT count(*) AS n FROM crm.workflows"), [{ n: "2" }])
  })

  it.each([
    // One missing record of three is more than concurrent changes explain.
    ['"3"', "incomplete", 3],
    ["12345678901234567890", "complete", 0],
    ['{"toString":1}', "complete", 0],
    ["1e30", "complete", 0],
    ['"many"', "complete", 0]
  ])(
    "every record is loaded if the total is %s, and the status is %s",
    { tags: ["slow"] },
    async (total, status, code) => {
      const body = raw(`{"contacts":[{"id":"a"},{"id":12345678901234567890}],"total":${total}}`)
      const { ran, rows } = await syncHostile(contacts(body), "contacts")
      assert.strictEqual(ran.code, code, ran.stderr)
      assert.deepStrictEqual(await rows("SELECT status FROM meta.run_resources WHERE resource = 'contacts'"), [
        { status }
      ])
      assert.deepStrictEqual(await rows("SELECT id FROM crm.contacts ORDER BY id"), [
        { id: "12345678901234567890" },
        { id: "a" }
      ])
    }
  )

  it.each([
    ["a lone surrogate", '["\\ud800",12345678901234567890]', /"searchAfter":\["\\ud800",12345678901234567890\]/],
    [
      "an object with names of JavaScript's prototypes",
      '{"toString":1,"__proto__":2}',
      /"searchAfter":\{"toString":1,"__proto__":2\}/
    ]
  ])(
    "a cursor with %s is sent back unchanged and requests the next page",
    { tags: ["slow"] },
    async (_, cursor, sent) => {
      const first = Array.from({ length: 500 }, (_, n) => `{"id":"${n}\\ud800","searchAfter":${cursor}}`)
      const { ran, requests, rows } = await syncHostile(
        ({ path, body }) =>
          path === "/contacts/search"
            ? { body: body.includes("searchAfter") ? contactsPage('{"id":"next"}') : contactsPage(...first) }
            : undefined,
        "contacts"
      )
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(requests.map(({ body }) => body).join("\n"), sent)
      assert.deepStrictEqual(await rows("SELECT id FROM crm.contacts"), [{ id: "next" }])
    }
  )

  it(
    "a cursor nested 100,000 deep is not used: another strategy reads the list, and the run reports the reason",
    { tags: ["slow"] },
    async () => {
      const page = (from: number, to: number) =>
        pageOf(
          510,
          ...Array.from(
            { length: to - from },
            (_, n) => `{"id":"${from + n}","searchAfter":${n === 499 ? nested(100_000) : 1}}`
          )
        )
      const { ran, rows } = await syncHostile(
        ({ path, body }) =>
          path === "/contacts/search" ? { body: body.includes('"page":2') ? page(500, 510) : page(0, 500) } : undefined,
        "contacts"
      )
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /contacts: POST \/contacts\/search could not be used: the cursor is too large/)
      assert.deepStrictEqual(await rows("SELECT count(*) AS n FROM crm.contacts"), [{ n: "510" }])
    }
  )

  it("a response without the list is reported and marks no row as deleted", async () => {
    let pages = 0
    const { folder, environment, url, close } = await hostileService(({ path }) =>
      path.startsWith("/workflows/")
        ? { body: pages++ === 0 ? { workflows: [{ id: "w1" }] } : raw('{"__proto__":{"workflows":[]},"oops":[]}') }
        : undefined
    )
    try {
      assert.strictEqual((await sluice(["sync", "--only", "workflows"], environment)).code, 0)
      const ran = await sluice(["sync", "--only", "workflows", "--full"], environment)
      assert.strictEqual(ran.code, 3, `${url}: ${ran.stderr}`)
      assert.match(ran.stderr, /workflows: .*the response has no list workflows/)
      assert.deepStrictEqual(
        await query(join(folder, "warehouse.duckdb"), "SELECT id, _deleted_at FROM crm.workflows"),
        [{ id: "w1", _deleted_at: null }]
      )
    } finally {
      close()
    }
  })
})
