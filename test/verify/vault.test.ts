/** Each thing that `verify` can find in the vault is planted once, and what is healthy is not reported. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { type Expected, checkVault } from "../../src/features/verify/vault.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { encode } from "../../src/stores/vault/frame.ts"
import { plainPath, sealedPath } from "../../src/stores/vault/segments.ts"
import { newFolder } from "../support/sluice.ts"
import { entry } from "../vault/entry.ts"

const frame = (run: string, more: Partial<Entry> = {}) =>
  encode({ entry: { ...entry, run, ...more } as Entry, body: "{}" })
const first = Buffer.concat([frame("r1"), frame("r1")])
const third = Buffer.concat([frame("r2"), frame("r3")])
const [one, all] = [frame("r2").length, third.length]

const expected: Expected = {
  loaded: { segment: 3, offset: all },
  runs: ["r1", "r2", "r3"],
  resources: new Set(["things"]),
  locations: new Set(["L"]),
  undefinedTables: []
}
/** A vault of two sealed segments and an open one, all of it loaded. */
const filled = () => {
  const folder = newFolder()
  writeFileSync(sealedPath(folder, 1), zstdCompressSync(first))
  writeFileSync(sealedPath(folder, 2), zstdCompressSync(frame("r1")))
  writeFileSync(plainPath(folder, 3), third)
  return folder
}
const contentOf = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "hex")]) : []
const nothing = () => undefined
const found = (damage: (folder: string) => unknown, expects: Partial<Expected> | null = {}) =>
  Effect.gen(function* () {
    const folder = filled()
    damage(folder)
    const before = contentOf(folder)
    const { findings, looked } = yield* checkVault(folder, expects === null ? undefined : { ...expected, ...expects })
    assert.deepStrictEqual(contentOf(folder), before, "a check changes nothing")
    return {
      looked,
      findings: findings.map(({ level, what, where }) => `${level} ${where.replace(folder, "vault")}: ${String(what)}`)
    }
  })
const at = (segment: number, offset: number) => ({ loaded: { segment, offset } })
const flipped = (content: Buffer, place: number) => {
  const copy = Buffer.from(content)
  copy[place]! ^= 1
  return copy
}

type Case = readonly [string, (folder: string) => unknown, Partial<Expected> | null, ...findings: ReadonlyArray<string>]
const cases: ReadonlyArray<Case> = [
  ["all of which is loaded", nothing, {}],
  ["without a warehouse", nothing, null, "note position: 5 entries wait for the next sync"],
  ["of which the last entry waits", nothing, at(3, one), "note position: 1 entry wait for the next sync"],
  ["of which nothing is loaded but a segment", nothing, at(2, 0), "note position: 3 entries wait for the next sync"],
  ["that is loaded to the beginning of the next segment", nothing, at(4, 0)],
  [
    "that is loaded to the middle of an entry",
    nothing,
    at(3, one - 1),
    `wrong position: the warehouse has loaded segment 3 up to byte ${one - 1}, where no entry of the vault ends`,
    "note position: 1 entry wait for the next sync"
  ],
  [
    "that is loaded beyond its end",
    nothing,
    at(3, all + 1),
    `wrong position: the warehouse has loaded segment 3 up to byte ${all + 1}, where no entry of the vault ends`
  ],
  [
    "that is loaded beyond its segments",
    nothing,
    at(5, 0),
    "wrong position: the warehouse has loaded segment 5 up to byte 0, where no entry of the vault ends"
  ],
  ["without a segment", (folder) => rmSync(sealedPath(folder, 2)), {}, "wrong segment 2: missing"],
  [
    "without two segments",
    (folder) => [1, 2].map((n) => rmSync(sealedPath(folder, n))),
    {},
    "wrong segments 1 to 2: missing"
  ],
  [
    "with a segment twice",
    (folder) => writeFileSync(plainPath(folder, 2), frame("r1")),
    {},
    "note segment 2: it exists both plain and compressed; the next sync removes the plain one"
  ],
  [
    "with other files",
    (folder) =>
      ["000001.ndjson.torn-5", "000004.ndjson.zst.part", "notes.txt"].map((name) =>
        writeFileSync(join(folder, name), "")
      ),
    {},
    "note 000001.ndjson.torn-5: an incomplete write that a sync has set aside",
    "note 000004.ndjson.zst.part: left by an interrupted compression; a later one replaces it",
    "note notes.txt: not a file of the vault"
  ],
  [
    "with a write that was interrupted",
    (folder) => appendFileSync(plainPath(folder, 3), frame("r4").subarray(0, 9)),
    {},
    "note segment 3: its last 9 bytes are an incomplete write, which the next sync sets aside"
  ],
  [
    "with half an entry that was loaded",
    (folder) => appendFileSync(plainPath(folder, 3), frame("r4").subarray(0, 9)),
    at(3, all + 9),
    `wrong segment 3: it is damaged at byte ${all}: its last 9 bytes are not a complete entry`
  ],
  [
    "with half an entry in a sealed segment",
    (folder) => writeFileSync(sealedPath(folder, 2), zstdCompressSync(first.subarray(0, -9))),
    {},
    `wrong segment 2: it is damaged at byte ${first.length / 2}: its last ${first.length / 2 - 9} bytes are not a complete entry`
  ],
  [
    "with a changed byte in an open segment",
    (folder) => writeFileSync(plainPath(folder, 3), flipped(third, 20)),
    {},
    "wrong segment 3: it is damaged at byte 0: 1 entry after it cannot be read"
  ],
  [
    "with a changed byte in a sealed segment",
    (folder) => writeFileSync(sealedPath(folder, 1), zstdCompressSync(flipped(first, first.length - 3))),
    {},
    `wrong segment 1: it is damaged at byte ${first.length / 2}: its last ${first.length / 2} bytes are not a complete entry`
  ],
  [
    "of another account",
    (folder) =>
      writeFileSync(
        sealedPath(folder, 2),
        zstdCompressSync(Buffer.concat([frame("r1", { location: "M" }), frame("r1", { location: "M" })]))
      ),
    {},
    "wrong segment 2: it contains an entry of the location M, which was never read, 2 times"
  ],
  [
    "with a table that does not exist",
    (folder) => writeFileSync(sealedPath(folder, 2), zstdCompressSync(frame("r1", { resource: "others" }))),
    {},
    "wrong segment 2: it contains an entry of the resource others, which does not exist, 1 time"
  ],
  [
    "with a table that no definition describes",
    (folder) => writeFileSync(sealedPath(folder, 2), zstdCompressSync(frame("r1", { resource: "others/details" }))),
    { undefinedTables: ["others"] },
    "note others: no definition describes this table, so it was not checked; set pipelines.folder"
  ],
  [
    "with an entry of another account that is not loaded yet",
    (folder) => appendFileSync(plainPath(folder, 3), frame("r3", { location: "M" })),
    {},
    "note position: 1 entry wait for the next sync"
  ],
  [
    "without a run whose pages are in the tables",
    nothing,
    { runs: ["r0", "r1", "r2", "r9"] },
    "wrong runs: it contains no entry of 2 runs whose pages are in the tables; the first is r0"
  ]
]

describe("a vault", () => {
  it.effect.each(cases)("%s", ([, damage, expects, ...findings]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* found(damage, expects)).findings, findings)
    })
  )

  it.effect("is counted by segments, entries and bytes", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* found(nothing)).looked, "3 segments, 5 entries, 0 MB unpacked")
      assert.match(
        (yield* found((folder) => writeFileSync(plainPath(folder, 2), frame("r1")))).looked,
        /^3 segments, 5 entries/
      )
      assert.match((yield* found((folder) => rmSync(sealedPath(folder, 2)))).looked, /^2 segments, 4 entries/)
    })
  )

  it.effect("that is missing is an error if something of it was loaded", () =>
    Effect.gen(function* () {
      const gone = (folder: string) => rmSync(folder, { recursive: true })
      assert.deepStrictEqual((yield* found(gone, null)).findings, [])
      assert.include((yield* found(gone)).findings, "wrong vault: the folder is missing")
    })
  )

  it.effect("of which a segment cannot be unpacked says so, and asks for no run that may have been in it", () =>
    Effect.gen(function* () {
      for (const loaded of [{}, at(2, 5)]) {
        const { findings } = yield* found((folder) => writeFileSync(sealedPath(folder, 2), "rubbish"), {
          ...loaded,
          runs: ["r1", "r9"]
        })
        assert.match(findings[0]!, /^wrong segment 2: it cannot be unpacked: /)
        assert.deepStrictEqual(findings.filter((one) => one.startsWith("wrong")).length, 1, findings.join("\n"))
      }
    })
  )
})
