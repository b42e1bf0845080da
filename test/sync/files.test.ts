/** The files behind links: fetched once, kept once, and told in `crm.files` as they are. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type FileHost, startFileHost } from "../support/file-host.ts"
import { acceleratedClock } from "../support/clock.ts"
import { sluice } from "../support/sluice.ts"

const tables = "contacts,conversations,files,messages,users,custom_fields,opportunities,emails"
const day = 86_400_000

describe("files behind links", { tags: ["slow"] }, () => {
  let account: Account
  let host: FileHost
  let messages: ReadonlyArray<string>
  const files = () => query(account.warehouse, "SELECT * FROM crm.files ORDER BY table_name, record_id, url")
  const ofLink = async (end: string) => (await files()).filter(({ url }) => String(url).includes(end))
  const stored = () =>
    readdirSync(join(account.output, "files"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(account.output.length + 1))
      .toSorted()
  const sync = (
    options: {
      readonly at?: number
      readonly env?: Record<string, string>
      readonly flags?: ReadonlyArray<string>
    } = {}
  ) =>
    sluice(
      ["sync", ...account.selection, ...(options.flags ?? [])],
      { ...account.environment, SLUICE_FILES: "message_attachments,users", ...options.env },
      options.at === undefined ? {} : { overrides: acceleratedClock(-options.at) }
    )
  const edit = (collection: string, id: string, fields: object) =>
    account.service.post("edit", { collection, id, fields })

  beforeAll(async () => {
    host = await startFileHost()
    account = await openAlone(tables, "--contacts", "40")
    // The links of the made-up account lead nowhere.
    for (const record of await account.service.records("messages"))
      if ((record["attachments"] as ReadonlyArray<string> | undefined)?.length)
        await edit("messages", String(record["id"]), { attachments: [] })
    messages = (await account.service.records("messages"))
      .filter(({ type, attachments }) => Array.isArray(attachments) && type !== 1)
      .map(({ id }) => String(id))
      .toSorted((one, other) => (one < other ? -1 : 1))
  })
  afterAll(() => {
    discard(account)
    host.stop()
  })

  it("are not fetched unless the settings say so", async () => {
    host.files.set("/a.txt", Buffer.from("a picture"))
    await edit("messages", messages[0]!, { attachments: [`${host.url}/a.txt`] })
    const { code, stderr } = await account.sync()
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(host.requested, [])
    assert.deepStrictEqual(await files(), [])
  })

  it("of a name that has no links are refused before anything is read", async () => {
    const before = (await account.service.stats()).requests
    const { code, stderr } = await sync({ env: { SLUICE_FILES: "message_attachmnts" } })
    assert.strictEqual(code, 78)
    assert.match(stderr, /files.fetch names message_attachmnts.*custom_fields.*message_attachments/s)
    assert.strictEqual((await account.service.stats()).requests, before)
  })

  it("are fetched once, and stored once, however many records and links have them", async () => {
    host.files.set("/b.txt", Buffer.from("a picture"))
    for (const id of messages.slice(1, 6)) await edit("messages", id, { attachments: [`${host.url}/a.txt`] })
    await edit("messages", messages[6]!, { attachments: [`${host.url}/b.txt`] })
    const planned = await sluice(["plan", ...account.selection], {
      ...account.environment,
      SLUICE_FILES: "message_attachments,users"
    })
    assert.match(planned.stderr, /1 file behind the links of stored records is new\./)
    const { code, stderr } = await sync({ flags: ["--full"] })
    assert.strictEqual(code, 0, stderr)
    const sha256 = createHash("sha256").update("a picture").digest("hex")
    const path = `files/${sha256.slice(0, 2)}/${sha256.slice(2)}.txt`
    assert.deepStrictEqual(stored(), [path])
    assert.strictEqual(readFileSync(join(account.output, path), "utf8"), "a picture")
    const rows = await files()
    assert.deepStrictEqual(
      rows
        .filter(({ status }) => status === "fetched")
        .map(({ bytes, path, record_id, sha256 }) => [record_id, path, bytes, sha256]),
      messages.slice(0, 7).map((id) => [id, path, "9", sha256])
    )
    assert.deepStrictEqual([...host.requested].toSorted(), ["/a.txt", "/b.txt"])
    assert.isFalse(host.withToken())
    const joined = await query(
      account.warehouse,
      `SELECT count(*) AS n FROM crm.messages AS m JOIN crm.files AS f ON f.table_name = 'messages' AND f.record_id = m.id
         AND f.column_name = 'message_attachments.url' AND f.status = 'fetched'`
    )
    assert.strictEqual(joined[0]!["n"], "7")
  })

  it("are not fetched again by the next run, nor by a link that only was signed anew", async () => {
    const before = host.requested.length
    await edit("messages", messages[0]!, { attachments: [`${host.url}/a.txt?X-Amz-Signature=1&X-Amz-Expires=60`] })
    const { stderr } = await sync({ flags: ["--full"] })
    assert.deepStrictEqual(host.requested.slice(before), [], stderr)
    assert.lengthOf(
      (await files()).filter(({ status }) => status === "fetched"),
      7
    )
  })

  it("of an expired link are requested by the link that the record has now", async () => {
    const id = (await account.service.records("users"))[0]!["id"] as string
    const link = (signature: string) => `${host.url}/photo.txt?Key-Pair-Id=K&Signature=${signature}`
    // The record gets another signature between its list and its file.
    host.files.set("/photo.txt", async (request, response) => {
      if (request.url!.includes("Signature=fresh")) return void response.end("a photo")
      await edit("users", id, { profilePhoto: link("fresh") })
      response.writeHead(403).end("Request has expired")
    })
    await edit("users", id, { profilePhoto: link("old") })
    const before = host.requested.length
    const { code, stderr } = await sync({ flags: ["--full"] })
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(host.requested.slice(before), [
      "/photo.txt?Key-Pair-Id=K&Signature=old",
      "/photo.txt?Key-Pair-Id=K&Signature=fresh"
    ])
    const [row] = await ofLink("/photo.txt")
    assert.strictEqual(row!["status"], "fetched")
    assert.match(String(row!["url"]), /fresh$/)
  })

  it("at a private address, too large or of another type are not stored, and the run says why", async () => {
    host.files.set("/large.txt", Buffer.alloc(5000))
    host.files.set("/moved.txt", (_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end())
    await edit("messages", messages[7]!, {
      attachments: [`${host.url}/large.txt`, `${host.url}/moved.txt`, "http://169.254.169.254/latest/meta-data"]
    })
    const { code, stderr } = await sync({ env: { SLUICE_FILES_MAX_BYTES: "4000" }, flags: ["--full"] })
    assert.strictEqual(code, 0, stderr)
    assert.match(stderr, /files: 2 files not public/)
    assert.match(stderr, /files: 1 file too large: the file is larger than files.max_bytes, 4000/)
    // A higher limit brings it.
    assert.strictEqual((await sync()).code, 0)
    assert.strictEqual((await ofLink("/large.txt"))[0]!["status"], "fetched")
  })

  it("stop at the space that they may take, and the run says so", async () => {
    const config = join(account.output, "limit.toml")
    writeFileSync(config, "[files]\nmax_total_bytes = 5010\n")
    for (const name of ["x", "y"]) host.files.set(`/${name}.txt`, Buffer.alloc(3000, name))
    await edit("messages", messages[9]!, { attachments: [`${host.url}/x.txt`, `${host.url}/y.txt`] })
    const limited = await sync({ flags: ["--full", "--config", config] })
    assert.strictEqual(limited.code, 3, limited.stderr)
    assert.match(limited.stderr, /files: the files have reached files.max_total_bytes: no further file was fetched/)
    assert.match(limited.stderr, /files: \d files? not requested/)
    rmSync(config)
    assert.strictEqual((await sync()).code, 0)
  })

  it("that were removed or damaged are fetched again by a full sync, and verify finds them", async () => {
    const verified = await sluice(["verify"], account.environment)
    assert.strictEqual(verified.code, 0, verified.stderr)
    const [path] = (await ofLink("/large.txt")).map((row) => String(row["path"]))
    writeFileSync(join(account.output, path!), Buffer.alloc(5000, 1))
    const found = await sluice(["verify"], account.environment)
    assert.strictEqual(found.code, 1)
    assert.match(found.stderr, /its SHA-256 differs from its row/)
    rmSync(join(account.output, String((await ofLink("/photo.txt"))[0]!["path"])))
    const repaired = await sync({ flags: ["--full"] })
    assert.strictEqual(repaired.code, 0, repaired.stderr)
    assert.strictEqual((await sluice(["verify"], account.environment)).code, 0)
  })

  it("of a record that has the link no more are marked deleted, and stay on disk until no row names them", async () => {
    const [row] = await ofLink("/large.txt")
    await edit("messages", messages[7]!, { attachments: [] })
    assert.strictEqual((await sync({ flags: ["--full"] })).code, 0)
    const [after] = await ofLink("/large.txt")
    assert.isNotNull(after!["_deleted_at"])
    assert.isTrue(existsSync(join(account.output, String(row!["path"]))))
    // The link comes back: no request is needed.
    const before = host.requested.length
    await edit("messages", messages[7]!, { attachments: [`${host.url}/large.txt`] })
    assert.strictEqual((await sync({ flags: ["--full"] })).code, 0)
    assert.deepStrictEqual(host.requested.slice(before), [])
    assert.isNull((await ofLink("/large.txt"))[0]!["_deleted_at"])
  })

  it("are the same after a rebuild, without a request", async () => {
    const before = await query(account.warehouse, "SELECT id, status, path, sha256 FROM crm.files ORDER BY id")
    const requests = host.requested.length
    const { code, stderr } = await sluice(["rebuild"], account.environment)
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(
      await query(account.warehouse, "SELECT id, status, path, sha256 FROM crm.files ORDER BY id"),
      before
    )
    assert.strictEqual(host.requested.length, requests)
  })

  it("are gone once the host has said so on two days", async () => {
    await edit("messages", messages[8]!, { attachments: [`${host.url}/none.txt`] })
    const first = await sync({ flags: ["--full"] })
    assert.strictEqual(first.code, 3, first.stderr)
    assert.match(first.stderr, /files: 1 file failed: the host answers 404; it is requested again on another day/)
    assert.strictEqual((await sync()).code, 3)
    const before = host.requested.length
    const { code, stderr } = await sync({ at: day })
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(host.requested.slice(before), ["/none.txt"])
    const [row] = await ofLink("/none.txt")
    assert.strictEqual(row!["status"], "gone")
    assert.isNotNull(row!["missing_since"])
    assert.strictEqual((await sync({ at: 2 * day })).code, 0)
    assert.deepStrictEqual(host.requested.slice(before), ["/none.txt"])
    const [status] = await query(
      account.warehouse,
      "SELECT status FROM meta.run_resources WHERE resource = 'files' ORDER BY run_id DESC LIMIT 1"
    )
    assert.deepStrictEqual(status, { status: "complete_with_warnings" })
  })
})

describe("a file behind a link", () => {
  it("is fetched once, and stored as it is", async () => {
    const host = await startFileHost()
    const account = await openAlone("users,files", "--contacts", "2")
    try {
      host.files.set("/me.txt", Buffer.from("a picture"))
      const [user] = await account.service.records("users")
      for (const { id } of await account.service.records("users"))
        await account.service.post("edit", {
          collection: "users",
          id,
          fields: { profilePhoto: id === user!["id"] ? `${host.url}/me.txt` : null }
        })
      const environment = { ...account.environment, SLUICE_FILES: "users" }
      for (const night of [1, 2]) {
        const ran = await sluice(["sync", "--full", ...account.selection], environment)
        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.deepStrictEqual(host.requested, ["/me.txt"], `night ${night}`)
      }
      const [file] = await query(account.warehouse, "SELECT path, status, bytes FROM crm.files")
      assert.deepInclude(file, { status: "fetched", bytes: "9" })
      assert.strictEqual(readFileSync(join(account.output, String(file!["path"])), "utf8"), "a picture")
    } finally {
      discard(account)
      host.stop()
    }
  })

  it("that was a sign-in page for a night is requested again, also if an earlier version took the page for it", async () => {
    const host = await startFileHost()
    const account = await openAlone("users,files", "--contacts", "2")
    try {
      const users = await account.service.records("users")
      for (const { id } of users)
        await account.service.post("edit", {
          collection: "users",
          id,
          fields: { profilePhoto: id === users[0]!["id"] ? `${host.url}/me.png` : null }
        })
      const environment = { ...account.environment, SLUICE_FILES: "users" }
      const sync = (...flags: ReadonlyArray<string>) => sluice(["sync", ...account.selection, ...flags], environment)
      const status = async () => (await query(account.warehouse, "SELECT status FROM crm.files"))[0]!["status"]
      host.files.set("/me.png", Buffer.from("<!DOCTYPE html><title>Please sign in</title>"))
      const first = await sync()
      assert.strictEqual(first.code, 3, first.stderr)
      assert.match(first.stderr, /files: 1 file failed: the host sent a page \(HTML\) in place of a file/)
      const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")
      host.files.set("/me.png", png)
      assert.strictEqual((await sync()).code, 0)
      assert.strictEqual(await status(), "fetched")
      // As an earlier version stored the page.
      const [{ path }] = (await query(account.warehouse, "SELECT path FROM crm.files")) as [{ path: string }]
      const page = "<!DOCTYPE html><title>Please sign in</title>"
      writeFileSync(join(account.output, path), page)
      const sha256 = createHash("sha256").update(page).digest("hex")
      await query(
        account.warehouse,
        `UPDATE crm.files SET found_type = NULL, bytes = ${page.length}, sha256 = '${sha256}' WHERE path = '${path}'`,
        "READ_WRITE"
      )
      const before = host.requested.length
      assert.strictEqual((await sync("--full")).code, 0)
      assert.strictEqual(host.requested.length, before + 1)
    } finally {
      discard(account)
      host.stop()
    }
  })
})
