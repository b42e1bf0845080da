/** The files of a person go where their records go: into an export, out with an erasure, and never with those of others. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, globSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type FileHost, startFileHost } from "../support/file-host.ts"
import { newFolder, sluice } from "../support/sluice.ts"

/** Every file below a folder that contains the text. */
const filesWith = (folder: string, text: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

describe("the files of a person", () => {
  let account: Account
  let host: FileHost
  const root = newFolder()
  const config = join(root, "sluice.toml")
  let [person, other]: ReadonlyArray<{ readonly id: string; readonly contact: string }> = []
  const run = (...args: ReadonlyArray<string>) =>
    sluice([...args, "--config", config], { ...account.environment, SLUICE_FORMATS: "duckdb,csv,parquet" })
  const files = () =>
    query(
      account.warehouse,
      "SELECT record_id AS record, regexp_extract(url, '[^/]*$') AS file, path FROM crm.files WHERE status = 'fetched' ORDER BY ALL"
    )

  beforeAll(async () => {
    host = await startFileHost()
    account = await openPeople("contacts,conversations,messages,files,users", "--contacts", "40")
    writeFileSync(
      config,
      `[files]\nfetch = ["message_attachments"]\n[models]\nbuild = false\n[[publish]]\nname = "team"\nprofile = "masked"\nfolder = "${root}/team"\nformats = ["csv"]\n`
    )
    for (const record of await account.service.records("messages"))
      if ((record["attachments"] as ReadonlyArray<string> | undefined)?.length)
        await account.service.post("edit", { collection: "messages", id: record["id"], fields: { attachments: [] } })
    const messages = (await account.service.records("messages")).filter(
      ({ attachments, contactId, type }) => Array.isArray(attachments) && type !== 1 && contactId
    )
    const first = messages[0]!
    const second = messages.find(({ contactId }) => contactId !== first["contactId"])!
    ;[person, other] = [first, second].map(({ contactId, id }) => ({ id: String(id), contact: String(contactId) }))
    host.files.set("/own.txt", Buffer.from("only of this person: letter-of-own"))
    host.files.set("/shared.txt", Buffer.from("of both: letter-of-both"))
    host.files.set("/other.txt", Buffer.from("of the other: letter-of-other"))
    for (const [{ id }, names] of [
      [person!, ["own", "shared"]],
      [other!, ["other", "shared"]]
    ] as const)
      await account.service.post("edit", {
        collection: "messages",
        id,
        fields: { attachments: names.map((name) => `${host.url}/${name}.txt`) }
      })
    const { code, stderr } = await run("sync")
    assert.strictEqual(code, 0, stderr)
  })
  afterAll(() => {
    discard(account)
    host.stop()
    rmSync(root, { recursive: true })
  })

  it("are in no masked release, and neither are their links", async () => {
    const [csv] = readdirSync(join(root, "team", "csv")).filter((name) => name === "files.csv")
    const text = readFileSync(join(root, "team", "csv", csv!), "utf8")
    assert.isAbove(text.split("\n").length, 4)
    assert.notInclude(text, host.url)
    assert.notInclude(text, "files/")
    assert.deepStrictEqual(filesWith(join(root, "team", "csv"), host.url), [])
  })

  it("are in a bundle, with their checksums, as far as its tables have them", { tags: ["slow"] }, async () => {
    const whole = join(root, "bundle")
    const written = await run("export", "bundle", whole)
    assert.strictEqual(written.code, 0, written.stderr)
    for (const { path } of await files()) {
      assert.isTrue(
        readFileSync(join(whole, "data", String(path))).equals(readFileSync(join(account.output, String(path))))
      )
      assert.include(readFileSync(join(whole, "manifest-sha256.txt"), "utf8"), String(path))
    }
    const verified = await sluice(["export", "verify", whole], {})
    assert.strictEqual(verified.code, 0, verified.stdout)
    const part = join(root, "part")
    assert.strictEqual((await run("export", "bundle", part, "--only", "contacts,files")).code, 0)
    assert.isFalse(existsSync(join(part, "data", "files")))
    for (const bundle of [whole, part]) rmSync(bundle, { recursive: true })
  })

  it(
    "are in an export about them, beside the conversation, and those of others are not",
    { tags: ["slow"] },
    async () => {
      const target = join(root, "export")
      const exported = await run("subject", "export", "--contact", person!.contact, "--to", target)
      assert.strictEqual(exported.code, 0, exported.stderr)
      assert.lengthOf(filesWith(join(target, "files"), "letter-of-own"), 1)
      assert.lengthOf(filesWith(join(target, "files"), "letter-of-both"), 1)
      assert.deepStrictEqual(filesWith(target, "letter-of-other"), [])
      const pages = globSync("*.html", { cwd: join(target, "conversations") })
      const attachments = pages.flatMap((page) =>
        [...readFileSync(join(target, "conversations", page), "utf8").matchAll(/href="([^"]+)" download>/g)].map(
          ([, path]) => path!
        )
      )
      assert.lengthOf(attachments, 2)
      for (const path of attachments) assert.isTrue(existsSync(join(target, "conversations", path)), path)
      rmSync(target, { recursive: true })
      rmSync(`${target}.zip`)
    }
  )

  it("go with an erasure, byte for byte, and what another record has as well stays", { tags: ["slow"] }, async () => {
    const erased = await run("subject", "erase", "--contact", person!.contact, "--apply", "--reason", "test")
    assert.strictEqual(erased.code, 0, erased.stderr)
    for (const text of ["letter-of-own", "own.txt", person!.contact])
      assert.deepStrictEqual(filesWith(account.output, text), [], text)
    assert.lengthOf(filesWith(join(account.output, "files"), "letter-of-both"), 1)
    assert.deepStrictEqual(
      (await files()).map(({ file, record }) => [record, file]),
      [
        [other!.id, "other.txt"],
        [other!.id, "shared.txt"]
      ]
    )
    const before = host.requested.length
    assert.strictEqual((await run("sync", "--again=all")).code, 0)
    assert.deepStrictEqual(host.requested.slice(before), [])
    assert.deepStrictEqual(filesWith(account.output, "letter-of-own"), [])
    assert.strictEqual((await run("verify")).code, 0)
  })

  it("that no row names are removed by prune, and by nothing else", async () => {
    const stray = join(account.output, "files", "ab", `${"0".repeat(62)}`)
    const named = (await files()).map(({ path }) => join(account.output, String(path)))
    mkdirSync(join(account.output, "files", "ab"), { recursive: true })
    writeFileSync(stray, "stray")
    assert.match((await run("prune")).stdout, /files\/ab\/0+ +no row names it/)
    assert.isTrue(existsSync(stray))
    assert.strictEqual((await run("prune", "--apply")).code, 0)
    assert.isFalse(existsSync(stray))
    assert.isTrue(named.every((path) => existsSync(path)))
  })

  it("go with a record that is too old, and with their location", { tags: ["slow"] }, async () => {
    writeFileSync(config, `${readFileSync(config, "utf8")}[retention.periods]\nmessages = "1 days"\n`)
    const before = await run("retention", "--apply")
    assert.strictEqual(before.code, 0, before.stderr)
    assert.deepStrictEqual(filesWith(account.output, "letter-of-other"), [])
    assert.deepStrictEqual(await files(), [])
  })
})
