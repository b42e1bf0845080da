/** Pages that say nothing new are stored without their records: the tables are as if each had been stored whole. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { join } from "node:path"
import { id, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineList } from "../../src/catalog/resource.ts"
import { makeBackgroundLoader } from "../../src/stages/load/background-loader.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import type { Position } from "../../src/stores/vault/position.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/x"), paging: { kind: "once" }, records: "items", pageSize: 10 } as const
/** Neither the service nor sluice knows what has changed in it, so each night reads it in full. */
const items = defineList({
  ...common,
  table: "items",
  full: [once],
  fields: { id: id("Id"), name: text("Name"), tags: values("item_tags", "Tags", "tag", text("Tag")) }
})
const parts = defineList({ ...common, table: "parts", full: [once], fields: { id: id("Id"), itemId: text("Item") } })
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: { table: "items", column: "item_id", refreshAfter: "30 days", strategy: once },
  fields: { id: id("Id"), body: text("Body") }
})
const resources: ReadonlyArray<Resource> = [items, parts, notes]
const catalogue = { resources, familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)

type Dice = () => number
/** What the readings of a night append, of two locations with equal ids; most records are as in the night before. */
const nightOf = (n: number, draw: Dice, names: Map<string, string>): ReadonlyArray<Frame> => {
  let at = Date.UTC(2026, 0, 1 + n)
  const frames: Array<Frame> = []
  const push = (location: string, resource: string, entry: object, body: unknown = "") =>
    frames.push({
      entry: { run: `r${n}`, at: at++, location, resource, ...entry } as Entry,
      body: body === "" ? "" : JSON.stringify(body)
    })
  for (const location of ["L", "M"])
    for (const table of ["items", "parts"]) {
      for (let page = 0; page < 3; page++) {
        if (n > 0 && draw() < 0.4) {
          const keys = [0, 1, 2, 3].filter(() => draw() < 0.4).map((k) => `${3 * Math.floor(draw() * 3) + (k % 3)}`)
          push(location, draw() < 0.7 ? table : "items", { kind: "deleted" }, keys)
        }
        const records = [0, 1, 2].map((k) => {
          const key = `${3 * page + k}`
          const place = `${location} ${table} ${key}`
          if (!names.has(place) || draw() < 0.04) names.set(place, `n${Math.floor(draw() * 3)}`)
          return { id: key, name: names.get(place), itemId: names.get(place), tags: [names.get(place)] }
        })
        push(
          location,
          table,
          {
            kind: "page",
            partition: "all",
            request: {},
            records: "items",
            hasBigNumbers: false,
            checkpoint: { ...checkpoint, mode: "full", lastIds: records.map((one) => one.id) }
          },
          { items: records }
        )
      }
      push(location, table, { kind: "end", outcome: { mode: "full", shortfalls: [], warnings: [], requests: 1 } })
    }
  return frames
}

const contents = Effect.gen(function* () {
  const { rows } = yield* Warehouse
  const texts = (path: string, more = "") =>
    Effect.map(rows(`SELECT to_json(t)::VARCHAR AS row FROM ${path} AS t ${more} ORDER BY ALL`), (found) =>
      found.map(({ row }) => String(row))
    )
  const tables = ["items", "item_tags", "parts"].flatMap((one) => [`crm.${one}`, `crm_history.${one}`])
  const counts =
    "(SELECT run_id, location_id, resource, records, new_rows, changed_rows, deleted_rows FROM meta.run_resources)"
  return yield* Effect.forEach([...tables, counts], (path) =>
    Effect.map(texts(path), (found) => [path, found] as const)
  )
})

/** Plays the nights; `isNews`: with the vault that stores news only, while a loader is at work. */
const played = (nights: ReadonlyArray<ReadonlyArray<Frame>>, isNews: boolean) => {
  const stored: Array<Frame> = []
  const folder = newFolder()
  const night = Effect.fnUntraced(function* (frames: ReadonlyArray<Frame>) {
    const vault = yield* Vault
    const noting = Vault.of({
      ...vault,
      append: (frame) =>
        Effect.andThen(
          Effect.sync(() => void stored.push(frame)),
          vault.append(frame)
        )
    })
    const loader = yield* makeLoader(resources, join(newFolder(), "tmp"))
    const background = yield* makeBackgroundLoader(loader)
    const target = isNews ? loader.storingNews(noting) : noting
    const appending = Effect.forEach(frames, (frame) => target.append(frame), { discard: true })
    // Batches end sooner while something waits for them.
    const watching = Effect.forever(Effect.suspend(background.nextCommit))
    yield* Effect.raceAllFirst([Effect.andThen(appending, background.loaded), background.run, watching])
    yield* loader.load
  })
  const playing = Effect.gen(function* () {
    yield* prepare(catalogue)
    for (const frames of nights)
      // Each night is a process of its own.
      yield* Effect.provide(night(frames), Vault.layer(join(folder, "vault")), { local: true })
    return yield* contents
  }).pipe(
    Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256, template }))
  )
  return Effect.map(playing, (found) => ({ found, stored }))
}

describe("a list that is read in full every night", () => {
  it.live(
    "gives the same rows, versions and counts as if all its pages were stored whole, whatever is deleted between them",
    () =>
      Effect.gen(function* () {
        const draw = randomFrom(6)
        const names = new Map<string, string>()
        const nights = [0, 1].map((n) => nightOf(n, draw, names))
        const [news, whole] = [yield* played(nights, true), yield* played(nights, false)]
        assert.deepStrictEqual(news.found, whole.found)
        const isShort = ({ entry }: Frame) => "compacted" in entry
        assert.isAbove(news.stored.filter(isShort).length, 1)
        assert.isTrue(news.stored.filter(isShort).every(({ body }) => body.length === 0))
      })
  )

  it.live("restores what a batch deletes that is prepared and not committed yet", () =>
    Effect.gen(function* () {
      const names = new Map<string, string>()
      const nights = [0, 1].map((n) => nightOf(n, () => 0.9, names))
      const [other, item] = ["L", "M"].map((location) => nights[1]!.find(({ entry }) => entry.location === location)!)
      const deleted = { entry: { ...item!.entry, kind: "deleted" } as Entry, body: '["1"]' }
      const folder = newFolder()
      const night = Effect.gen(function* () {
        const vault = yield* Vault
        const loader = yield* makeLoader(resources, join(newFolder(), "tmp"))
        yield* Effect.forEach(nights[0]!, (frame) => loader.storingNews(vault).append(frame), { discard: true })
        yield* loader.load
      })
      const nextNight = Effect.gen(function* () {
        const vault = yield* Vault
        const loader = yield* makeLoader(resources, join(newFolder(), "tmp"))
        const news = loader.storingNews(vault)
        // The commit of the first batch waits, while the second one, which has the deletion, is prepared.
        const [prepared, second, committed] = [yield* Latch.make(), yield* Latch.make(), yield* Latch.make()]
        let batches = 0
        const eachAlone = (_: Position, bytes: number) =>
          Effect.gen(function* () {
            if (bytes > 0) return false
            batches++
            if (batches === 2) yield* Effect.andThen(prepared.open, second.await)
            return batches < 3
          })
        yield* news.append(other!)
        const holding = yield* Effect.forkChild(loader.known.commits.withPermits(1)(committed.await))
        const loading = yield* Effect.forkChild(loader.loadContinuously(eachAlone))
        yield* prepared.await
        yield* news.append(deleted)
        yield* second.open
        const appending = yield* Effect.forkChild(news.append(item!))
        yield* Effect.sleep(200)
        yield* committed.open
        yield* Effect.forEach([holding, appending, loading], Fiber.join, { discard: true })
        yield* loader.load
        return yield* (yield* Warehouse).rows("SELECT location_id, id FROM crm.items WHERE _deleted_at IS NOT NULL")
      })
      const inVault = Effect.provide(Vault.layer(join(folder, "vault")), { local: true })
      const gone = yield* Effect.andThen(prepare(catalogue), Effect.andThen(inVault(night), inVault(nextNight))).pipe(
        Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256, template }))
      )
      assert.deepStrictEqual(gone, [])
    })
  )

  it.live("is stored once if nothing changes", () =>
    Effect.gen(function* () {
      const names = new Map<string, string>()
      // These dice neither change nor delete anything.
      const nights = [0, 1].map((n) => nightOf(n, () => 0.9, names))
      const { stored } = yield* played(nights, true)
      const second = stored.filter(({ entry }) => entry.run === "r1" && entry.kind === "page")
      assert.deepStrictEqual(
        second.map(({ body }) => body.length),
        second.map(() => 0)
      )
      assert.isNotEmpty(second)
    })
  )
})
