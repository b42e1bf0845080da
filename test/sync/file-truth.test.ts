/** The files behind the links of a whole account, with every trouble of a host, compared with the service link by link. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { below } from "../support/holding.ts"
import { beginForAll } from "../support/life.ts"

type Row = Readonly<Record<string, unknown>>
/** Pictures of options in definitions, and records whose path no document shows. */
const notRead = ["customFields", "invoiceTemplates"]
const files = { SLUICE_FILES: "all", SLUICE_FILES_MAX_BYTES: "3000000" }

describe("every link of an account", () => {
  let links: ReadonlyArray<Row> = []
  const life = beginForAll(
    () => openAccount("--contacts", "20", "--files", "--file-trouble", "0.3"),
    async (life) => {
      links = (await life.service.links()).filter(({ collection }) => !notRead.includes(String(collection)))
      await life.sync("", 3, files)
    }
  )

  it("has a row with what became of it, and its file is there once with the right content", async () => {
    assert.isAbove(links.length, 150)
    assert.isAbove(new Set(links.map(({ trouble }) => trouble)).size, 15)
    const rows = await life.ask("SELECT * FROM crm.files WHERE _deleted_at IS NULL")
    const wrong = links.flatMap(({ collection, expected, path, place, sha256, trouble, url }) => {
      const what = `${collection} ${place} ${trouble} ${url}`
      // The query of a link differs at each read.
      const plain = String(url).split("?")[0]!
      const found = rows.filter(({ link }) => link === plain || String(link).includes(String(path)))
      // A file that is missing is gone after another day.
      const status = expected === "gone" ? "failed" : expected
      const others = found.filter(
        (row) => row["status"] !== status || (status === "fetched" && row["sha256"] !== sha256)
      )
      return found.length === 0 ? [`${what}: no row`] : others.map((row) => `${what}: ${JSON.stringify(row)}`)
    })
    assert.deepStrictEqual(wrong, [])
    const contents = new Set(links.flatMap(({ sha256 }) => (sha256 === null ? [] : [String(sha256)])))
    const stored = below(join(life.account.output, "files")).filter((path) => /\/[0-9a-f]{62}(\.\w+)?$/.test(path))
    const found = stored
      .filter((path) => !path.endsWith(".wav"))
      .map((path) => createHash("sha256").update(readFileSync(path)).digest("hex"))
    assert.sameMembers(found, [...contents])
  })

  it("was requested without a token, at no private address, and by few at a time", async () => {
    const stats = await life.service.fileStats()
    assert.deepInclude(stats, { withToken: 0, privateHits: 0 })
    assert.isAtMost(Number(stats["inFlightMax"]), 16)
    assert.isAtLeast(Number(stats["bodies"]), new Set(links.map(({ sha256 }) => sha256)).size - 1)
  })

  it("is not requested again once it was fetched, although it has a new signature", { tags: ["slow"] }, async () => {
    await life.service.post("stats/reset", {})
    await life.sync("--again=all", 3, files)
    const { byPath } = (await life.service.fileStats()) as { readonly byPath: Record<string, number> }
    const fetched = links.filter(({ expected }) => expected === "fetched").map(({ path }) => String(path))
    assert.deepStrictEqual(
      Object.keys(byPath).filter((path) => fetched.some((one) => path.includes(one))),
      []
    )
  })
})
