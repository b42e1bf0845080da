/** The files behind links: fetched once, kept once, and told in `crm.files` as they are. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { openAlone } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { type FileHost, startFileHost } from "../support/file-host.ts"
import { begin, beginForAll } from "../support/life.ts"

const tables = "contacts,conversations,files,messages,users,custom_fields,opportunities,emails"
const day = 86_400_000
let host: FileHost
beforeAll(async () => {
  host = await startFileHost()
})
afterAll(() => host.stop())

/** An account whose syncs fetch the files of some tables. */
const fetching = async (of: string, ...given: Parameters<typeof openAlone>) => {
  const account = await openAlone(...given)
  return { ...account, environment: { ...account.environment, SLUICE_FILES: of } }
}
const sha256Of = (content: string) => createHash("sha256").update(content).digest("hex")

describe("files behind links", { tags: ["slow"] }, () => {
  let messages: ReadonlyArray<string>
  const life = beginForAll(
    () => fetching("message_attachments,users", tables, "--contacts", "40"),
    async (life) => {
      const all = await life.service.records("messages")
      // The links of the made-up account lead nowhere.
      for (const { id, attachments } of all)
        if ((attachments as ReadonlyArray<string> | undefined)?.length)
          await life.edit("messages", id, { attachments: [] })
      messages = all
        .filter(({ type, attachments }) => Array.isArray(attachments) && type !== 1)
        .map(({ id }) => String(id))
        .toSorted((one, other) => (one < other ? -1 : 1))
    }
  )
  const files = () => life.ask("SELECT * FROM crm.files ORDER BY table_name, record_id, url")
  const ofLink = async (end: string) => (await files()).filter(({ url }) => String(url).includes(end))
  const fetched = async () => (await files()).filter(({ status }) => status === "fetched")
  const fileAt = (path: unknown) => join(life.account.output, String(path))
  /** Links of a message lead to these paths of the host. */
  const attach = (n: number, ...paths: ReadonlyArray<string>) =>
    life.edit("messages", messages[n], {
      attachments: paths.map((path) => (path.startsWith("/") ? host.url + path : path))
    })
  /** What the host was asked in a sync. */
  const asked = async (...given: Parameters<typeof life.sync>) => {
    const before = host.requested.length
    const { stderr } = await life.sync(...given)
    return { stderr, requested: host.requested.slice(before) }
  }

  it("are not fetched unless the settings say so", async () => {
    host.files.set("/a.txt", Buffer.from("a picture"))
    await attach(0, "/a.txt")
    assert.deepStrictEqual((await asked("", 0, { SLUICE_FILES: "" })).requested, [])
    assert.deepStrictEqual(await files(), [])
  })

  it("of a name that has no links are refused before anything is read", async () => {
    const before = (await life.service.stats()).requests
    const { stderr } = await life.sync("", 78, { SLUICE_FILES: "message_attachmnts" })
    assert.match(stderr, /files.fetch names message_attachmnts.*custom_fields.*message_attachments/s)
    assert.strictEqual((await life.service.stats()).requests, before)
  })

  it("are fetched once, and stored once, however many records and links have them", async () => {
    host.files.set("/b.txt", Buffer.from("a picture"))
    for (let n = 1; n < 6; n++) await attach(n, "/a.txt")
    await attach(6, "/b.txt")
    const planned = await life.run(["plan", ...life.account.selection])
    assert.match(planned.stderr, /1 file behind the links of stored records is new\./)
    const { requested } = await asked("--again=lists")
    assert.deepStrictEqual(requested.toSorted(), ["/a.txt", "/b.txt"])
    assert.isFalse(host.withToken())
    const sha256 = sha256Of("a picture")
    const path = `files/${sha256.slice(0, 2)}/${sha256.slice(2)}.txt`
    const stored = readdirSync(fileAt("files"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    assert.deepStrictEqual(
      stored.map((one) => join(one.parentPath, one.name)),
      [fileAt(path)]
    )
    assert.strictEqual(readFileSync(fileAt(path), "utf8"), "a picture")
    assert.deepStrictEqual(
      (await fetched()).map(({ bytes, path, record_id, sha256 }) => [record_id, path, bytes, sha256]),
      messages.slice(0, 7).map((id) => [id, path, "9", sha256])
    )
    const joined = await life.ask(
      `SELECT count(*) AS n FROM crm.messages AS m JOIN crm.files AS f ON f.table_name = 'messages' AND f.record_id = m.id
         AND f.column_name = 'message_attachments.url' AND f.status = 'fetched'`
    )
    assert.strictEqual(joined[0]!["n"], "7")
  })

  it("are not fetched again by the next run, nor by a link that only was signed anew", async () => {
    await attach(0, "/a.txt?X-Amz-Signature=1&X-Amz-Expires=60")
    assert.deepStrictEqual((await asked("--again=lists")).requested, [])
    assert.lengthOf(await fetched(), 7)
  })

  it("of an expired link are requested by the link that the record has now", async () => {
    const { id } = (await life.service.records("users"))[0]!
    const signed = (signature: string) => `/photo.txt?Key-Pair-Id=K&Signature=${signature}`
    const sign = (signature: string) => life.edit("users", id, { profilePhoto: host.url + signed(signature) })
    // The record gets another signature between its list and its file.
    host.files.set("/photo.txt", async (request, response) => {
      if (request.url!.includes("Signature=fresh")) return void response.end("a photo")
      await sign("fresh")
      response.writeHead(403).end("Request has expired")
    })
    await sign("old")
    assert.deepStrictEqual((await asked("--again=lists")).requested, [signed("old"), signed("fresh")])
    const [row] = await ofLink("/photo.txt")
    assert.strictEqual(row!["status"], "fetched")
    assert.match(String(row!["url"]), /fresh$/)
  })

  it("at a private address or too large are not stored, and the run says why", async () => {
    host.files.set("/large.txt", Buffer.alloc(5000))
    host.files.set("/moved.txt", (_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end())
    await attach(7, "/large.txt", "/moved.txt", "http://169.254.169.254/latest/meta-data")
    const { stderr } = await life.sync("--again=lists", 0, { SLUICE_FILES_MAX_BYTES: "4000" })
    assert.match(stderr, /files: 2 files not public/)
    assert.match(stderr, /files: 1 file too large: the file is larger than files.max_bytes, 4000/)
    await life.sync()
    assert.strictEqual((await ofLink("/large.txt"))[0]!["status"], "fetched", "a higher limit brings it")
  })

  it("stop at the space that they may take, and the run says so", async () => {
    const config = join(life.account.output, "limit.toml")
    writeFileSync(config, "[files]\nmax_total_bytes = 5010\n")
    for (const name of ["x", "y"]) host.files.set(`/${name}.txt`, Buffer.alloc(3000, name))
    await attach(9, "/x.txt", "/y.txt")
    const { stderr } = await life.sync(`--again=lists --config ${config}`, 3)
    assert.match(stderr, /files: the files have reached files.max_total_bytes: no further file was fetched/)
    assert.match(stderr, /files: \d files? not requested/)
    rmSync(config)
    await life.sync()
  })

  it("that were removed or damaged are fetched again by a full sync, and verify finds them", async () => {
    const verify = async (code: number) => {
      const { code: found, stderr } = await life.run(["verify"])
      assert.strictEqual(found, code, stderr)
      return stderr
    }
    await verify(0)
    writeFileSync(fileAt((await ofLink("/large.txt"))[0]!["path"]), Buffer.alloc(5000, 1))
    assert.match(await verify(1), /its SHA-256 differs from its row/)
    rmSync(fileAt((await ofLink("/photo.txt"))[0]!["path"]))
    await life.sync("--again=lists")
    await verify(0)
  })

  it("of a record that has the link no more are marked deleted, and stay on disk until no row names them", async () => {
    await attach(7)
    await life.sync("--again=lists")
    const [row] = await ofLink("/large.txt")
    assert.isNotNull(row!["_deleted_at"])
    assert.isTrue(existsSync(fileAt(row!["path"])))
    await attach(7, "/large.txt")
    assert.deepStrictEqual((await asked("--again=lists")).requested, [], "the link comes back: no request is needed")
    assert.isNull((await ofLink("/large.txt"))[0]!["_deleted_at"])
  })

  it("are the same after a rebuild, without a request", async () => {
    const rows = () => life.ask("SELECT id, status, path, sha256 FROM crm.files ORDER BY id")
    const [before, requests] = [await rows(), host.requested.length]
    const { code, stderr } = await life.run(["rebuild"])
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(await rows(), before)
    assert.strictEqual(host.requested.length, requests)
  })

  it("are gone once the host has said so on two days", async () => {
    await attach(8, "/none.txt")
    const first = await life.sync("--again=all", 3)
    assert.match(first.stderr, /files: 1 file failed: the host answers 404; it is requested again on another day/)
    await life.sync("", 3)
    life.clock = acceleratedClock(-day)
    assert.deepStrictEqual((await asked()).requested, ["/none.txt"])
    const [row] = await ofLink("/none.txt")
    assert.strictEqual(row!["status"], "gone")
    assert.isNotNull(row!["missing_since"])
    life.clock = acceleratedClock(-2 * day)
    assert.deepStrictEqual((await asked()).requested, [])
    assert.strictEqual((await life.reading("files"))!["status"], "complete_with_warnings")
  })

  it("of which a host leaves many unanswered keep the others from being fetched for one night only", async () => {
    const dead = Array.from({ length: 70 }, (_, n) => `/a${String(n).padStart(2, "0")}.txt`)
    const good = ["/z1.txt", "/z2.txt"]
    for (const path of dead) host.files.set(path, (request) => void request.socket.destroy())
    for (const path of good) host.files.set(path, Buffer.from(path))
    await attach(9, ...dead, ...good)
    const isFetched = async (path: string) => (await ofLink(path))[0]?.["status"] === "fetched"
    await life.sync("", 3)
    assert.isFalse(await isFetched("/z1.txt"))
    await life.sync("", 3)
    assert.isTrue((await isFetched("/z1.txt")) && (await isFetched("/z2.txt")))
  })
})

/** A night with a page in place of the file, and the next one with the file. */
const afterSignIn = async () => {
  const life = await begin(fetching("users", "users,files", "--contacts", "2"))
  for (const [n, { id }] of (await life.service.records("users")).entries())
    await life.edit("users", id, { profilePhoto: n === 0 ? `${host.url}/me.png` : null })
  const stored = async () => (await life.ask("SELECT path, status, bytes FROM crm.files"))[0]!
  const page = "<!DOCTYPE html><title>Please sign in</title>"
  host.files.set("/me.png", Buffer.from(page))
  const first = await life.sync("", 3)
  assert.match(first.stderr, /files: 1 file failed: the host sent a page \(HTML\) in place of a file/)
  const png = Buffer.from("89504e470d0a1a0a0000000d494844520000000049454e44ae426082", "hex")
  host.files.set("/me.png", png)
  await life.sync()
  const { bytes, path, status } = await stored()
  assert.deepStrictEqual([status, bytes], ["fetched", String(png.length)])
  const file = join(life.account.output, String(path))
  assert.deepStrictEqual(readFileSync(file), png, "stored as it is")
  return { file, life, page, path }
}

it("a file that was a sign-in page for a night is requested again", async () => {
  await afterSignIn()
})

it("a page that an earlier version took for the file is requested again", { tags: ["slow"] }, async () => {
  const { file, life, page, path } = await afterSignIn()
  const requests = host.requested.length
  writeFileSync(file, page)
  await life.change(
    `UPDATE crm.files SET found_type = NULL, bytes = ${page.length}, sha256 = '${sha256Of(page)}' WHERE path = '${String(path)}'`
  )
  await life.sync("--again=lists")
  assert.strictEqual(host.requested.length, requests + 1)
})
