import { assert, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { mkdirSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { writeSpreadsheets } from "../../src/stores/formats/spreadsheet/files.ts"
import { safeText, spreadsheetLimits } from "../../src/stores/formats/spreadsheet/cells.ts"
import { newOutput } from "./output.ts"
import { addThings, publishThings, things, warehouseAt } from "./things.ts"

const readSheet = (file: string) =>
  parse<Record<string, string>>(readFileSync(file), { columns: true, bom: true, record_delimiter: "\r\n" })

describe("CSV for spreadsheets", () => {
  it("text that a spreadsheet would evaluate gets an apostrophe, on every line of a cell", () => {
    for (const begin of ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]) {
      assert.strictEqual(safeText(`${begin}1+1`), `'${begin}1+1`)
      assert.strictEqual(safeText(` \u00A0${begin}1+1`), `' \u00A0${begin}1+1`)
      assert.strictEqual(safeText(`1${begin}1`), `1${begin}1`)
    }
    const unseen = [
      "\uFEFF",
      "\u200B",
      "\u2060",
      "\u00AD",
      "\u200E",
      "\u202E",
      "\u061C",
      "\u180E",
      "\u0085",
      "\u0001",
      "\u001B"
    ]
    for (const lead of [...unseen, unseen.join("")]) assert.strictEqual(safeText(`${lead}=1`), `'${lead}=1`)
    for (const sign of ["﹦", "﹢", "﹣", "﹫"]) assert.strictEqual(safeText(`${sign}1`), `'${sign}1`)
    assert.strictEqual(safeText("\u200Bone"), "\u200Bone")
    assert.strictEqual(safeText("one\n=two\r\n +three\rfour\r@five"), "one\n'=two\r\n' +three\rfour\r'@five")
  })

  it("digits that a spreadsheet would change are kept", () => {
    for (const code of ["00123", "12345678901234567", "12E5", "1.5e300"]) assert.strictEqual(safeText(code), `'${code}`)
    for (const harmless of ["0", "10", "123456789012345", "0.5", "12e", "e12", "12 E5", ""])
      assert.strictEqual(safeText(harmless), harmless)
  })

  it.effect("negative numbers stay numbers, and each altered cell is listed", () => {
    const output = newOutput()
    const folder = join(output, "published/csv")
    return Effect.gen(function* () {
      yield* addThings([
        { id: "a", name: "=1+1", note: "fine", amount: "-5", visits: "-7", data: "-5" },
        { id: "@b", name: "a;=1+1", note: "=".repeat(40_000) },
        { id: "c", name: "", note: null },
        { id: "d", name: "one\ntwo", note: "one\rtwo" }
      ])
      const { files } = yield* publishThings(output, { csvProfile: "spreadsheet", formats: ["csv"] })
      assert.deepStrictEqual(
        files.map(({ path, rows }) => ({ path, rows })),
        [
          { path: "csv/things.csv", rows: 4 },
          { path: "csv/things.escaped.csv", rows: 4 }
        ]
      )
      const text = readFileSync(join(folder, "things.csv"), "utf8")
      assert.isTrue(text.startsWith("\uFEFFlocation_id,id,"), "Excel needs the byte order mark")
      assert.include(text, ",-5,-7,", "not quoted")
      assert.include(text, '"a;=1+1"', "must not fall apart where the semicolon separates")
      assert.include(text, 'here,c,"",,', "an empty text is not NULL")
      assert.include(text, 'here,d,"one\ntwo","one\rtwo",', "a line end of any kind must not end the row")
      const rows = readSheet(join(folder, "things.csv"))
      assert.deepInclude(rows[0], { name: "'=1+1", note: "fine", amount: "-5", data: "'-5" })
      assert.strictEqual(rows[1]?.["note"]?.length, spreadsheetLimits.characters)
      const line = { file: "things.csv", location_id: "here" }
      assert.deepStrictEqual(readSheet(join(folder, "things.escaped.csv")), [
        { ...line, row: "2", id: "a", column: "name", change: "apostrophe", characters: "4" },
        { ...line, row: "2", id: "a", column: "data", change: "apostrophe", characters: "2" },
        { ...line, row: "3", id: "'@b", column: "id", change: "apostrophe", characters: "2" },
        { ...line, row: "3", id: "'@b", column: "note", change: "apostrophe and cut", characters: "40000" }
      ])
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("a full sheet is followed by another, and no cell ends in a lone surrogate", () => {
    const output = newOutput()
    const folder = join(output, "sheets")
    return Effect.gen(function* () {
      mkdirSync(folder)
      yield* addThings(
        Array.from({ length: 7 }, (_, index) => ({ id: `id${index}`, name: `=${index}`, note: "abc😀" }))
      )
      const table = "things"
      assert.deepStrictEqual(yield* writeSpreadsheets(things, ["crm.things"], folder, { lines: 4, characters: 4 }), [
        { path: "things.csv", table, rows: 3 },
        { path: "things-2.csv", table, rows: 3 },
        { path: "things-3.csv", table, rows: 1 },
        ...["", "-2", "-3", "-4", "-5"].map((part, index) => ({
          path: `things${part}.escaped.csv`,
          table,
          rows: index < 4 ? 3 : 2
        }))
      ])
      const rows = ["things.csv", "things-2.csv", "things-3.csv"].flatMap((file) => readSheet(join(folder, file)))
      assert.deepStrictEqual(
        rows.map(({ id, name, note }) => ({ id, name, note })),
        Array.from({ length: 7 }, (_, index) => ({ id: `id${index}`, name: `'=${index}`, note: "abc" }))
      )
      const last = readSheet(join(folder, "things-5.escaped.csv")).at(-1)
      assert.deepInclude(last, { file: "things-3.csv", row: "2", id: "id6", column: "note", change: "cut" })
      assert.lengthOf(readdirSync(folder), 8)
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
