/** The files behind links: which are requested, by one run and by those after it, whatever their hosts answer. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { files } from "../../pipelines/account/files.ts"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import type { Fetched } from "../../src/stages/api/fetch-file.ts"
import { readFiles } from "../../src/stages/extract/files.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { templateOf } from "../support/fixtures.ts"
import { nothingOptional } from "../support/optional.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"
import { answerOf, contextOf, silentApi } from "./fakes.ts"

const things = defineList({
  table: "things",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  getOne: { request: get("/things/{thingId}"), record: "" },
  fields: { id: id("Id"), photo: text("Photo", { role: "file" }) }
})
const resources = [things, files]
const template = await templateOf({ resources, familyByTable: new Map<string, string>() })

/** `silent`: the host does not answer. `hangs`: the answer never comes, and the run is killed. */
type Host = "file" | "gone" | "refused" | "silent" | "hangs"
const hour = 3_600_000
const begin = Date.parse("2026-01-01T08:00:00Z")

const recordWith = (photo: string | undefined) => ({ ...answerOf({}), bytes: Buffer.from(JSON.stringify({ photo })) })

interface Night {
  /** The link that the record has when it is read alone. */
  readonly renewed?: string
  readonly run: string
  readonly hostOf: (url: string) => Host
  readonly settings?: { readonly maxTotalBytes?: number }
  readonly location?: string
}

const contentOf = (url: string) => Buffer.from(`the file of ${url.replace(/.*\//, "")}`)
const pathOf = (content: Buffer) => {
  const sha256 = createHash("sha256").update(content).digest("hex")
  return { sha256, path: `files/${sha256.slice(0, 2)}/${sha256.slice(2)}.txt` }
}

/** An account with links, in location L and of the same ids in M. */
const accountOf = Effect.fnUntraced(function* (links: ReadonlyArray<string>, silentLinks: number) {
  const folder = newFolder()
  mkdirSync(join(folder, "files"), { recursive: true })
  const { rows, run } = yield* Warehouse
  for (const location of ["L", "M"])
    yield* run(
      `INSERT INTO crm.things (location_id, id, photo) VALUES ${links.map((link, n) => `('${location}', 't${n}', '${location === "L" ? link : "https://elsewhere.example/m"}')`).join(", ")}`
    )
  const loader = yield* makeLoader(resources, join(folder, "tmp"))
  const services = yield* Effect.context<Vault | Warehouse>()
  const loaded = Effect.provide(Effect.orDie(loader.load), services)
  const crossed = new Set<string>()
  const limits = limitsOf({ extract: { silentLinks } }, (name) => void crossed.add(name))
  const night = Effect.fnUntraced(function* ({ hostOf, location = "L", renewed, run, settings = {} }: Night) {
    const requested: Array<string> = []
    const killed = yield* Deferred.make<void>()
    const download = ({ url }: { readonly url: string }): Effect.Effect<Fetched> =>
      Effect.suspend((): Effect.Effect<Fetched> => {
        requested.push(url)
        const host = hostOf(url)
        if (host === "hangs") return Effect.andThen(Deferred.succeed(killed, undefined), Effect.never)
        if (host === "gone") return Effect.succeed({ status: "gone", reason: "the host answers 404" })
        if (host === "refused") return Effect.succeed({ status: "refused", reason: "the host answers 403" })
        if (host === "silent") return Effect.succeed({ status: "failed", reason: "no answer", isUnanswered: true })
        const content = contentOf(url)
        const file = { ...pathOf(content), bytes: content.length, found: undefined }
        mkdirSync(dirname(join(folder, file.path)), { recursive: true })
        writeFileSync(join(folder, file.path), content)
        const more = { contentType: "text/plain", etag: undefined, lastModified: undefined }
        return Effect.succeed({ status: "fetched", ...file, ...more })
      })
    const optional = { ...nothingOptional, files: ["things"] }
    const context = contextOf({ resources, folder, run, location, loaded, optional, files: settings as never })
    const reading = yield* Effect.forkChild(
      readFiles(files, false, context).pipe(
        Effect.provideService(Api, Api.of({ ...silentApi, send: () => Effect.succeed(recordWith(renewed)), download })),
        Effect.provideService(Limits, limits)
      )
    )
    const outcome = yield* Effect.raceFirst(Fiber.join(reading), Deferred.await(killed))
    if (outcome === undefined) yield* Fiber.interrupt(reading)
    const found = yield* rows(
      `SELECT record_id, status, path, url, missing_since::VARCHAR AS since FROM crm.files WHERE location_id = '${location}' AND _deleted_at IS NULL ORDER BY record_id`
    )
    return { crossed, requested, outcome, rows: new Map(found.map((row) => [String(row["record_id"]), row])) }
  })
  return { folder, night }
})

const test = (name: string, body: Effect.Effect<void, unknown, Vault | Warehouse>) =>
  it.effect(name, () => {
    const folder = newFolder()
    const warehouse = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
    return Effect.provide(body, Layer.merge(Vault.layer(join(folder, "vault")), warehouse))
  })
const linksOf = (hosts: ReadonlyArray<string>, each: number) =>
  hosts.flatMap((host) => Array.from({ length: each }, (_, n) => `https://${host}.example/${host}${n}`))

describe("the files behind links", () => {
  test(
    "are fetched once for all rows that have the link, and requested again if the answer may change, in any order of answers",
    Effect.gen(function* () {
      const draw = randomFrom(5)
      const pick = <A>(of: ReadonlyArray<A>): A => of[Math.floor(draw() * of.length)]!
      const all = linksOf(["a", "b", "c"], 4)
      const links = Array.from({ length: 16 }, () => pick(all))
      const { folder, night } = yield* accountOf(links, 100)
      const state = new Map<string, "stored" | "gone" | number>()
      for (let n = 0; n < 8; n++) {
        // Some nights are of one day.
        const now = begin + n * 10 * hour
        const day = Math.floor(now / (24 * hour))
        yield* TestClock.setTime(now)
        const answers = new Map(all.map((link) => [link, pick<Host>(["file", "gone", "gone", "refused", "silent"])]))
        const due = [...new Set(links)].filter((link) => {
          const known = state.get(link)
          return known === undefined || (typeof known === "number" && known < day)
        })
        const { requested, rows } = yield* night({ run: `r${n}`, hostOf: (url) => answers.get(url)! })
        assert.deepStrictEqual(requested.toSorted(), due.toSorted(), `night ${n}`)
        for (const link of due) {
          const answer = answers.get(link)!
          const isMissing = typeof state.get(link) === "number"
          if (answer === "file") state.set(link, "stored")
          else if (answer === "gone") state.set(link, isMissing ? "gone" : day)
          else if (isMissing) state.set(link, day)
        }
        for (const [at, link] of links.entries()) {
          const row = rows.get(`t${at}`)!
          assert.strictEqual(row["url"], link)
          const known = state.get(link)
          if (known === "stored") {
            assert.strictEqual(row["status"], "fetched")
            assert.deepStrictEqual(readFileSync(join(folder, String(row["path"]))), contentOf(link))
          } else {
            assert.isNull(row["path"])
            assert.strictEqual(row["status"] === "gone", known === "gone", `${link} in night ${n}`)
          }
        }
      }
      assert.isAtLeast(new Set(state.values()).size, 2)
    })
  )

  test(
    "of a host that leaves some in a row unanswered are left to the next run, those of other hosts are not",
    Effect.gen(function* () {
      const { night } = yield* accountOf(linksOf(["dead", "good"], 60), 3)
      const dead = (url: string) => url.includes("dead")
      const first = yield* night({ run: "r1", hostOf: (url) => (dead(url) ? "silent" : "file") })
      // 32 are on their way at once.
      assert.isBelow(first.requested.filter(dead).length, 3 + 32)
      assert.lengthOf(
        first.requested.filter((url) => !dead(url)),
        60
      )
      assert.isTrue(first.crossed.has("extract.silentLinks"))
      const left = first.outcome!.shortfalls.map((one) => "count" in one && "status" in one && [one.status, one.count])
      const asked = first.requested.filter(dead).length
      assert.deepInclude(left, ["not requested", 60 - asked])
      const second = yield* night({ run: "r2", hostOf: () => "file" })
      assert.lengthOf(second.requested, 60, "the next run asks for all of them")
      assert.isTrue(second.rows.values().every((row) => row["status"] === "fetched"))
      assert.deepStrictEqual(second.outcome!.shortfalls, [])
    })
  )

  test(
    "of a host that answers some of them in between are all requested",
    Effect.gen(function* () {
      const { night } = yield* accountOf(linksOf(["half"], 90), 40)
      let n = 0
      const { requested } = yield* night({ run: "r1", hostOf: () => (++n % 2 === 0 ? "silent" : "refused") })
      assert.lengthOf(requested, 90)
    })
  )

  test(
    "are not requested again if the run that fetched them was killed before the vault had their rows",
    Effect.gen(function* () {
      const { folder, night } = yield* accountOf(linksOf(["a"], 9), 20)
      const hung = "https://a.example/a7"
      const first = yield* night({ run: "r1", hostOf: (url) => (url === hung ? "hangs" : "file") })
      assert.isUndefined(first.outcome)
      const fetched = first.requested.filter((url) => existsSync(join(folder, pathOf(contentOf(url)).path)))
      assert.isAbove(fetched.length, 0)
      const second = yield* night({ run: "r2", hostOf: () => "file" })
      assert.isTrue(second.requested.includes(hung))
      assert.isEmpty(second.requested.filter((url) => fetched.includes(url)))
      assert.isTrue(second.rows.values().every((row) => row["status"] === "fetched"))
      assert.isEmpty((yield* night({ run: "r3", hostOf: () => "file" })).requested)
    })
  )

  test(
    "are requested by the present link of the record if the earlier link may have expired",
    Effect.gen(function* () {
      const [plain, other] = ["https://a.example/1", "https://a.example/2"]
      const signed = (n: number) => `https://a.example/3?X-Amz-Date=${n}&X-Amz-Signature=${n}`
      for (const answer of ["gone", "refused"] as const)
        for (const [link, renewed, again] of [
          [plain, other, false],
          [plain, undefined, false],
          [signed(1), signed(1), false],
          [signed(1), other, false],
          [signed(1), signed(2), true]
        ] as const) {
          yield* (yield* Warehouse).run("DELETE FROM crm.things; DELETE FROM crm.files")
          const { night } = yield* accountOf([link], 20)
          const hostOf = (url: string) => (url === renewed && again ? "file" : answer)
          const { requested, rows } = yield* night({ run: "r1", hostOf, ...(renewed !== undefined && { renewed }) })
          assert.deepStrictEqual(requested, again ? [link, renewed!] : [link], `${answer} ${link} ${renewed}`)
          assert.strictEqual(rows.get("t0")!["status"] === "fetched", again)
        }
    })
  )

  test(
    "end with the bytes that all files may take, those of other locations among them",
    Effect.gen(function* () {
      const { night } = yield* accountOf(linksOf(["a"], 3), 20)
      const elsewhere = yield* night({ run: "r1", location: "M", hostOf: () => "file" })
      assert.lengthOf(elsewhere.requested, 1)
      const bytes = contentOf(elsewhere.requested[0]!).length
      const full = yield* night({ run: "r2", hostOf: () => "file", settings: { maxTotalBytes: bytes } })
      assert.isEmpty(full.requested)
      assert.deepInclude(full.outcome!.shortfalls, { _tag: "FilesStopped", why: "total" })
      const more = yield* night({ run: "r3", hostOf: () => "file", settings: { maxTotalBytes: bytes + 1 } })
      assert.isNotEmpty(more.requested)
    })
  )
})
