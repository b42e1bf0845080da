/** A recording that is too large is not kept, and ids that look like paths reach no other path or folder. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { query } from "../support/compare.ts"
import { type ReceivedRequest, type Reply, hostileService, locationId, syncHostile } from "../support/hostile.ts"
import { sluice } from "../support/sluice.ts"

const megabyte = 1024 * 1024

describe("ids that look like paths", () => {
  const harmless = ["/abs", "a/b", "%2e%2e%2f", "line\nbreak", "a?b#c", "a\\b", "\ufffd", "..a", "__proto__"]
  const dots = ["..", "."]
  const climbing = "../../etc/passwd"
  const long = "x".repeat(10_000)
  const ids = [...harmless, ...dots, climbing, "../users", long]

  const answers = ({ method, path }: ReceivedRequest): Reply | undefined => {
    if (path === "/contacts/search") return { body: { contacts: ids.map((id) => ({ id })), total: ids.length } }
    const [, id] = /^\/contacts\/([^/]+)\/notes$/.exec(path) ?? []
    return method === "GET" && id !== undefined
      ? { body: { notes: [{ id: `note of ${decodeURIComponent(id)}` }] } }
      : undefined
  }

  it("request no other path of the service, and the rows with these ids are read", async () => {
    const { ran, requests, rows } = await syncHostile(answers, "contacts,contact_notes")
    const paths = requests.map(({ path }) => path)
    assert.deepStrictEqual(
      paths.filter((path) => path.endsWith("/notes")).sort(),
      ids
        .filter((id) => !dots.includes(id))
        .map((id) => `/contacts/${encodeURIComponent(id)}/notes`)
        .sort()
    )
    // As servers, proxies and libraries normalize it.
    for (const path of paths) assert.strictEqual(new URL(path, "http://x").pathname, path.split("?")[0])
    const known = /^\/(contacts\/search|contacts\/[^/]+\/notes|locations\/[^/]+)$/
    assert.deepStrictEqual(
      paths.filter((path) => !known.test(path)),
      []
    )
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, /contact_notes: failed requests: 2, for example \.{1,2}: .*cannot be requested/)
    const contacts = await rows("SELECT id FROM crm.contacts")
    assert.sameMembers(
      contacts.map(({ id }) => id),
      ids
    )
    const notes = await rows("SELECT contact_id FROM crm.contact_notes")
    assert.sameMembers(
      notes.map((row) => row["contact_id"]),
      ids.filter((id) => !dots.includes(id))
    )
  })

  it("do not place recordings outside their folder", async () => {
    const messages = ids.map((id) => ({ id, messageType: "TYPE_CALL", dateAdded: "2026-01-01T00:00:00Z" }))
    const { ran, folder, rows } = await syncHostile(({ path }) => {
      if (path.startsWith("/conversations/messages/export")) return { body: { messages, total: ids.length } }
      return path.endsWith(`/locations/${locationId}/recording`)
        ? { headers: { "content-type": "../../audio/x-wav" }, body: Buffer.from("RIFF") }
        : undefined
    }, "messages,recordings")
    assert.strictEqual(ran.code, 3, ran.stderr)
    const stored = (await rows("SELECT path FROM crm.recordings")).map((row) => String(row["path"]))
    assert.strictEqual(stored.length, ids.length - dots.length)
    for (const path of stored) {
      assert.match(path, /^files\/[0-9a-f]{2}\/[0-9a-f]{62}(\.\w+)?$/)
      assert.isTrue(existsSync(join(folder, path)))
    }
    // They have the same content.
    assert.strictEqual(new Set(stored).size, 1)
    assert.strictEqual(readdirSync(join(folder, "files")).length, 1)
    const known = ["files", "ledger.jsonl", "ledger.lock", "recent-requests.json", "vault", "warehouse.duckdb"]
    assert.sameMembers(readdirSync(folder), known)
  })
})

describe("a recording that is too large", () => {
  it("is reported and not kept; other recordings are stored, and a partial file of a crash is removed", async () => {
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
      const ran = await sluice(["sync", "--only", "messages,recordings"], {
        ...environment,
        SLUICE_FILES_MAX_BYTES: "1048576"
      })
      assert.strictEqual(ran.code, 3, ran.stderr)
      assert.match(ran.stderr, /recordings: failed requests: 1, for example large: .*files.max_bytes, 1048576/)
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
