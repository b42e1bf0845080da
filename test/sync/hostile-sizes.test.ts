/** A recording that is too large is not kept, and ids that look like paths reach no other path or folder. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { query } from "../support/compare.ts"
import { type ReceivedRequest, type Reply, hostileService, locationId, syncHostile } from "../support/hostile.ts"
import { sluice } from "../support/sluice.ts"

const callOf = (id: string) => ({ id, messageType: "TYPE_CALL", dateAdded: "2026-01-01T00:00:00Z" })
/** Answers for calls with these ids. */
const calls = (ids: ReadonlyArray<string>, { path }: ReceivedRequest): Reply | undefined =>
  path.startsWith("/conversations/messages/export")
    ? { body: { messages: ids.map(callOf), total: ids.length } }
    : undefined

describe("ids that look like paths", () => {
  const dots = ["..", "."]
  const harmless = ["/abs", "a/b", "%2e%2e%2f", "line\nbreak", "a?b#c", "a\\b", "\ufffd", "..a", "__proto__"]
  const sendable = [...harmless, "../../etc/passwd", "../users", "x".repeat(10_000)]
  const ids = [...sendable, ...dots]

  it("request no other path of the service, and the rows with these ids are read", async () => {
    const { ran, requests, rows } = await syncHostile(({ method, path }) => {
      if (path === "/contacts/search") return { body: { contacts: ids.map((id) => ({ id })), total: ids.length } }
      const [, id] = /^\/contacts\/([^/]+)\/notes$/.exec(path) ?? []
      if (method !== "GET" || id === undefined) return undefined
      return { body: { notes: [{ id: `note of ${decodeURIComponent(id)}` }] } }
    }, "contacts,contact_notes")
    const paths = requests.map(({ path }) => path)
    assert.sameMembers(
      paths.filter((path) => path.endsWith("/notes")),
      sendable.map((id) => `/contacts/${encodeURIComponent(id)}/notes`)
    )
    for (const path of paths) {
      // As servers, proxies and libraries normalize it.
      assert.strictEqual(new URL(path, "http://x").pathname, path.split("?")[0])
      assert.match(path, /^\/(contacts\/search|contacts\/[^/]+\/notes|locations\/[^/]+)$/)
    }
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr, /contact_notes: failed requests: 2, for example \.{1,2}: .*cannot be requested/)
    const stored = async (column: string, table: string) =>
      (await rows(`SELECT ${column} AS id FROM crm.${table}`)).map(({ id }) => id)
    assert.sameMembers(await stored("id", "contacts"), ids)
    assert.sameMembers(await stored("contact_id", "contact_notes"), sendable)
  })

  it("do not place recordings outside their folder", async () => {
    const { ran, folder, rows } = await syncHostile(
      (request) =>
        request.path.endsWith(`/locations/${locationId}/recording`)
          ? { headers: { "content-type": "../../audio/x-wav" }, body: Buffer.from("RIFF\0") }
          : calls(ids, request),
      "messages,recordings"
    )
    assert.strictEqual(ran.code, 3, ran.stderr)
    const stored = (await rows("SELECT path FROM crm.recordings")).map((row) => String(row["path"]))
    assert.lengthOf(stored, sendable.length)
    assert.strictEqual(new Set(stored).size, 1, "they have the same content")
    assert.match(stored[0]!, /^files\/[0-9a-f]{2}\/[0-9a-f]{62}(\.\w+)?$/)
    assert.isTrue(existsSync(join(folder, stored[0]!)))
    assert.lengthOf(readdirSync(join(folder, "files")), 1)
    const known = ["files", "ledger.jsonl", "ledger.lock", "recent-requests.json", "vault", "warehouse.duckdb"]
    assert.sameMembers(readdirSync(folder), known)
  })
})

it("a recording that is too large is not kept; others are, and a partial file of a crash is removed", async () => {
  const { folder, environment, close } = await hostileService((request) => {
    if (!request.path.endsWith("/recording")) return calls(["small", "large"], request)
    const bytes = request.path.includes("large") ? 2 << 20 : 9
    return { headers: { "content-type": "audio/mpeg" }, body: Buffer.alloc(bytes) }
  })
  onTestFinished(close)
  const recordings = join(folder, "files", "recordings")
  mkdirSync(recordings, { recursive: true })
  writeFileSync(join(recordings, "old.mp3.part"), "half")
  const limited = { ...environment, SLUICE_FILES_MAX_BYTES: "1048576" }
  const ran = await sluice(["sync", "--only", "messages,recordings"], limited)
  assert.strictEqual(ran.code, 3, ran.stderr)
  assert.match(ran.stderr, /recordings: failed requests: 1, for example large: .*files.max_bytes, 1048576/)
  assert.lengthOf(readdirSync(recordings), 1)
  const rows = await query(join(folder, "warehouse.duckdb"), "SELECT message_id, bytes FROM crm.recordings")
  assert.deepStrictEqual(rows, [{ message_id: "small", bytes: "9" }])
})
