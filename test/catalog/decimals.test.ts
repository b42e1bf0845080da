/** Numbers as services and spreadsheets send them, which the normaliser and the SQL of the wide views read alike. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert, it } from "@effect/vitest"
import { decimalOf, decimalSql, decimalType, productOf } from "../../src/catalog/decimals.ts"

const nines = (count: number) => "9".repeat(count)

/** The number as sent, and as stored; undefined if NULL is stored. */
const numbers: ReadonlyArray<readonly [sent: string, stored: string | undefined]> = [
  ["33.333333", "33.333333"],
  ["0.30000000000000004", "0.3"],
  ["4750.650000000001", "4750.65"],
  ["12345679487.304998", "12345679487.304998"],
  ["99999999999999.9999", "99999999999999.9999"],
  ["1e-7", "0.0000001"],
  ["1E+3", "1000"],
  ["1.5e3", "1500"],
  ["-1.25e-5", "-0.0000125"],
  ["1e-10", "0"],
  ["1e-400", "0"],
  [" 12.50 ", "12.5"],
  ["\t+5\n", "5"],
  ["007", "7"],
  ["-0", "0"],
  ["-0.000", "0"],
  // Ties go to the even digit, on either side of zero.
  ["0.00000005", "0"],
  ["0.00000015", "0.0000002"],
  ["0.00000025", "0.0000002"],
  ["-0.00000025", "-0.0000002"],
  ["-0.00000035", "-0.0000004"],
  ["0.000000250", "0.0000002"],
  ["0.0000002500000000000000001", "0.0000003"],
  ["0.00000024999999999999999999", "0.0000002"],
  ["0.99999999", "1"],
  [`${nines(31)}.${nines(7)}`, `${nines(31)}.${nines(7)}`],
  [`${nines(31)}.${nines(8)}`, undefined],
  [`${nines(32)}`, undefined],
  ["1e31", undefined],
  ["1e400", undefined],
  ["1,234.50", undefined],
  ["€ 12.50", undefined],
  ["12.50 EUR", undefined],
  ["+-5", undefined],
  ["1.2.3", undefined],
  ["0x10", undefined],
  ["NaN", undefined],
  ["", undefined]
]

it.each(numbers)("%j is stored as %s", (sent, stored) => assert.strictEqual(decimalOf(sent)?.text, stored))

it("dropping zeros beyond the last decimal is not reported as rounding", () => {
  assert.deepStrictEqual(decimalOf("1.1000000000000"), { text: "1.1", rounded: false })
  assert.deepStrictEqual(decimalOf("1.1000000000001"), { text: "1.1", rounded: true })
})

it("a number with a huge exponent is rejected or rounded to zero", () => {
  assert.deepStrictEqual(decimalOf("1e999999999999"), { rounded: false })
  assert.deepStrictEqual(decimalOf("1e-999999999999"), { text: "0", rounded: true })
})

it.each([
  ["3", "33.333333", "99.999999"],
  ["1.5", "1e-6", "0.0000015"],
  ["-0.5", "0.0000005", "-0.0000002"],
  ["3", "0.30000000000000004", "0.9"],
  ["0", "-5", "0"],
  ["1e16", "1e16", undefined],
  ["3", "n/a", undefined]
])("%s times %s is %s", (one, other, expected) => assert.strictEqual(productOf(one, other), expected))

it("DuckDB reads plain numbers alike, and no others, and sums products of large numbers", async () => {
  const connection = await (await DuckDBInstance.create()).connect()
  const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  try {
    for (const [sent, stored] of numbers) {
      const isPlain = /^-?\d{1,31}(\.\d{1,7})?$/.test(sent)
      const [[found]] = (await rowsOf(`SELECT ${decimalSql(`'${sent}'`)}::VARCHAR`)) as [[string | null]]
      const text = found === null ? undefined : decimalOf(found)?.text
      assert.strictEqual(text, isPlain ? stored : undefined, JSON.stringify(sent))
    }
    await connection.run(
      `CREATE TABLE lines AS SELECT 12345679487.304998::${decimalType} AS qty, 1000000000::${decimalType} AS amount FROM range(5000)`
    )
    assert.deepStrictEqual(
      await rowsOf("SELECT sum(qty * amount)::VARCHAR, sum(qty * qty) > 7.6e23, avg(qty * qty) > 1.5e20 FROM lines"),
      [["61728397436524990000000.00000000000000", true, true]]
    )
  } finally {
    connection.closeSync()
  }
})
