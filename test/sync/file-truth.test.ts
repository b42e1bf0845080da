/** The files behind the links of a whole account, with every trouble of a host, compared with the service link by link. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

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
    account = await openAccount("--contacts", "60", "--files", "--file-trouble", "0.1")
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

  it("that was fetched is not requested again, although every record has a new signature", async () => {
    await account.service.post("stats/reset", {})
    const ran = await sluice(["sync", "--full"], environment())
    assert.strictEqual(ran.code, 3, ran.stderr)
    const { byPath } = (await account.service.fileStats()) as { readonly byPath: Record<string, number> }
    const again = Object.keys(byPath).filter((path) =>
      links.some((link) => link["expected"] === "fetched" && path.includes(String(link["path"])))
    )
    assert.deepStrictEqual(again, [])
  })
})
