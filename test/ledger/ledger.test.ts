/** The ledger: canonical JSON as in RFC 8785, the chain, and the names of what was done to it. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Json, canonicalJson, sha256Of } from "../../src/stores/ledger/record.ts"
import { appendRecord, headOf, ledgerOf } from "../../src/stores/ledger/file.ts"
import { checkLedger } from "../../src/stores/ledger/verify.ts"
import { newFolder } from "../support/sluice.ts"

const at = "2026-11-23T02:00:00.000Z"

describe("canonical JSON", () => {
  it("of the examples of RFC 8785 is that of the RFC", () => {
    const value = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`
    )
    assert.strictEqual(
      canonicalJson(value),
      `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA'B\\"\\\\\\\\\\"/"}`
    )
    const keys = JSON.parse(
      String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
    )
    assert.deepStrictEqual(
      [...canonicalJson(keys).matchAll(/:"([^"]+)"/g)].map(([, name]) => name),
      [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh"
      ]
    )
  })

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000001", "9007199254740994"],
    ["44b52d02c7e14af6", "1e+23"],
    ["41b3de4355555553", "333333333.3333332"],
    ["becbf647612f3696", "-0.0000033333333333333333"]
  ])("of the number with the bits %s is %s, as in appendix B", (bits, text) => {
    const number = Buffer.from(bits, "hex").readDoubleBE()
    assert.strictEqual(canonicalJson(number), text)
  })

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], ["\ud83d"]])("does not exist for %j", (value: Json) =>
    assert.throws(() => canonicalJson([value]))
  )
})

const ledgerWith = async (count: number) => {
  const output = newFolder()
  for (let n = 1; n <= count; n++) await appendRecord(output, at, "sync", { run: `run${n}`, requests: n })
  return { output, path: ledgerOf(output) }
}

describe("the ledger", () => {
  it("has a line for each record, with the checksum of the line before, readable only by its owner", async () => {
    const { path } = await ledgerWith(3)
    const lines = readFileSync(path, "utf8").split("\n")
    assert.lengthOf(lines, 4)
    assert.strictEqual(
      lines[0],
      `{"at":"${at}","detail":{"requests":1,"run":"run1"},"kind":"sync","previous":"${"0".repeat(64)}","seq":1}`
    )
    assert.strictEqual(JSON.parse(lines[2]!).previous, sha256Of(lines[1]!))
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    assert.deepStrictEqual(await headOf(path), { seq: 3, sha256: sha256Of(lines[2]!) })
    const { problem, head } = await checkLedger(path)
    assert.isUndefined(problem)
    assert.deepStrictEqual(head, await headOf(path))
  })

  it.each<[string, (lines: Array<string>) => void, number, RegExp]>([
    [
      "an edited figure",
      (lines) => (lines[2] = lines[2]!.replace('"requests":3', '"requests":4')),
      4,
      /^record 3 was edited/
    ],
    ["an edited first record", (lines) => (lines[0] = lines[0]!.replace("run1", "run9")), 2, /^record 1 was edited/],
    [
      "an edited checksum",
      (lines) => (lines[2] = lines[2]!.replace(/"previous":"./, '"previous":"x')),
      3,
      /^record 3 was edited/
    ],
    [
      "another notation",
      (lines) => (lines[2] = lines[2]!.replace(",", ", ")),
      3,
      /^record 3 was edited: it is not a record in canonical JSON$/
    ],
    ["a removed record", (lines) => lines.splice(2, 1), 3, /^record 3 was removed$/],
    ["a removed first record", (lines) => lines.splice(0, 1), 1, /^record 1 was removed$/],
    [
      "two records in the other order",
      (lines) => lines.splice(1, 2, lines[2]!, lines[1]!),
      2,
      /^record 2 was moved: record 3 is in its place$/
    ],
    ["a record twice", (lines) => lines.splice(3, 0, lines[1]!), 4, /^a line was inserted before record 4: record 2$/],
    [
      "an inserted record",
      (lines) => lines.splice(2, 0, lines[2]!.replace("run3", "run8")),
      4,
      /^a line was inserted before record 4: record 3$/
    ],
    ["an empty line", (lines) => lines.splice(2, 0, ""), 3, /^record 3 was edited/]
  ])("names %s", async (_, edit, line, what) => {
    const { path } = await ledgerWith(6)
    const lines = readFileSync(path, "utf8").trimEnd().split("\n")
    edit(lines)
    writeFileSync(path, `${lines.join("\n")}\n`)
    const { problem } = await checkLedger(path)
    assert.strictEqual(problem?.line, line, JSON.stringify(problem))
    assert.match(problem!.what, what)
  })

  it("moves part of a line that a crash left aside, and continues", async () => {
    const { output, path } = await ledgerWith(2)
    appendFileSync(path, '{"at":"2026-11-2')
    assert.match((await checkLedger(path)).problem!.what, /^part of a record, which a crash left/)
    assert.strictEqual((await headOf(path)).seq, 2)
    const { seq, torn } = await appendRecord(output, at, "publish", {})
    assert.strictEqual(seq, 3)
    assert.strictEqual(readFileSync(torn!, "utf8"), '{"at":"2026-11-2')
    assert.isUndefined((await checkLedger(path)).problem)
  })

  it("does not continue after a last line that is not a record", async () => {
    const { output, path } = await ledgerWith(1)
    appendFileSync(path, "hello\n")
    const failed = await appendRecord(output, at, "sync", {}).catch((cause: Error) => cause.message)
    assert.match(String(failed), /its last line is not a record; see \.\/sluice ledger verify/)
    assert.isTrue(readFileSync(path, "utf8").endsWith("hello\n"))
  })

  it("keeps its chain when 4 processes append 50 records each, one of which is killed", async () => {
    const output = newFolder()
    const program = fileURLToPath(new URL("programs/append.ts", import.meta.url))
    const ended = (name: string) =>
      new Promise<number | null>((resolve) => {
        const child = spawn(process.execPath, [program, output, name, "50"], { stdio: "inherit" })
        child.once("close", resolve)
        if (name === "killed") setTimeout(() => child.kill("SIGKILL"), 900)
      })
    const codes = await Promise.all(["a", "b", "c", "d", "killed"].map(ended))
    assert.deepStrictEqual(codes.slice(0, 4), [0, 0, 0, 0])
    await appendRecord(output, at, "publish", {})
    const { problem, records } = await checkLedger(ledgerOf(output))
    assert.isUndefined(problem)
    for (const name of ["a", "b", "c", "d"])
      assert.deepStrictEqual(
        records.filter(({ detail }) => detail["name"] === name).map(({ detail }) => detail["n"]),
        Array.from({ length: 50 }, (_, n) => n)
      )
    assert.includeMembers(readdirSync(output), ["ledger.jsonl", "ledger.lock"])
    assert.strictEqual(statSync(join(output, "ledger.lock")).mode & 0o777, 0o600)
  })
})
