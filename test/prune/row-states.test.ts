/** The states of rows in the compaction of a vault, against the same with maps. */
import { assert, describe, it } from "vitest"
import { RowStates, fingerprintOf } from "../../src/features/prune/row-states.ts"
import { randomFrom } from "../support/random.ts"

describe("the states of rows", () => {
  it.each([1, 2, 3])("are those of maps, for any order of calls (seed %i)", (seed) => {
    const random = randomFrom(seed)
    const below = (n: number) => Math.floor(random() * n)
    const states = new RowStates()
    const [versions, last, ambiguous] = [new Map<string, string>(), new Map<string, string>(), new Set<string>()]
    for (let n = 0; n < 20_000; n++) {
      const [table, key, text, run] = [`t${below(3)}`, `${below(9000)}`, `v${below(2)}`, `r${Math.floor(n / 5000)}`]
      const [row, version] = [`${table}/${key}`, `${run} ${text}`]
      const known = versions.get(row)
      if (known?.startsWith(`${run} `) && known !== version) ambiguous.add(row)
      versions.set(row, version)
      states.see(table, key, run, fingerprintOf(text))
    }
    assert.isAbove(ambiguous.size, 100)
    states.forgetVersions()
    for (let n = 0; n < 20_000; n++) {
      const [table, key, text] = [`t${below(3)}`, `${below(9000)}`, `v${below(2)}`]
      const row = `${table}/${key}`
      const act = below(2000)
      if (act === 0) {
        states.forgetTables(new Set([table]))
        for (const one of last.keys()) if (one.startsWith(`${table}/`)) last.delete(one)
      } else if (act < 100) {
        states.forget(table, key)
        last.delete(row)
      } else {
        const expected = last.get(row) === text && !ambiguous.has(row)
        last.set(row, text)
        assert.strictEqual(states.isRepeated(table, key, fingerprintOf(text)), expected, `${n} ${row}`)
      }
    }
  })

  it("take less than 100 bytes for a row, outside of the heap", { tags: ["slow"] }, () => {
    const rows = 500_000
    const before = process.memoryUsage()
    const states = new RowStates()
    const fingerprint = fingerprintOf("a")
    for (let n = 0; n < rows; n++) states.see("contacts", `["location","contact-${n}"]`, "run", fingerprint)
    const after = process.memoryUsage()
    assert.isBelow((after.arrayBuffers - before.arrayBuffers) / rows, 100)
    assert.isFalse(states.isRepeated("contacts", '["location","contact-7"]', fingerprintOf("b")))
  })
})

it("a version is the one before only if both halves of its fingerprint are", () => {
  for (const [high, low] of [
    [1, 3],
    [2, 2],
    [2, 1]
  ] as const) {
    const states = new RowStates()
    states.isRepeated("t", "r", { high: 1, low: 2 })
    assert.isFalse(states.isRepeated("t", "r", { high, low }))
    assert.isTrue(states.isRepeated("t", "r", { high, low }))
  }
})
