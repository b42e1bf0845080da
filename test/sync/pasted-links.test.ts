/** Links as people paste them: each has a row with what became of it. */
import { assert, it } from "@effect/vitest"
import { query } from "../support/compare.ts"
import { hostileService } from "../support/hostile.ts"
import { knowing, sluice } from "../support/sluice.ts"

const links = [" http://127.0.0.1:9/lead.pdf", "//127.0.0.1:9/scheme.pdf", "/relative.pdf", "no link at all", ""]

it("a link with a blank before it, without a scheme or relative has a row and a reason", async () => {
  const { close, environment, folder } = await hostileService(({ path }) =>
    path === "/contacts/search"
      ? {
          body: { contacts: links.map((profilePhoto, n) => ({ id: `c${n}`, firstName: "A", profilePhoto })), total: 5 }
        }
      : undefined
  )
  try {
    const settings = {
      ...environment,
      SLUICE_FILES: "contacts",
      SLUICE_FETCH_FILES: "contacts",
      ...knowing("contacts,files")
    }
    const ran = await sluice(["sync", "--only", "contacts,files"], settings)
    const rows = await query(
      `${folder}/warehouse.duckdb`,
      "SELECT record_id, url, status, reason IS NOT NULL AS is_explained FROM crm.files ORDER BY record_id"
    )
    assert.deepStrictEqual(
      rows.map(({ record_id: id, url, is_explained: isExplained }) => [id, url, isExplained]),
      [
        ["c0", "http://127.0.0.1:9/lead.pdf", true],
        ["c1", "https://127.0.0.1:9/scheme.pdf", true],
        ["c2", "/relative.pdf", true]
      ],
      ran.stderr
    )
  } finally {
    close()
  }
})
