/** Excel workbooks in programs that we did not write: openpyxl and LibreOffice. */
import { assert, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { execFileSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type SheetColumn, cellOf } from "../../src/stores/formats/xlsx/cells.ts"
import * as Effect from "effect/Effect"
import { writeWorkbook } from "../../src/stores/formats/xlsx/workbook.ts"
import { nastyTexts } from "../publish/things.ts"
import { programOf } from "../support/programs.ts"
import { python } from "../support/python.ts"
import { discard, openSynced } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const office = programOf("libreoffice-calc-nogui", "/usr/bin/libreoffice")

const columns: ReadonlyArray<SheetColumn> = [
  { name: "text", kind: cellOf("VARCHAR") },
  { name: "number", kind: cellOf("DECIMAL(18,4)") },
  { name: "boolean", kind: cellOf("BOOLEAN") },
  { name: "date", kind: cellOf("DATE") },
  { name: "instant", kind: cellOf("TIMESTAMP WITH TIME ZONE") }
]

/** By line, the text in each column; NULL is an absent cell. */
const rows: ReadonlyArray<ReadonlyArray<string | null>> = [
  ["00123", "1234.5600", "true", "2026-01-31", "2026-01-31T23:59:59.999Z"],
  ["+15551234567", "123456789012345", "false", "1900-03-01", "1999-12-31T00:00:00.000Z"],
  ["12E5", "1234567890123456", null, "1899-12-31", "2026-07-01 12:30:00"],
  ["_x0041_ &amp; <b>", "0.500000000000000000", null, "9999-12-31", "infinity"],
  [null, "-1e+20", null, null, null],
  [null, "nan", null, null, null]
]

const written = async (linesMax?: number) => {
  const folder = newFolder()
  const path = join(folder, "book.xlsx")
  async function* texts() {
    for (const text of nastyTexts) yield [text, null, null, null, null]
    yield ["x".repeat(32_768), null, null, null, null]
    yield ["control \u0001\u001f\uFFFE, half \uD800 of one", null, null, null, null]
  }
  async function* values() {
    yield* rows
  }
  const workbook = writeWorkbook(path, {
    about: ["From a test.", "=1+1"],
    tables: [
      { name: "texts", columns, rows: texts() },
      { name: "a_name_that_is_longer_than_31_characters", columns, rows: values() },
      { name: "A_NAME_THAT_IS_LONGER_THAN_31_CHARACTERS", columns, rows: values() },
      { name: "history", columns, rows: (async function* () {})() }
    ],
    ...(linesMax !== undefined && { linesMax })
  })
  return { folder, path, contents: await Effect.runPromise(workbook) }
}

const sheetNames = ["texts", "a_name_that_is_longer_than_31_c", "A_NAME_THAT_IS_LONGER_THAN_ (2)", "history (2)"]

describe.skipIf(python === undefined)("openpyxl", () => {
  const readBook = (path: string) => {
    const script = `
import json, openpyxl, sys
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({sheet.title: [[None if cell.value is None else [cell.data_type, str(cell.value), cell.number_format] for cell in row] for row in sheet.iter_rows()] for sheet in book}))`
    return JSON.parse(
      execFileSync(python!, ["-c", script, path], { encoding: "utf8", maxBuffer: 100_000_000 })
    ) as Record<string, ReadonlyArray<ReadonlyArray<readonly [type: string, value: string, format: string] | null>>>
  }

  it("reads every text as this text, and no formula", async () => {
    const { path, contents } = await written()
    assert.strictEqual(statSync(path).mode & 0o077, 0)
    assert.strictEqual(contents.cut, 1)
    const book = readBook(path)
    assert.deepStrictEqual(Object.keys(book), ["About", ...sheetNames])
    const cells = Object.values(book).flat(2)
    assert.deepStrictEqual([...new Set(cells.map((cell) => cell?.[0]))].sort(), ["b", "d", "n", "s", undefined].sort())
    const texts = book["texts"]!.slice(1).map(([cell]) => cell?.[1] ?? null)
    // openpyxl leaves the escapes that Excel defines.
    const expected = nastyTexts.map((text) => text?.replaceAll("\r", "_x000D_") ?? null)
    assert.deepStrictEqual(texts.slice(0, nastyTexts.length), expected)
    assert.strictEqual(texts.at(-2)!.length, 32_767)
    assert.strictEqual(texts.at(-1), "control _x0001__x001F__xFFFE_, half \uFFFD of one")
    const about = book["About"]!.map((row) => row.map((cell) => cell?.[1] ?? ""))
    assert.deepStrictEqual(about[1]!.slice(0, 1), ["=1+1"])
    assert.include(
      about.flat(),
      "1 values are longer than 32,767 characters, which is the most a cell can hold, and are cut:"
    )
    assert.include(about.flat(), `A${nastyTexts.length + 2}: 32,768 characters`)
  })

  it("reads numbers, dates and timestamps as such, unless Excel would change them", async () => {
    const book = readBook((await written()).path)
    const values = book[sheetNames[1]!]!.slice(1).map((row) => row.map((cell) => cell && `${cell[0]} ${cell[1]}`))
    assert.deepStrictEqual(values, [
      ["s 00123", "n 1234.56", "b True", "d 2026-01-31 00:00:00", "d 2026-01-31 23:59:59.999000"],
      ["s +15551234567", "n 123456789012345", "b False", "d 1900-03-01 00:00:00", "d 1999-12-31 00:00:00"],
      ["s 12E5", "s 1234567890123456", null, "s 1899-12-31", "d 2026-07-01 12:30:00"],
      ["s _x005F_x0041_ &amp; <b>", "n 0.5", null, "d 9999-12-31 00:00:00", "s infinity"],
      [null, "n -1e+20", null, null, null],
      [null, "s nan", null, null, null]
    ])
    assert.strictEqual(book[sheetNames[1]!]![1]![0]![2], "@")
  })

  it("finds the rows of a table that is longer than a sheet on the next sheets, with the header", async () => {
    const { path, contents } = await written(4)
    const book = readBook(path)
    const parts = contents.sheets.filter(({ table }) => table === "a_name_that_is_longer_than_31_characters")
    assert.deepStrictEqual(
      parts.map((part) => part.rows),
      [3, 3]
    )
    const numbers = parts.flatMap(({ name }) => book[name]!.slice(1).map((row) => row[1]![1]))
    assert.strictEqual(numbers.length, rows.length)
    for (const { name } of parts) assert.strictEqual(book[name]![0]![0]![1], "text")
  })
})

describe.skipIf(python === undefined)("sluice export excel", () => {
  it("writes every value of the tables as it is in the warehouse", async () => {
    const account = await openSynced({
      tables: "contacts,opportunities,invoices",
      flags: ["--contacts", "150", "--world", "nasty"],
      formats: "duckdb"
    })
    const path = join(account.output, "book.xlsx")
    assert.strictEqual(
      (await sluice(["export", "excel", path, "--only", "contacts,opportunities", "--deleted"], account.environment))
        .code,
      0
    )
    const script = `
import datetime, decimal, duckdb, openpyxl, re, sys
book = openpyxl.load_workbook(sys.argv[1])
crm = duckdb.connect(sys.argv[2], read_only=True)
crm.sql("SET TimeZone = 'UTC'")
compared = 0
def plain(text):
    text = re.sub(r"_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)
    return text.replace("\\r\\n", "\\n").replace("\\r", "\\n")
for table in ["contacts", "opportunities"]:
    sheet = [[cell.value for cell in row] for row in book[table].iter_rows()]
    rows = crm.sql(f"SELECT {', '.join(sheet[0])} FROM crm.{table} ORDER BY rowid").fetchall()
    assert len(rows) == len(sheet) - 1, (len(rows), len(sheet))
    for row, cells in zip(rows, sheet[1:]):
        for name, value, cell in zip(sheet[0], row, cells):
            if isinstance(value, datetime.datetime):
                value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
                same = abs((cell - value).total_seconds()) < 0.001
            elif isinstance(value, datetime.date): same = cell == datetime.datetime(value.year, value.month, value.day)
            elif isinstance(value, decimal.Decimal): same = decimal.Decimal(str(cell)) == value
            elif isinstance(value, str): same = plain(cell) == plain(value[:32767])
            else: same = cell == value and type(cell) == type(value)
            assert same, (table, name, value, cell)
            compared += value is not None
print(compared)`
    assert.isAbove(Number(execFileSync(python!, ["-c", script, path, account.warehouse], { encoding: "utf8" })), 2000)

    const sheetsOf = async (only: string) => {
      assert.strictEqual((await sluice(["export", "excel", path, "--only", only], account.environment)).code, 0)
      const names = "import openpyxl, sys; print(*openpyxl.load_workbook(sys.argv[1], read_only=True).sheetnames[1:])"
      return execFileSync(python!, ["-c", names, path], { encoding: "utf8" }).trim().split(" ")
    }
    // As docs/question.md has it: the table of that name, and not its family.
    const documented = "contacts_wide,opportunities_wide,invoices"
    assert.deepStrictEqual(await sheetsOf(documented), documented.split(","))
    assert.includeMembers(await sheetsOf("invoices/*"), ["invoices", "invoice_items", "estimates"])
    discard(account)
  })
})

describe.skipIf(office === undefined)("LibreOffice", () => {
  it("opens the workbook, and its texts are those that were written", { timeout: 120_000 }, async () => {
    const { folder, path } = await written()
    execFileSync(
      office!,
      [
        `-env:UserInstallation=file://${folder}/profile`,
        "--headless",
        "--convert-to",
        // Every sheet, as it is shown, in UTF-8.
        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
        "--outdir",
        folder,
        path
      ],
      { stdio: "ignore", timeout: 110_000 }
    )
    const read = (sheet: string) =>
      parse(readFileSync(join(folder, `book-${sheet}.csv`)), { relax_column_count: true }) as Array<Array<string>>
    const texts = read("texts")
      .slice(1, nastyTexts.length + 1)
      .map(([text]) => text)
    // LibreOffice writes one kind of line end.
    const lines = (text: string | null) => (text ?? "").replaceAll(/\r\n?/g, "\n")
    assert.deepStrictEqual(
      texts.map((text) => lines(text!)),
      nastyTexts.map(lines)
    )
    assert.deepStrictEqual(read(sheetNames[1]!).slice(1), [
      ["00123", "1234.56", "TRUE", "2026-01-31", "2026-01-31 23:59:59.999"],
      ["+15551234567", "123456789012345", "FALSE", "1900-03-01", "1999-12-31 00:00:00.000"],
      ["12E5", "1234567890123456", "", "1899-12-31", "2026-07-01 12:30:00.000"],
      ["_x0041_ &amp; <b>", "0.5", "", "9999-12-31", "infinity"],
      ["", "-1E+020", "", "", ""],
      ["", "nan", "", "", ""]
    ])
  })
})

it("1,000,000 rows take less than 400 MB", { timeout: 200_000 }, () => {
  const program = fileURLToPath(new URL("../xlsx/programs/large.ts", import.meta.url))
  const path = join(newFolder(), "large.xlsx")
  const printed = execFileSync(process.execPath, ["--max-semi-space-size=8", program, path, "1000000"], {
    encoding: "utf8"
  })
  const { rows: written, sheets, peakMb } = JSON.parse(printed)
  assert.strictEqual(written, 1_000_000)
  assert.strictEqual(sheets.length, 1)
  assert.isBelow(peakMb, 400)
})
