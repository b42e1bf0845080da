/** What `verify --sample` says of a row after it has requested its record: only a comparison makes it agree or differ. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime } from "effect"
import { join } from "node:path"
import { changed, count, id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { checkSample } from "../../src/features/verify/sample.ts"
import { Api } from "../../src/stages/api/api.ts"
import { type ApiError, Forbidden, RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { silentApi } from "../extract/fakes.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const list = (table: string) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
    changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
    getOne: { request: get("/things/{thingId}"), record: "thing", differing: ["seen"] },
    fields: { id: id("Id"), name: text("Name"), seen: count("Seen"), updatedAt: changed("Change") }
  })
const catalogue = { resources: [list("things"), list("others")], familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)
const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
)
const time = "2026-01-01T00:00:00.000Z"
beforeAll(() =>
  warehouse.runPromise(
    Effect.flatMap(Warehouse, ({ run }) =>
      run(
        `INSERT INTO crm.things (location_id, id, name, seen, updated_at, _synced_at, _deleted_at) VALUES
          ('L', 'a', 'Ann', 5, TIMESTAMPTZ '${time}', TIMESTAMPTZ '${time}', NULL), ('L', 'gone', 'x', 1, NULL, TIMESTAMPTZ '${time}', now()), ('M', 'z', 'x', 1, NULL, TIMESTAMPTZ '${time}', NULL);`
      )
    )
  )
)
afterAll(() => warehouse.dispose())

/** Compares the one live row of the location, of which the service says this. */
const sampled = (said: object | ApiError, rows = 5, location = "L") => {
  const sent: Array<string> = []
  const api = Api.of({
    ...silentApi,
    send: ({ request, resource }) =>
      Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
        sent.push(`${resource} ${request.path}`)
        return "_tag" in said
          ? Effect.fail(said)
          : Effect.succeed({
              bytes: Buffer.alloc(0),
              body: { thing: said },
              hasBigNumbers: false,
              at: 0,
              serviceTime: undefined
            })
      })
  })
  const normaliserOf = () => (record: unknown) => {
    const { id, name, seen, updatedAt } = record as Readonly<Record<string, unknown>>
    return { row: id === undefined ? undefined : JSON.stringify({ id, name, seen, updated_at: updatedAt }) }
  }
  return warehouse.runPromise(
    Effect.map(checkSample({ catalogue, location, rows, normaliserOf }), ({ checked, disagreeing, numbers }) => ({
      sent,
      disagreeing,
      looked: checked.looked,
      status: Object.entries(numbers).flatMap(([status, n]) => (n > 0 ? [status] : [])),
      findings: checked.findings.map(({ level, what, where }) => `${level} ${where}: ${String(what)}`)
    })).pipe(Effect.provide(Layer.succeed(Api, api)))
  )
}
const same = { id: "a", name: "Ann", seen: 5, updatedAt: time }

describe("a row of the sample", () => {
  it("agrees if every value that both have is the same", async () => {
    const found = await sampled(same)
    assert.deepStrictEqual(
      found.sent,
      ["verify/things /things/a"],
      "deleted rows and other locations are not requested"
    )
    assert.deepStrictEqual([found.status, found.findings, found.disagreeing], [["agree"], [], []])
    assert.strictEqual(found.looked, "1 row of 1 table, 100 % of 1 agree")
    const { name: _, ...fewer } = same
    assert.deepStrictEqual((await sampled(fewer)).status, ["agree"])
    assert.deepStrictEqual((await sampled({ ...same, seen: 9 })).status, ["agree"], "it differs in every reading")
  })

  it("differs if a value does, and the table is named", async () => {
    const found = await sampled({ ...same, name: "Anna" })
    assert.deepStrictEqual([found.status, found.disagreeing], [["differ"], ["things"]])
    assert.deepStrictEqual(found.findings, [
      `wrong things a: name is "Ann" in the warehouse (read at ${time}) and "Anna" in the service`
    ])
    assert.match(found.looked, /, 0 % of 1 agree$/)
    const earlier = await sampled({ ...same, name: "Anna", updatedAt: "2025-12-31T00:00:00Z" })
    assert.deepStrictEqual([earlier.status, earlier.findings.length], [["differ"], 2])
  })

  it("is not compared if its record changed after it was read", async () => {
    const found = await sampled({ ...same, name: "Anna", updatedAt: "2026-01-01T00:00:00.001Z" })
    assert.deepStrictEqual([found.status, found.disagreeing], [["changed since"], []])
    assert.deepStrictEqual(found.findings, ["note service: 1 row changed since the last sync; not compared"])
    assert.strictEqual(found.looked, "1 row of 1 table", "no share is said where nothing was compared")
  })

  it.each([
    [
      "that it does not exist",
      new RequestRejected({ status: 404, message: "404", refusal: '[404,null,{"message":"no"}]' }),
      "deleted since",
      "note things: the service no longer has 1 row, for example a"
    ],
    [
      "that it may not be read",
      new Forbidden({ message: "403" }),
      "not readable",
      "note things a: could not be read: 403"
    ],
    [
      "nothing that can be used",
      new RequestRejected({ status: 400, message: "no" }),
      "not readable",
      "note things a: could not be read: no"
    ],
    ["no record", {}, "not readable", undefined]
  ] as ReadonlyArray<readonly [string, object, string, string | undefined]>)(
    "neither agrees nor differs if the service says %s",
    async (_, said, status, finding) => {
      const found = await sampled(said)
      assert.deepStrictEqual([found.status, found.disagreeing], [[status], []])
      assert.match(found.findings[0]!, /^note /)
      if (finding !== undefined) assert.deepStrictEqual(found.findings, [finding])
    }
  )

  it("stops the check if the service is down", async () => {
    const failed = await sampled(new Unavailable({ message: "500", later: false })).catch(String)
    assert.match(JSON.stringify(failed), /500/)
  })

  it("is none where there are no rows, or none is wanted", async () => {
    for (const found of [await sampled(same, 0), await sampled(same, 5, "N")])
      assert.deepStrictEqual([found.sent, found.looked, found.status], [[], "0 rows of 0 tables", []])
  })
})
