/** A person is found as people write addresses, in SQL and in the program alike. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api"
import {
  emailForms,
  emailsIn,
  emailsSql,
  isAddressSql,
  isPossibleSql,
  phoneDigitsIn,
  phoneReader,
  phonesSql
} from "../../src/features/privacy/subject/addresses.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { randomFrom } from "../support/random.ts"

let connection: DuckDBConnection
beforeAll(async () => {
  connection = await (await DuckDBInstance.create()).connect()
})
afterAll(() => connection.closeSync())
const inSql = async (sql: string): Promise<unknown> =>
  JSON.parse(String((await connection.runAndReadAll(`SELECT to_json(${sql})::VARCHAR`)).getRows()[0]![0]))

describe("an email address", () => {
  const [jane, bob] = ["jane.roe@example.com", "bob@example.org"]
  it.each<[string, ReadonlyArray<string>]>([
    ["jane.roe@example.com", [jane]],
    ["JANE.Roe@Example.COM", [jane]],
    [" jane.roe@example.com\r\n", [jane]],
    ["jane.roe@example.com\t", [jane]],
    ["jane.roe@example.com\u200b", [jane]],
    ["\ufeffjane.roe@example.com", [jane]],
    ["jane\u00ad.roe@example.com", [jane]],
    ["jane.roe@example.com\u00a0", [jane]],
    ["ｊane.roe@example.com", [jane]],
    ["jane.roe＠example.com", [jane]],
    ["𝓳𝓪𝓷𝓮.𝑟𝑜𝑒@example.com", [jane]],
    ["ⓙⓐⓝⓔ.roe@example。com", [jane]],
    ["ʲane.roe﹫example․com", [jane]],
    ["jane.roe@example.com.", [jane]],
    ["'jane.roe@example.com'", [jane]],
    ["“jane.roe@example.com”", [jane]],
    ["Jane Roe <jane.roe@example.com>", [jane]],
    ["jane.roe@example.com (Jane Roe)", [jane]],
    ['"Roe, Jane" <jane.roe@example.com>', [jane]],
    ["mailto:jane.roe@example.com?subject=x", [jane]],
    ["jane.roe@example.com, bob@example.org", [jane, bob]],
    ["jane.roe@example.com;bob@example.org", [jane, bob]],
    ["Jane <jane.roe@example.com>, Bob <bob@example.org>", [jane, bob]],
    ["jane.roe@example.com\nbob@example.org", [jane, bob]],
    ["jane.roe@example.com / bob@example.org", [jane, "bob@example.org"]],
    ["o'brien@example.com", ["o'brien@example.com"]],
    ["nobody", ["nobody"]],
    ["", []]
  ])("in %j is found", async (text, expected) => {
    assert.deepStrictEqual(emailsIn(text), expected)
    assert.sameMembers((await inSql(emailsSql(literal(text)))) as Array<string>, [...expected])
  })
})

it("a domain of other letters is looked for in both of its forms", () => {
  const forms = ["jane@bücher.example", "jane@xn--bcher-kva.example"]
  for (const given of ["Jane@Bücher.example", "jane@xn--bcher-kva.example"])
    assert.sameMembers([...emailForms(given)], forms)
  assert.deepStrictEqual(emailForms("jane.roe@example.com"), ["jane.roe@example.com"])
  assert.deepStrictEqual(emailForms("nobody"), ["nobody"])
})

describe("a phone number", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["+1 (415) 555-0199", ["14155550199"]],
    ["415.555.0199", ["4155550199"]],
    ["tel:+1-415-555-0199", ["14155550199"]],
    ["+1 415 555‑0199", ["14155550199"]],
    ["＋１４１５５５５０１９９", ["14155550199"]],
    ["+١٤١٥٥٥٥٠١٩٩", ["14155550199"]],
    ["+۱ ۴۱۵ ۵۵۵ ۰۱۹۹", ["14155550199"]],
    ["+१४१५५५५०१९९", ["14155550199"]],
    ["𝟒𝟏𝟓 𝟓𝟓𝟓 𝟎𝟏𝟗𝟗", ["4155550199"]],
    ["+14155550199\u200b", ["14155550199"]],
    ["+14155550199, +14155550128", ["14155550199", "14155550128"]],
    ["415 555 0199 or 415 555 0128", ["4155550199", "4155550128"]],
    ["030/1234567", ["0301234567"]],
    ["555", []],
    ["jane.roe@example.com", []]
  ])("in %j is found", async (text, expected) => {
    assert.deepStrictEqual(phoneDigitsIn(text), expected)
    assert.deepStrictEqual(await inSql(phonesSql(literal(text))), [...expected])
  })
})

it("a phone number is the same however the code of its country is written, and is read in the countries of the account", async () => {
  const formsOf = await phoneReader()
  for (const { code, country, national, trunk } of [
    { code: "1", country: "US", national: "4155550199", trunk: "" },
    { code: "49", country: "DE", national: "30901820", trunk: "0" },
    { code: "44", country: "GB", national: "2079460018", trunk: "0" }
  ]) {
    const whole = { international: [`${code}${national}`], national: [national] }
    for (const countries of [[], [country], ["FR", country]])
      for (const prefix of ["+", "00", "tel:+", " + "])
        assert.deepStrictEqual(
          formsOf(`${prefix}${code} ${national}`, countries),
          whole,
          `${prefix}${code} in ${countries.join()}`
        )
    assert.deepStrictEqual(formsOf(`${trunk}${national}`, [country]), whole, `${trunk}${national}`)
    assert.deepStrictEqual(formsOf(`${code}${national}`, []), whole, "digits of the whole number")
  }
  assert.deepStrictEqual(formsOf("555", ["US"]), { international: [], national: [] })
  assert.deepStrictEqual(formsOf("nobody", ["US"]), { international: [], national: [] })
})

describe("what may be a person", () => {
  it("is an address whose signs are hidden in any usual way", async () => {
    const signs = ["@", "%40", "&#64;", "&commat;", "(at)", "[at]", "{at}", "( at )", " at "]
    const dots = [".", "(dot)", "[dot]", "{dot}", "[ dot ]", " dot "]
    const texts = signs.flatMap((sign) => dots.map((dot) => `Jane${dot}Roe${sign}example${dot}com`))
    const isPossible = isPossibleSql("t", ["jane.roe@example.com"], [])
    const rows = await connection.runAndReadAll(
      `SELECT t FROM (SELECT unnest(${literal(JSON.stringify(texts))}::JSON::VARCHAR[]) AS t) WHERE NOT ${isPossible}`
    )
    assert.deepStrictEqual(rows.getRows(), [])
  })

  it.each<[string, boolean]>([
    ["jane.roe(at)example.com", true],
    ["jane.roe [at] example [dot] com", true],
    ["jane . roe @ example.com", true],
    ["jane.roe@example. com", true],
    ["jane.roe%40example.com", true],
    ["janeroe@example.com", true],
    ["jane_roe@example.com", true],
    ["jane.roe+crm@example.com", true],
    ["jané.roe@example.com", true],
    ["jаne.roe@example.com", true], // A Cyrillic letter.
    ["E-Mail:jane.roe-@example.com", true],
    ["+1 415 555 0199 ext 3", true],
    ["0014155550199", true],
    ["call 415-555-0199 after six", true],
    ["mary.roe@example.com", false],
    ["jane.roe@example.org", false],
    ["email=jane.roe@example.com", true],
    ["e-mail_jane.roe@example.com", true],
    ["(jane.roe@example.com)?", true],
    ["jimjane.roe@example.com", false],
    ["+1 415 555 0188", false],
    ["жанна@example.com", false],
    ["", false]
  ])("%j: %j", async (text, isPossible) => {
    const sql = isPossibleSql(literal(text), ["jane.roe@example.com"], ["14155550199", "4155550199"])
    assert.strictEqual(await inSql(sql), isPossible)
  })

  it("is nobody without an address, or with one that is too short", async () => {
    assert.isFalse(await inSql(isPossibleSql("'jane@example.com'", [], [])))
    assert.isFalse(await inSql(isPossibleSql("'a@b.c'", ["a@b.c"], [])))
  })
})

it("is found by the quick look at a text wherever it is found by reading all of it", async () => {
  const [emails, digits] = [
    ["jane.roe@example.com", "no address", "bob@x.io"],
    ["14155550199", "4155550128"]
  ]
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(${literal(JSON.stringify(emails))}::JSON::VARCHAR[]) AS email, NULL::VARCHAR AS digits
     UNION ALL SELECT NULL, unnest(${literal(JSON.stringify(digits))}::JSON::VARCHAR[])`
  )
  const random = randomFrom(4711)
  const pick = (among: ReadonlyArray<string>) => among[Math.floor(random() * among.length)]!
  const parts = [
    ...emails,
    ...digits,
    "JANE.Roe@Example.COM",
    "no  address",
    "no\taddress",
    "+1 (415) 555-0199",
    "415.555.0128",
    "０"
  ]
  const between = [
    "",
    "",
    " ",
    "  ",
    "\t",
    "\u00a0",
    "\u200b",
    ",",
    ";",
    "<",
    ">",
    "x",
    "7",
    "é",
    "＠",
    "-",
    " or ",
    '"',
    "'",
    "/",
    "\u00ad"
  ]
  const texts = Array.from({ length: 800 }, () => {
    const part = pick(parts)
    const at = Math.floor(random() * part.length)
    // Something stands before it, in it or behind it.
    return random() < 0.3
      ? `${part.slice(0, at)}${pick(between)}${part.slice(at)}`
      : `${pick(between)}${pick(between)}${part}${pick(between)}${random() < 0.3 ? pick(parts) : ""}`
  })
  const [emailList, digitList] = ["email", "digits"].map(
    (column) => `(SELECT list(${column}) FROM wanted WHERE ${column} IS NOT NULL)`
  )
  const rows = (
    await connection.runAndReadAll(
      `SELECT t, ${isAddressSql("t", "wanted")}, list_has_any(${emailsSql("t")}, ${emailList}) OR list_has_any(${phonesSql("t")}, ${digitList})
       FROM (SELECT unnest(${literal(JSON.stringify(texts))}::JSON::VARCHAR[]) AS t)`
    )
  ).getRows()
  const found = rows.filter(([, , isFound]) => isFound === true).length
  assert.isAbove(found, 200)
  assert.isBelow(found, rows.length - 100)
  assert.deepStrictEqual(
    rows.filter(([, quick, whole]) => quick !== whole).map(([text]) => text),
    []
  )
})
