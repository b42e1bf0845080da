import { assert, it } from "@effect/vitest"
import { deliveredText } from "../../src/cli/publish.ts"

it("each place is said to have what has changed in it, and nothing where nothing has", () => {
  const folder = { name: "analysts", folder: "/exports", files: [{}, {}] as never }
  assert.strictEqual(deliveredText({ ...folder, isNew: true }), "analysts: 2 files in /exports")
  assert.strictEqual(deliveredText({ ...folder, isNew: false }), "analysts: nothing has changed in /exports")
  const database = { name: "analysts", files: [{}, {}] as never, isNew: true }
  const delivered = (changed: number) =>
    deliveredText({ ...database, delivered: { changed, to: "postgres://db/crm", unit: "table" } as never })
  assert.strictEqual(delivered(1), "analysts: 1 table changed in postgres://db/crm")
  assert.strictEqual(delivered(3), "analysts: 3 tables changed in postgres://db/crm")
  assert.strictEqual(delivered(0), "analysts: nothing has changed in postgres://db/crm")
  assert.strictEqual(deliveredText(database), "analysts: 2 files in analysts")
})
