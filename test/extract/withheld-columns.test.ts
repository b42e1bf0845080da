/** Every field of every record holds a word of its own; the vault has those words only that the settings do not keep out. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { neededColumns } from "../../src/catalog/needed-columns.ts"
import { placesOf as fieldPlacesOf } from "../../src/catalog/field-places.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { withheldIn } from "../../src/catalog/withheld.ts"
import { withoutWithheld } from "../../src/stages/extract/withheld-columns.ts"
import type { ListResource } from "../../src/catalog/resource.ts"
import { text } from "../../src/catalog/fields.ts"
import { Api } from "../../src/stages/api/api.ts"
import { read } from "../../src/stages/extract/list.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { beginning } from "../../src/stores/vault/position.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { contextOf, emptyWarehouse, silentApi, vaultOf } from "./fakes.ts"
import { listOf, paged } from "./service.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { placesOf } from "../support/every-byte.ts"
import { newFolder } from "../support/sluice.ts"
import { type Settings, catalogue, excluding, key, resourcesWith } from "../support/withheld.ts"
import { type Words, appendWorded, wordPattern, wordedPerson } from "../support/worded.ts"

/**
 * Compares the words in the vault with what the catalogue says is kept out. Returns the columns that are wrong, and how many are
 * kept out.
 */
const comparedWith = async (settings: Settings) => {
  const resources = resourcesWith(settings)
  const [folder, words] = [newFolder(), new Map() as Words]
  const vault = withoutWithheld(Vault.layer(join(folder, "vault")), resources, key)
  const warehouse = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })
  await Effect.runPromise(
    appendWorded({ ...catalogue, resources }, { id: "run", at: Date.UTC(2026, 0, 31) }, [wordedPerson], words).pipe(
      Effect.provide(Layer.provide(vault, warehouse))
    )
  )
  const found = await placesOf([join(folder, "vault")], wordPattern)
  rmSync(folder, { recursive: true })
  const wordsByField = Map.groupBy(words, ([, field]) => field.replace(/^person run /, ""))
  const isFound = (field: string) => wordsByField.get(field)!.some(([word]) => found.has(word))
  const [wrong, out] = [[] as Array<string>, new Set<string>()]
  for (const resource of resources.filter(({ withheld }) => !withheld!.isNotRead))
    for (const { column, table, inside } of fieldPlacesOf(resource).columns) {
      const field = `${resource.table}.${table === resource.table ? "" : `${table}.`}${column}`
      if (inside || !wordsByField.has(field)) continue
      const isOut = withheldIn(resource.withheld!, table, column) !== undefined
      if (isOut) out.add(field)
      if (isOut === isFound(field)) wrong.push(field)
    }
  return { wrong, out, isFound, fields: [...wordsByField.keys()] }
}

/** Every column that the settings may keep out. */
const removable = (() => {
  const needed = neededColumns(catalogue.resources)
  return catalogue.resources
    .flatMap((resource) => tablesOf(resource))
    .flatMap(({ name: table, columns }) =>
      columns.flatMap(({ name, type }) =>
        type === "system" || needed.has(`${table}.${name}`) ? [] : [{ table, name }]
      )
    )
})()
const byTable = (columns: typeof removable) =>
  [...Map.groupBy(columns, ({ table }) => table)].map(
    ([name, columns]) => [name, columns.map((column) => column.name)] as const
  )

describe("a column that is kept out", () => {
  it.each([0, 1])("has no word in the vault, and every other column has: half %i", async (half) => {
    const chosen = removable.filter((_, index) => index % 2 === half)
    const { out, wrong } = await comparedWith({
      tables: byTable(chosen).map(([name, exclude]) => ({ name, exclude }))
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(out.size, 200)
  })

  it("leaves no unknown field of its table, whatever its name", async () => {
    const { fields, isFound } = await comparedWith({ tables: [{ name: "contacts", exclude: ["ssn"] }] })
    const unknown = fields.filter((field) => /^contacts\..*unknown/.test(field))
    assert.isAbove(unknown.length, 10)
    assert.deepStrictEqual(
      unknown.filter((field) => isFound(field)),
      []
    )
  })

  it("may be all but the named ones, and then no unknown field is stored", async () => {
    const { fields, isFound, out, wrong } = await comparedWith({
      tables: [{ name: "contacts", only: ["first_name", "contact_tags"] }]
    })
    assert.deepStrictEqual(wrong, [])
    assert.include([...out], "contacts.last_name")
    assert.isFalse(isFound("contacts.contact_emails.valid_email"))
    assert.isTrue(isFound("contacts.first_name"))
    const left = fields.filter((field) => field.startsWith("contacts.") && isFound(field))
    const tags = ["contacts.contact_tags.tag", "contacts.tags[1]"]
    assert.deepStrictEqual(left.toSorted(), [...tags, "contacts.date_updated", "contacts.first_name"].toSorted())
  })

  it.each([["sensitive"], ["direct"], ["content"], ["financial"], ["quasi"]] as const)(
    "may be any of a class of personal data: %s",
    async (one) => {
      const { wrong } = await comparedWith({ excludeClasses: [one] })
      // While the custom fields of the location are not known, all values are kept out.
      const known = wrong.filter((field) => one !== "direct" || !/_(custom|record)_values\./.test(field))
      assert.deepStrictEqual(known, [])
      const resources = resourcesWith({ excludeClasses: [one] })
      const left = resources.flatMap((resource) =>
        tablesOf(resource).flatMap(({ name, columns }) =>
          columns
            .filter(
              (column) =>
                column.personal === one &&
                column.name !== "_extra" &&
                column.role !== "customValue" &&
                column.withheld === undefined
            )
            .map((column) => `${name}.${column.name}`)
        )
      )
      assert.deepStrictEqual(left, [])
    }
  )
})

it.effect("are not in a checkpoint either, which has what identifies a record without an id", () =>
  Effect.gen(function* () {
    const list = listOf([paged], { fields: { ...listOf([]).fields, secret: text("A secret") } })
    const excluded = new Set(["items.secret"])
    const none = new Set<string>()
    const resource: ListResource = { ...list, withheld: { excluded, hashed: none, withoutUnknown: none } }
    const sent = Array.from({ length: 250 }, (_, n) =>
      n % 3 === 0 ? { at: n, secret: `secret${n}` } : n % 3 === 1 ? `secret${n}` : [{ secret: `secret${n}` }]
    )
    const pageOf = ({ limit, skip }: Readonly<Record<string, unknown>>) =>
      sent.slice(Number(skip ?? 0), Number(skip ?? 0) + Number(limit))
    const entriesOf = Effect.fnUntraced(function* (read_: ListResource) {
      const frames: Array<Frame> = []
      const api = Api.of({
        send: ({ request }) =>
          Effect.succeed({
            bytes: Buffer.alloc(0),
            body: { items: pageOf(request.parameters) },
            hasBigNumbers: false,
            at: 0,
            serviceTime: undefined
          }),
        ...silentApi
      })
      const layer = Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames)), emptyWarehouse)
      const reading = { mode: "full", checkpoints: {}, capabilities: noCapabilities } as const
      yield* read(read_, reading, contextOf({ resources: [read_] })).pipe(Effect.provide(layer))
      return JSON.stringify(frames.map(({ entry }) => entry))
    })
    assert.notInclude(yield* entriesOf(resource), "secret")
    assert.include(yield* entriesOf(list), "secret")
  })
)

it.effect("leave every digit of the other numbers, and responses without them byte for byte", () =>
  Effect.gen(function* () {
    const folder = newFolder()
    const resources = resourcesWith(excluding("contacts", "ssn"))
    const entry = (resource: string, records: string): Frame["entry"] => ({
      kind: "page",
      run: "r",
      at: 0,
      location: "L",
      resource,
      partition: "all",
      request: {},
      records,
      hasBigNumbers: true,
      checkpoint
    })
    const sent = `{ "contacts": [ {"id":"1", "ssn":"x","ssn":"y", "customFields":[{"id":"f","value":12345678901234567890.120}], "ssn":"x"} ], "meta":{"ssn":"x"}}`
    const other = `{ "users": [ {"id":"1", "ssn":"x", "n":12345678901234567890.120} ]}`
    const warehouse = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })
    const frames = yield* Effect.gen(function* () {
      const vault = yield* Vault
      yield* vault.append({ entry: entry("contacts", "contacts"), body: sent })
      yield* vault.append({ entry: entry("users", "users"), body: other })
      return (yield* vault.read(beginning, 1_000_000)).frames
    }).pipe(
      Effect.provide(
        Layer.provide(withoutWithheld(Vault.layer(join(folder, "vault")), resources, undefined), warehouse)
      )
    )
    rmSync(folder, { recursive: true })
    assert.deepStrictEqual(
      frames.map(({ body }) => body),
      [`{"contacts":[{"id":"1","customFields":[{"id":"f","value":12345678901234567890.120}]}]}`, other]
    )
    assert.deepInclude(frames[0]!.entry, { withheld: ["contacts.ssn"] })
  })
)
