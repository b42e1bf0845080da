/** Responses that are too large are abandoned in bounded memory. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { query } from "../support/compare.ts"
import { hostileService } from "../support/hostile.ts"
import { start } from "../support/process.ts"

const megabyte = 1024 * 1024
const pageBytes = 200 * megabyte

/** Valid JSON of 200 MB with records of 1 kB. */
const manyRecords = () => {
  const record = Buffer.from(`{"id":"contact-0123456789","firstName":"${"x".repeat(966)}"},`)
  const page = Buffer.alloc(pageBytes, record)
  page.write('{"contacts":[{"id":"first"},')
  const end = Buffer.from('{"id":"last"}]}')
  const whole = page.subarray(0, 28 + Math.floor((pageBytes - 28) / record.length) * record.length)
  return Buffer.concat([whole.fill(record, 28), end])
}

describe("a page of 200 MB", () => {
  const page = manyRecords()
  const compressed = gzipSync(page)

  it("is valid, and compressed it has less than 5 MB", () => {
    assert.strictEqual(page.length > 199 * megabyte && compressed.length < 5 * megabyte, true)
    assert.strictEqual(JSON.parse(page.toString()).contacts.at(-1).id, "last")
  })

  it.each([
    ["plain", page, {}],
    ["compressed", compressed, { "content-encoding": "gzip" }]
  ])(
    "that is %s is abandoned in bounded memory: its resource is incomplete with a reason, and another resource is read",
    async (_, body, headers) => {
      const { folder, environment, close } = await hostileService(({ path }) =>
        path === "/contacts/search"
          ? { body, headers }
          : path.startsWith("/workflows/")
            ? { body: { workflows: [{ id: "w1" }] } }
            : undefined
      )
      try {
        const running = start(["sync", "--only", "contacts,workflows"], environment)
        const peak = peakMegabytes(running.pid)
        const ran = await running.ended
        assert.strictEqual(ran.code, 3, ran.stderr)
        assert.match(ran.stderr, /contacts: .*the response is over our limit of 16 MB/)
        assert.isAbove(peak(), 50)
        assert.isBelow(peak(), 900)
        const [row] = await query(
          join(folder, "warehouse.duckdb"),
          "SELECT status, (SELECT count(*) FROM crm.workflows) AS workflows FROM meta.run_resources WHERE resource = 'contacts'"
        )
        assert.deepStrictEqual(row, { status: "incomplete", workflows: "1" })
      } finally {
        close()
      }
    }
  )
})

describe("a page with very many small values", () => {
  const upTo = (bytes: number, part: (n: number) => string) => {
    const parts: Array<string> = []
    for (let [n, length] = [0, 0]; length < bytes; n++) length += parts[parts.push(part(n)) - 1]!.length + 1
    return parts
  }
  const run = async (records: ReadonlyArray<string>) => {
    const body = Buffer.from(`{"workflows":[${records.join(",")}]}`)
    const { folder, environment, close } = await hostileService(({ path }) =>
      path.startsWith("/workflows/") ? { body } : undefined
    )
    try {
      const running = start(["sync", "--only", "workflows"], environment)
      const peak = peakMegabytes(running.pid)
      const ran = await running.ended
      assert.isBelow(peak(), 900)
      return { ran, rows: (sql: string) => query(join(folder, "warehouse.duckdb"), sql) }
    } finally {
      close()
    }
  }

  it("with too many records makes its resource incomplete in bounded memory", async () => {
    // A list without any record would be no list.
    const { ran } = await run(upTo(15 * megabyte, (n) => (n === 0 ? `{"id":"0"}` : "1")))
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, /workflows: .*the response has \d+ records, over our limit of 100000/)
  })

  it("with distinct field names is loaded, and 201 schema changes count all names", async () => {
    const fields = (n: number) => Array.from({ length: 9 }, (_, index) => `"k${n}_${index}":1`).join(",")
    const records = upTo(8 * megabyte, (n) => `{"id":"${n}","name":"a",${fields(n)}}`)
    const { ran, rows } = await run(records)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(
      await rows(
        "SELECT (SELECT count(*) FROM crm.workflows) AS n, count(*) AS told, sum(seen)::BIGINT AS seen FROM meta.schema_changes"
      ),
      [{ n: String(records.length), told: "201", seen: String(records.length * 9) }]
    )
  })
})

/** The peak memory of a process until now, or until it ended. */
const peakMegabytes = (pid: number) => {
  let peak = 0
  const measure = () => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
      peak = Math.max(peak, Number(kilobytes ?? 0) / 1024)
    } catch {
      clearInterval(timer)
    }
  }
  const timer = setInterval(measure, 20)
  return () => peak
}
