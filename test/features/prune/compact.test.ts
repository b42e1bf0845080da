/** A vault without what repeats: each row has the same versions, and what is young or not read to its end stays as it is. */
import { assert, it } from "@effect/vitest"
import { id, text } from "../../../src/catalog/fields.ts"
import { get } from "../../../src/catalog/request.ts"
import { defineList } from "../../../src/catalog/resource.ts"
import { compactor } from "../../../src/features/prune/compact.ts"
import type { Entry } from "../../../src/stores/vault/entry.ts"
import type { Frame } from "../../../src/stores/vault/frame.ts"
import { checkpoint } from "../../support/checkpoint.ts"
import { randomFrom } from "../../support/random.ts"

const list = (table: string) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
    fields: { id: id("Id"), name: text("Name") }
  })
const resources = [list("things"), list("parts")]
const day = 86_400_000

/** Ten nights of two lists in two locations with equal ids; the last reading of some is not at its end. */
const nights = (seed: number): ReadonlyArray<Frame> => {
  const draw = randomFrom(seed)
  const names = new Map<string, string>()
  return Array.from({ length: 10 }, (_, night) =>
    ["L", "M"].flatMap((location) =>
      ["things", "parts"].flatMap((resource) => {
        const common = { run: `r${night}`, at: night * day, location, resource }
        const pages = [0, 1].map((page): Frame => {
          const x = [0, 1, 2].map((n) => {
            const place = `${location} ${resource} ${page}${n}`
            if (!names.has(place) || draw() < 0.2) names.set(place, `n${Math.floor(draw() * 3)}`)
            return { id: `${page}${n}`, name: names.get(place) }
          })
          const more = { partition: "all", request: {}, records: "x", hasBigNumbers: false, checkpoint }
          return { entry: { ...common, kind: "page", ...more } as Entry, body: JSON.stringify({ x }) }
        })
        const deleted: Frame = { entry: { ...common, kind: "deleted" }, body: '["00","11"]' }
        const outcome = { mode: "full", shortfalls: [], warnings: [], requests: 1 } as const
        const end: Frame = { entry: { ...common, kind: "end", outcome }, body: "" }
        const isEnded = night < 8 || draw() < 0.5
        return [...pages, ...(draw() < 0.2 ? [deleted] : []), ...(isEnded ? [end] : [])]
      })
    )
  ).flat()
}

/** The versions of each row: what repeats is none, but after a deletion. */
const versionsIn = (frames: ReadonlyArray<Frame>) => {
  const versions = new Map<string, Array<string>>()
  const see = (place: string, version: string) => {
    const known = versions.get(place) ?? []
    if (known.at(-1) !== version) known.push(version)
    versions.set(place, known)
  }
  for (const { body, entry } of frames) {
    const place = `${entry.location} ${entry.resource}`
    if (entry.kind === "deleted") for (const key of JSON.parse(String(body))) see(`${place} ${key}`, "deleted")
    if (entry.kind === "page") for (const one of JSON.parse(String(body)).x) see(`${place} ${one.id}`, one.name)
  }
  return versions
}

it("a compacted vault has the same versions of each row, and all records that are young or of a reading without an end", () => {
  for (let seed = 1; seed <= 8; seed++) {
    const frames = nights(seed)
    const before = (2 + seed) * day
    const { compact, look, removed } = compactor(resources, before)
    for (const frame of frames) look(frame)
    const compacted = frames.map(compact)
    assert.deepStrictEqual(versionsIn(compacted), versionsIn(frames), `seed ${seed}`)
    const count = ({ body, entry }: Frame) => (entry.kind === "page" ? JSON.parse(String(body)).x.length : 0)
    let fewer = 0
    for (const [n, frame] of frames.entries()) {
      const { entry } = compacted[n]!
      const isLast = ({ entry: other }: Frame) =>
        other.kind === "end" && other.location === entry.location && other.resource === entry.resource
      const isEnded = frames.findLastIndex(isLast) > n
      if (entry.at >= before || !isEnded) assert.deepStrictEqual(compacted[n], frame)
      const left = count(frame) - count(compacted[n]!)
      fewer += left
      if (entry.kind === "page") assert.strictEqual(entry.compacted ?? 0, left)
    }
    assert.strictEqual(removed(), fewer)
    assert.isAbove(fewer, 0)
  }
})
