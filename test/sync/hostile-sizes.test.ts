/** What is too large is given up, in bounded memory; ids that look like paths lead nowhere. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { query } from "../support/compare.ts"
import { type Asked, type Reply, hostileService, locationId, syncHostile } from "../support/hostile.ts"
import { sluice, start } from "../support/sluice.ts"

const megabyte = 1024 * 1024
const pageBytes = 200 * megabyte

/** Valid JSON of 200 MB: thousands of small records, or one large text. */
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
  const packed = gzipSync(page)

  it("is what it says", () => {
    assert.strictEqual(page.length > 199 * megabyte && packed.length < 5 * megabyte, true)
    assert.strictEqual(JSON.parse(page.toString()).contacts.at(-1).id, "last")
  })

  it.each([
    ["plain", page, {}],
    ["packed into little", packed, { "content-encoding": "gzip" }]
  ])(
    "%s: memory stays bounded, its resource ends incomplete with the reason, the others arrive",
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
        assert.match(ran.stderr, /contacts: .*the answer is over our limit of 16 MB/)
        assert.isAbove(peak(), 50)
        assert.isBelow(peak(), 900)
        const [told] = await query(
          join(folder, "warehouse.duckdb"),
          "SELECT status, (SELECT count(*) FROM crm.workflows) AS workflows FROM meta.run_resources WHERE resource = 'contacts'"
        )
        assert.deepStrictEqual(told, { status: "incomplete", workflows: "1" })
      } finally {
        close()
      }
    }
  )
})

describe("a page made of the smallest things there are", () => {
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

  it("too many records: the resource ends incomplete, in bounded memory", async () => {
    const { ran } = await run(upTo(15 * megabyte, () => "1"))
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, /workflows: .*the answer holds \d+ records, over our 100000/)
  })

  it("no field name ever twice: the rows arrive, and a few hundred names stand for all", async () => {
    const fields = (n: number) => Array.from({ length: 9 }, (_, index) => `"k${n}_${index}":1`).join(",")
    const records = upTo(8 * megabyte, (n) => `{"id":"${n}",${fields(n)}}`)
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

/** The most that a process held in memory until now, or until it ended. */
const peakMegabytes = (pid: number) => {
  let peak = 0
  const look = () => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
      peak = Math.max(peak, Number(kilobytes ?? 0) / 1024)
    } catch {
      clearInterval(timer)
    }
  }
  const timer = setInterval(look, 20)
  return () => peak
}

describe("ids that look like paths", () => {
  const tame = ["/abs", "a/b", "%2e%2e%2f", "line\nbreak", "a?b#c", "a\\b", "\ufffd", "..a", "__proto__"]
  const steps = ["..", "."]
  const climbing = "../../etc/passwd"
  const long = "x".repeat(10_000)
  const ids = [...tame, ...steps, climbing, "../users", long]

  const answers = ({ method, path }: Asked): Reply | undefined => {
    if (path === "/contacts/search") return { body: { contacts: ids.map((id) => ({ id })), total: ids.length } }
    const [, id] = /^\/contacts\/([^/]+)\/notes$/.exec(path) ?? []
    return method === "GET" && id !== undefined
      ? { body: { notes: [{ id: `note of ${decodeURIComponent(id)}` }] } }
      : undefined
  }

  it("reach no other path of the service, and the rows they are the ids of are read all the same", async () => {
    const { ran, asked, rows } = await syncHostile(answers, "contacts,contact_notes")
    const paths = asked.map(({ path }) => path)
    assert.deepStrictEqual(
      paths.filter((path) => path.endsWith("/notes")).sort(),
      ids
        .filter((id) => !steps.includes(id))
        .map((id) => `/contacts/${encodeURIComponent(id)}/notes`)
        .sort()
    )
    // As every server, proxy and library on the way would read it.
    for (const path of paths) assert.strictEqual(new URL(path, "http://x").pathname, path.split("?")[0])
    const known = /^\/(contacts\/search|contacts\/[^/]+\/notes|locations\/[^/]+)$/
    assert.deepStrictEqual(
      paths.filter((path) => !known.test(path)),
      []
    )
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, /contact_notes: 2 could not be read, for example of \.{1,2}: .*cannot be asked for/)
    const contacts = await rows("SELECT id FROM crm.contacts")
    assert.sameMembers(
      contacts.map(({ id }) => id),
      ids
    )
    const notes = await rows("SELECT contact_id FROM crm.contact_notes")
    assert.sameMembers(
      notes.map((row) => row["contact_id"]),
      ids.filter((id) => !steps.includes(id))
    )
  })

  it("name recordings that stay in their folder", async () => {
    const messages = ids.map((id) => ({ id, messageType: "TYPE_CALL", dateAdded: "2026-01-01T00:00:00Z" }))
    const { ran, folder, rows } = await syncHostile(({ path }) => {
      if (path.startsWith("/conversations/messages/export")) return { body: { messages, total: ids.length } }
      return path.endsWith(`/locations/${locationId}/recording`)
        ? { headers: { "content-type": "../../audio/x-wav" }, body: Buffer.from("RIFF") }
        : undefined
    }, "messages,recordings")
    assert.strictEqual(ran.code, 3, ran.stderr)
    const stored = (await rows("SELECT path FROM crm.recordings")).map((row) => String(row["path"]))
    assert.strictEqual(stored.length, ids.length - steps.length)
    for (const path of stored) {
      assert.match(path, /^files\/recordings\/[\w-]+\.bin$/)
      assert.isTrue(existsSync(join(folder, path)))
    }
    assert.strictEqual(new Set(stored).size, readdirSync(join(folder, "files", "recordings")).length)
    assert.sameMembers(readdirSync(folder), ["files", "vault", "warehouse.duckdb"])
  })
})

describe("a recording that is too large", () => {
  it("is named and not kept; the others arrive, and what a crash left of one is removed", async () => {
    const messages = ["small", "large"].map((id) => ({
      id,
      messageType: "TYPE_CALL",
      dateAdded: "2026-01-01T00:00:00Z"
    }))
    const { folder, environment, close } = await hostileService(({ path }) => {
      if (path.startsWith("/conversations/messages/export")) return { body: { messages, total: 2 } }
      if (!path.endsWith("/recording")) return undefined
      return {
        headers: { "content-type": "audio/mpeg" },
        body: Buffer.alloc(path.includes("large") ? 2 * megabyte : 9)
      }
    })
    try {
      const recordings = join(folder, "files", "recordings")
      mkdirSync(recordings, { recursive: true })
      writeFileSync(join(recordings, "old.mp3.part"), "half")
      const ran = await sluice(["sync", "--only", "messages,recordings"], { ...environment, SLUICE_FILE_MB_MAX: "1" })
      assert.strictEqual(ran.code, 3, ran.stderr)
      assert.match(ran.stderr, /recordings: 1 could not be read, for example of large: .*output.file_mb_max, 1 MB/)
      assert.strictEqual(readdirSync(recordings).length, 1)
      assert.deepStrictEqual(
        await query(join(folder, "warehouse.duckdb"), "SELECT message_id, bytes FROM crm.recordings"),
        [{ message_id: "small", bytes: "9" }]
      )
    } finally {
      close()
    }
  })
})
