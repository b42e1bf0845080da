/** The figures of a table, against the same figures computed here: nothing that is deleted or has no value counts. */
import { assert, it } from "@effect/vitest"
import { measure, withDatabase } from "../../src/features/export/bundle/control-totals.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const units = 10_000_000n
const textOf = (sum: bigint) => {
  const digits = String(sum < 0n ? -sum : sum).padStart(8, "0")
  return `${sum < 0n ? "-" : ""}${digits.slice(0, -7)}.${digits.slice(-7)}`
}

it("the totals of a table are those of its current rows, by currency, to the last digit", async () => {
  const draw = randomFrom(8)
  const pick = <A>(of: ReadonlyArray<A>): A => of[Math.floor(draw() * of.length)]!
  for (let round = 0; round < 10; round++) {
    const rows = Array.from({ length: 1 + Math.floor(draw() * 30) }, (_, n) => ({
      // Of either sign, as large as the type allows, and with all its decimals.
      amounts: [0, 1].map(() =>
        draw() < 0.2 ? undefined : pick([1n, -1n]) * BigInt(Math.floor(draw() * 1e7)) * pick([1n, units, 10n ** 29n])
      ),
      currency: pick(["EUR", "USD", null]),
      at: Date.UTC(2026, 0, 1 + Math.floor(draw() * 300), n),
      isDeleted: draw() < 0.4
    }))
    const hasCurrency = draw() < 0.7
    const sqlOf = (one: (typeof rows)[number]) =>
      `(${one.amounts.map((amount) => (amount === undefined ? "NULL" : `'${textOf(amount)}'::DECIMAL(38,7)`)).join(", ")}, ${one.currency === null ? "NULL" : `'${one.currency}'`}, TIMESTAMPTZ '${new Date(one.at).toISOString()}', ${one.isDeleted ? "now()" : "NULL"})`
    const relation = `(SELECT * FROM (VALUES ${rows.map(sqlOf).join(", ")}) AS v (amount, fee, currency, created_at, _deleted_at))`
    const found = await withDatabase(newFolder(), (ask) =>
      measure(ask, relation, {
        table: "t",
        currencyColumn: hasCurrency ? "currency" : null,
        decimalColumns: ["amount", "fee"],
        timeColumn: "created_at"
      })
    )
    const current = rows.filter(({ isDeleted }) => !isDeleted)
    const sums = ["amount", "fee"].flatMap((column, place) =>
      (hasCurrency ? [null, "EUR", "USD"] : [null]).flatMap((currency) => {
        const values = current
          .filter((one) => !hasCurrency || one.currency === currency)
          .flatMap(({ amounts }) => amounts[place] ?? [])
        const sum = values.reduce((all, one) => all + one, 0n)
        return values.length === 0 ? [] : [{ column, currency, values: values.length, sum: textOf(sum) }]
      })
    )
    const iso = (at: number) => new Date(at).toISOString().replace("Z", "")
    assert.deepStrictEqual([found.rows, found.currentRows], [rows.length, current.length])
    assert.deepStrictEqual(found.sums, sums)
    const times = rows.map(({ at }) => at)
    assert.match(found.time!.min!, new RegExp(`^${iso(Math.min(...times))}`))
    assert.match(found.time!.max!, new RegExp(`^${iso(Math.max(...times))}`))
  }
})
