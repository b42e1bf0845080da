/** A list that the service cannot filter is read in full every night, and the vault keeps of it what is new. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { isPage } from "../../src/stores/vault/entry.ts"
import { type Decoded, decode } from "../../src/stores/vault/frame.ts"
import { openAlone } from "../support/account.ts"
import { type Life, begin } from "../support/life.ts"
import { Refusal } from "../support/proxy.ts"
import { randomFrom } from "../support/random.ts"

const tables = "products,redirects,businesses"

/** What the last run has stored of lists, as whole pages with records and as the lines of those that said nothing new. */
const storedBy = async (life: Life) => {
  const folder = join(life.account.output, "vault")
  const [last] = await life.ask("SELECT max(run_id) AS run FROM meta.runs WHERE command LIKE 'sync%'")
  const found: Array<Decoded> = []
  for (const name of readdirSync(folder).toSorted()) {
    const content = readFileSync(join(folder, name))
    const segment = name.endsWith(".zst") ? zstdDecompressSync(content) : content
    for (let frame = decode(segment, 0); frame; frame = decode(segment, frame.end))
      if (isPage(frame.entry) && frame.entry.run === last!["run"]) found.push(frame)
  }
  return {
    whole: found.filter(({ body }) => body.includes(`"id"`) || body.includes(`"_id"`)),
    lines: found.filter(({ bytes }) => bytes.length === 0)
  }
}

const rowsOf = async (life: Life) =>
  Object.fromEntries(
    await Promise.all(
      tables.split(",").map(async (table) => [table, await life.ask(`FROM crm.${table} ORDER BY id`)] as const)
    )
  )

describe("a list that is read in full", () => {
  it("is stored once, however often it is read, and what has changed is stored with its page", async () => {
    const life = await begin(openAlone(tables, "--contacts", "60"))
    await life.sync()
    const first = await storedBy(life)
    assert.deepStrictEqual(first.lines, [])
    await life.sync()
    const second = await storedBy(life)
    assert.deepStrictEqual(
      second.whole.map(({ body }) => body),
      [],
      "a quiet night stores no page"
    )
    assert.strictEqual(second.lines.length, first.whole.length)
    const [{ id }] = (await life.ask("SELECT id FROM crm.products LIMIT 1")) as unknown as [{ readonly id: string }]
    await life.edit("products", id, { name: "Another name" })
    await life.sync()
    const third = await storedBy(life)
    assert.strictEqual(third.whole.length, 1)
    assert.include(third.whole[0]!.body, "Another name")
    await life.equalsService()
    const counted = await life.ask(
      "SELECT resource, list(records ORDER BY run_id)::VARCHAR AS n FROM meta.run_resources GROUP BY ALL ORDER BY ALL"
    )
    for (const { n, resource } of counted) assert.match(String(n), /^\[(\d+), \1, \1\]$/, String(resource))
  })

  it.for([1, 2, 3, 4])(
    "has the rows of the service after nights of any kind, and so has a rebuild: seed %i",
    { tags: ["slow"], timeout: 300_000 },
    async (seed) => {
      const random = randomFrom(seed)
      const below = (n: number) => Math.floor(random() * n)
      const life = await begin(openAlone(tables, "--contacts", "300"))
      await life.sync()
      /** Records as they were, so that a page becomes once more what it was. */
      const undone: Array<() => Promise<unknown>> = []
      for (let night = 0; night < 8; night++) {
        for (let change = below(4); change > 0; change--) {
          const [table, collection] = (
            [
              ["products", "products"],
              ["redirects", "redirects"],
              ["businesses", "businesses"]
            ] as const
          )[below(3)]!
          const rows = await life.ask(`SELECT id, * FROM crm.${table} WHERE _deleted_at IS NULL ORDER BY id`)
          const row = rows[below(rows.length)]!
          const member = table === "redirects" ? "domain" : "name"
          if (random() < 0.3) await life.service.post("remove", { collection, id: row["id"] })
          else {
            await life.edit(collection, row["id"], { [member]: `changed ${night} ${change}` })
            undone.push(() => life.edit(collection, row["id"], { [member]: row[member] }))
          }
        }
        if (random() < 0.4)
          await undone
            .splice(below(undone.length), 1)[0]?.()
            .catch(() => undefined)
        if (random() < 0.3) {
          // Something interrupts the night, and the next one goes on.
          const left = below(8)
          let answers = 0
          life.alter = (_, answer) => (answers++ < left ? answer : new Refusal(400, { statusCode: 400, message: "no" }))
          await life.run(["sync"])
          life.alter = undefined
        }
        if (random() < 0.2) await life.run(["rebuild"])
        await life.sync(random() < 0.3 ? "--again=all" : "")
        await life.equalsService()
      }
      const before = await rowsOf(life)
      await life.run(["rebuild"])
      assert.deepStrictEqual(await rowsOf(life), before)
      await life.sync()
      await life.equalsService()
    }
  )
})
