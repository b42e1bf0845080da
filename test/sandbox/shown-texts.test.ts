import { assert, it } from "vitest"
import { Collection, entry } from "../../sandbox/account/collection.ts"
import { ShownTexts } from "../../sandbox/account/shown-texts.ts"

const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => entry({ id: `id${index}`, created: index, source: index }))

it("the texts of records take a bounded number of characters, and are the same when they are made again", () => {
  const texts = new ShownTexts(10_000)
  const all = entries(5000)
  const textOf = (index: number) => JSON.stringify({ index, text: "x".repeat(index % 100) })
  for (let round = 0; round < 3; round++) {
    for (const [index, one] of all.entries())
      assert.strictEqual(
        texts.of(one, "list", () => textOf(index)),
        textOf(index)
      )
    const kept = all.reduce((sum, { list }) => sum + (list?.length ?? 0), 0)
    assert.isAtMost(kept, 10_000)
    assert.isAbove(kept, 5000)
  }
})

it("a text that is longer than all that may be kept is shown", () => {
  const texts = new ShownTexts(10)
  const [one, other] = entries(2)
  assert.lengthOf(
    texts.of(one!, "full", () => "x".repeat(100)),
    100
  )
  assert.lengthOf(
    texts.of(other!, "full", () => "y".repeat(100)),
    100
  )
  assert.isUndefined(one!.full)
})

it("a collection shows the same texts of a record before and after they were released", () => {
  const collection = new Collection({
    build: ({ source }) => ({ source }),
    list: (data) => ({ ...data, inList: true })
  })
  const one = collection.add(entry({ id: "a", created: 1, source: 7 }))
  const [full, list] = [collection.full(one), collection.list(one)]
  one.full = one.list = undefined
  assert.deepStrictEqual([collection.full(one), collection.list(one)], [full, list])
})
