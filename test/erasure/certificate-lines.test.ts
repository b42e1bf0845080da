/** What people read of the certificate of an erasure: each place that still has something is named, and no other. */
import { assert, it } from "@effect/vitest"
import { erasedLines } from "../../src/features/privacy/commands/erasing.ts"
import { randomFrom } from "../support/random.ts"

it("what was found, was not searched, is out of reach or stays is said, once each", () => {
  const random = randomFrom(8)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const many = <One>(max: number, of: (index: number) => One) =>
    Array.from({ length: upTo(max) }, (_, index) => of(index))
  for (let drawn = 0; drawn < 100; drawn++) {
    const found = many(60, (index) => ({
      place: `file-${index}`,
      label: ["email 1", "phone 12", "name 1", "contact id 3", "erased record"][upTo(4)]!,
      form: "value"
    }))
    const certificate = {
      records: upTo(2),
      recordsKept: upTo(2),
      unjudged: many(2, (index) => ({ table: `table_${index}`, why: "missing", records: 3 })),
      search: { files: 9, found, unsearched: many(3, (index) => `archive-${index}.zip`) },
      places: many(6, (index) => ({
        name: `place-${index}`,
        folder: `/f${index}`,
        state: ["cleaned", "left", "removed", "out of reach"][upTo(3)]
      })),
      earlierExports: many(2, (index) => ({ at: "2026-01-01", name: `export-${index}` }))
    }
    const lines = [...erasedLines(certificate as never, "/c.json")]
    const texts = lines.filter((line) => typeof line === "string")
    const warnings = lines.flatMap((line) => (typeof line === "string" ? [] : [`${line.level} ${line.message}`]))
    const { earlierExports, places, records, recordsKept, search, unjudged } = certificate
    assert.match(texts[0]!, new RegExp(`^${records} records? erased; 9 files searched. Certificate: /c.json$`))
    assert.deepStrictEqual(
      texts.slice(1),
      recordsKept === 0
        ? []
        : [`${recordsKept} financial record${recordsKept === 1 ? "" : "s"} kept without the person.`]
    )
    const said = (pattern: RegExp) => warnings.flatMap((line) => pattern.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(
      said(/^warn (file-\d+) contains the (?:email|phone|name|contact id|erased record) \(value\)/),
      found.slice(0, 50).map(({ place }) => place)
    )
    assert.deepStrictEqual(said(/^warn (archive-\d+\.zip) was not searched/), search.unsearched)
    assert.deepStrictEqual(
      said(/^warn (place-\d+), /),
      places.filter(({ state }) => state !== "cleaned").map(({ name }) => name)
    )
    assert.lengthOf(said(/(table_\d)/), unjudged.length)
    for (const { folder, name, state } of places) {
      const [line] = warnings.filter((one) => one.startsWith(`warn ${name}, ${folder}: `))
      const sentence = { left: /still has/, removed: /nothing any more/, "out of reach": /could not be searched/ }[
        state!
      ]
      if (sentence) assert.match(line!, sentence)
    }
    const isNamed = found.some(({ label }) => /^(email|phone|erased)/.test(label))
    assert.lengthOf(said(/(The person is still named)/), isNamed ? 1 : 0)
    assert.deepStrictEqual(
      said(/may contain what was erased: (.*)\.$/),
      earlierExports.length === 0 ? [] : [earlierExports.map(({ name }) => `${name} of 2026-01-01`).join(", ")]
    )
  }
})
