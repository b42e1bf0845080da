/** The files behind the links of a whole account, with every trouble of a host, compared with the service link by link. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAccount, usualScale } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { oneAddress } from "../support/proxy.ts"
import { startService } from "../support/service.ts"
import { newFolder, sluice } from "../support/sluice.ts"

/** Pictures of options in definitions, and records whose path no document shows. */
const notRead = ["customFields", "invoiceTemplates"]

describe("every link of an account", () => {
  let account: Account
  let links: ReadonlyArray<Record<string, unknown>>
  let stderr = ""
  const environment = () => ({ ...account.environment, SLUICE_FILES: "all", SLUICE_FILES_MAX_BYTES: "3000000" })
  /** Rows of `crm.files` that have the link: the query of a link differs at each read. */
  const rowsOf = (rows: ReadonlyArray<Record<string, unknown>>, { path, url }: Record<string, unknown>) => {
    const place = String(url).split("?")[0]!
    return rows.filter((row) => row["link"] === place || String(row["link"]).includes(String(path)))
  }
  const stored = () =>
    readdirSync(join(account.output, "files"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  beforeAll(async () => {
    account = await openAccount("--contacts", "60", "--files", "--file-trouble", "0.1", ...usualScale)
    links = (await account.service.links()).filter(({ collection }) => !notRead.includes(String(collection)))
    const ran = await sluice(["sync"], environment())
    stderr = ran.stderr
    assert.strictEqual(ran.code, 3, stderr)
  })
  afterAll(() => discard(account))

  it("has a row with what became of it, and its file is there once with the right content", async () => {
    assert.isAbove(links.length, 300)
    assert.isAbove(new Set(links.map(({ trouble }) => trouble)).size, 15)
    const rows = await query(account.warehouse, "SELECT * FROM crm.files WHERE _deleted_at IS NULL")
    const wrong = links.flatMap((link) => {
      const found = rowsOf(rows, link)
      // A file that is missing is gone after another day.
      const expected = link["expected"] === "gone" ? "failed" : link["expected"]
      const what = `${link["collection"]} ${link["place"]} ${link["trouble"]} ${link["url"]}`
      if (found.length === 0) return [`${what}: no row`]
      return found.flatMap(({ reason, sha256, status }) =>
        status !== expected
          ? [`${what}: ${status} (${reason}) instead of ${expected}`]
          : status === "fetched" && sha256 !== link["sha256"]
            ? [`${what}: another content`]
            : []
      )
    })
    assert.deepStrictEqual(wrong, [])
    const contents = new Set(links.flatMap(({ sha256 }) => (sha256 === null ? [] : [sha256])))
    const found = stored()
      .filter((path) => !path.endsWith(".wav"))
      .map((path) => createHash("sha256").update(readFileSync(path)).digest("hex"))
    assert.deepStrictEqual(found.toSorted(), [...contents].map(String).toSorted())
  })

  it("was requested without a token, at no private address, and by few at a time", async () => {
    const stats = await account.service.fileStats()
    assert.deepInclude(stats, { withToken: 0, privateHits: 0 })
    assert.isAtMost(Number(stats["inFlightMax"]), 16)
    assert.isAtLeast(Number(stats["bodies"]), new Set(links.map(({ sha256 }) => sha256)).size - 1)
  })

  it(
    "that was fetched is not requested again, although every record has a new signature",
    { tags: ["slow"] },
    async () => {
      await account.service.post("stats/reset", {})
      const ran = await sluice(["sync", "--full"], environment())
      assert.strictEqual(ran.code, 3, ran.stderr)
      const { byPath } = (await account.service.fileStats()) as { readonly byPath: Record<string, number> }
      const again = Object.keys(byPath).filter((path) =>
        links.some((link) => link["expected"] === "fetched" && path.includes(String(link["path"])))
      )
      assert.deepStrictEqual(again, [])
    }
  )
})

it("links of two locations that are read side by side are fetched for each", async () => {
  const services = await Promise.all(
    ["1", "2"].map((seed) => startService(..."--limits off --contacts 30 --files --seed".split(" "), seed))
  )
  const address = await oneAddress(...services)
  const output = newFolder()
  try {
    const listed = services.map((one) => `[[locations]]\nid = "${one.locationId}"\ntoken = "${one.token}"\n`)
    const config = join(output, "sluice.toml")
    writeFileSync(
      config,
      `[account]\nbase_url = "${address.url}"\n[output]\nfolder = "${output}/output"\nformats = []\n[files]\nfetch = ["message_attachments"]\n${listed.join("")}`
    )
    const only = ["--only", "messages,conversations,files", "--except", "emails,recordings,transcript_sentences"]
    const { code, stderr } = await sluice(["sync", ...only, "--config", config], {})
    assert.strictEqual(code, 0, stderr)
    for (const { links, locationId } of services) {
      const rows = await query(
        join(output, "output", "warehouse.duckdb"),
        `SELECT link, sha256, status FROM crm.files WHERE location_id = '${locationId}'`
      )
      const own = (await links()).filter(({ collection }) => collection === "messages")
      assert.isAbove(own.length, 5)
      assert.lengthOf(rows, own.length)
      for (const { path, sha256 } of own)
        assert.include(
          rows.filter(({ link }) => String(link).includes(String(path))).map((row) => row["sha256"]),
          sha256
        )
    }
  } finally {
    for (const { stop } of services) stop()
    address.close()
    rmSync(output, { recursive: true })
  }
})
