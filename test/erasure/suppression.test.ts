/** The list of erased people: who is on it stays on it, and a list that has lost somebody is not taken for a whole one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Identifier } from "../../src/features/privacy/erasure/job.ts"
import { readSuppression, suppress, suppressionPaths } from "../../src/features/privacy/erasure/suppression.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const template = await templateOf({ resources: [], familyByTable: new Map<string, string>() })
const contact = (id: string, location = "L"): Identifier => ({ kind: "contact", location, id })
const record = (key: string, table = "notes"): Identifier => ({ kind: "record", table, location: "L", key })

const within = <A, E>(use: (output: string, list: string, key: string) => Effect.Effect<A, E, Warehouse>) => {
  const output = newFolder()
  const { key, list } = suppressionPaths(output)
  const layer = Warehouse.layer(join(output, "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
  return Effect.provide(use(output, list, key), layer)
}
const entriesIn = (list: string): ReadonlyArray<string> => JSON.parse(readFileSync(list, "utf8")).entries

describe("the list of erased people", () => {
  it.live("keeps everybody who was ever on it, once, and says nothing about them without its key", () =>
    within((output, list, key) =>
      Effect.gen(function* () {
        assert.isUndefined(yield* readSuppression(output))
        yield* suppress(output, [contact("ann"), record("n1")])
        yield* suppress(output, [contact("bob"), contact("ann")])
        const { has, size } = (yield* readSuppression(output))!
        assert.strictEqual(size, 3)
        assert.deepStrictEqual([contact("ann"), record("n1"), contact("bob")].map(has), [true, true, true])
        const others = [
          contact("ann", "M"),
          contact("n1"),
          record("n1", "tasks"),
          record("ann"),
          { kind: "financial", of: contact("ann") } as Identifier
        ]
        assert.deepStrictEqual(
          others.map(has),
          others.map(() => false)
        )
        assert.notMatch(readFileSync(list, "utf8"), /ann|bob|n1/)
        assert.match(entriesIn(list).join(), /^[0-9a-f]{32}(,[0-9a-f]{32}){2}$/)
        for (const path of [list, key]) assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      })
    )
  )

  it.live("has a pseudonym for each contact of each location, which is always the same", () =>
    within((output) =>
      Effect.gen(function* () {
        yield* suppress(output, [contact("ann")])
        const one = (yield* readSuppression(output))!
        const other = (yield* readSuppression(output))!
        assert.strictEqual(one.pseudonym("L", "ann"), other.pseudonym("L", "ann"))
        const all = [one.pseudonym("L", "ann"), one.pseudonym("M", "ann"), one.pseudonym("L", "bob")]
        assert.strictEqual(new Set(all).size, 3)
        assert.match(all[0]!, /^erased-[0-9a-f]{20}$/)
      })
    )
  )

  it.live(
    "has an address in each form of its country, and of all countries where that of a location is not known",
    () =>
      within((output) =>
        Effect.gen(function* () {
          yield* (yield* Warehouse).run(
            "CREATE TABLE crm.locations AS FROM (VALUES ('D', 'de'), ('U', 'US'), ('X', 'unknown')) AS t (location_id, country)"
          )
          yield* suppress(output, [contact("ann")])
          const { addressesIn } = (yield* readSuppression(output))!
          const formsIn = (location: string, text: string) => addressesIn(location, text).map(({ value }) => value)
          const [german, american] = ["030 901820", "(415) 555-0199"]
          assert.deepStrictEqual(formsIn("D", german), ["030901820", "4930901820"])
          assert.deepStrictEqual(formsIn("U", american), ["4155550199", "14155550199"])
          assert.notInclude(formsIn("U", german), "4930901820")
          for (const location of ["X", "elsewhere"]) {
            assert.include(formsIn(location, german), "4930901820")
            assert.include(formsIn(location, american), "14155550199")
          }
          assert.deepStrictEqual(formsIn("D", "Ann <Ann@X.org>"), ["ann@x.org"])
        })
      )
  )

  it.live.each([
    ["it is missing", (list: string) => rmSync(list), /it is missing, and people were erased here/],
    ["one of its entries is", (list: string) => without(list, 1), /it has 1 entries, and had 2/],
    ["all of its entries are", (list: string) => without(list, 2), /it has 0 entries, and had 2/],
    [
      "another one is in the place of one",
      (list: string) =>
        writeFileSync(list, JSON.stringify({ version: 1, entries: [entriesIn(list)[0], "f".repeat(32)] })),
      /are not those that were written/
    ]
  ] as ReadonlyArray<readonly [string, (list: string) => void, RegExp]>)("is refused if %s", ([, damage, problem]) =>
    within((output, list) =>
      Effect.gen(function* () {
        yield* suppress(output, [contact("ann"), contact("bob")])
        damage(list)
        for (const use of [Effect.asVoid(readSuppression(output)), Effect.asVoid(suppress(output, [contact("eve")]))]) {
          const failure = JSON.stringify(yield* Effect.flip(use))
          assert.match(failure, /"SafeguardLost"/)
          assert.match(failure, problem)
        }
      })
    )
  )

  it.live("is refused without its key, or if a certificate says that somebody was erased", () =>
    within((output, list, key) =>
      Effect.gen(function* () {
        mkdirSync(outputPaths(output).certificates, { recursive: true })
        assert.match(JSON.stringify(yield* Effect.flip(readSuppression(output))), /people were erased here/)
        rmSync(outputPaths(output).certificates, { recursive: true })
        yield* suppress(output, [contact("ann")])
        rmSync(key)
        assert.match(JSON.stringify(yield* Effect.flip(readSuppression(output))), /FileFailed/)
        const failure = JSON.stringify(yield* Effect.flip(suppress(output, [contact("bob")])))
        assert.match(failure, /the key of .* is missing/)
        assert.strictEqual(entriesIn(list).length, 1)
      })
    )
  )

  it.live("may be longer than the warehouse knows: a killed erasure wrote it first", () =>
    within((output, list) =>
      Effect.gen(function* () {
        yield* suppress(output, [contact("ann")])
        const before = yield* (yield* Warehouse).rows("SELECT entries FROM meta.safeguards")
        yield* suppress(output, [contact("bob")])
        yield* (yield* Warehouse).run(
          `UPDATE meta.safeguards SET entries = ${String(before[0]!["entries"])}, sha256 = 'x'`
        )
        assert.strictEqual((yield* readSuppression(output))!.size, 2)
        assert.strictEqual(entriesIn(list).length, 2)
      })
    )
  )
})

function without(list: string, count: number) {
  writeFileSync(list, JSON.stringify({ version: 1, entries: entriesIn(list).slice(count) }))
}
