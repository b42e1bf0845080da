/** Which lists are read before all others, in whatever order they are due: what they say decides about the values of others. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { ListResource } from "../../src/catalog/resource.ts"
import type { Withheld } from "../../src/catalog/withheld.ts"
import { Api } from "../../src/stages/api/api.ts"
import { extract } from "../../src/stages/extract/extract.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import type { Step } from "../../src/values/step.ts"
import { randomFrom } from "../support/random.ts"
import { contextOf, emptyWarehouse, listOf, silentApi, vaultOf } from "./fakes.ts"

const withheld: Withheld = {
  excluded: new Set(),
  hashed: new Set(),
  withoutUnknown: new Set(),
  customFields: { keys: new Set(["contact.secret"]), classes: [], classOf: {} }
}
const tables = ["businesses", "contacts", "custom_fields", "notes", "objects", "opportunities"]

/** The tables in the order of their first requests. */
const orderOf = (resources: ReadonlyArray<ListResource>) =>
  Effect.gen(function* () {
    const sent = new Set<string>()
    const api = Api.of({
      ...silentApi,
      send: ({ request: { path } }) =>
        Effect.sync(() => {
          sent.add(path.slice(1))
          const body = { [path.slice(1)]: [{ id: "a" }] }
          return { bytes: Buffer.alloc(0), body, hasBigNumbers: false, at: 0, serviceTime: undefined }
        })
    })
    const steps = resources.map((resource): Step => ({
      resource,
      mode: "full",
      embedded: [],
      refreshCutoff: undefined,
      capabilities: noCapabilities,
      childCapabilities: undefined,
      checkpoints: {}
    }))
    yield* extract(steps, contextOf(), Effect.succeed("C")).pipe(
      Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf()), emptyWarehouse))
    )
    return [...sent]
  })

it.live("the lists of objects come first, and that of custom fields if values of some are kept out of the vault", () =>
  Effect.gen(function* () {
    const random = randomFrom(7)
    for (let drawn = 0; drawn < 20; drawn++) {
      const isWithheld = drawn % 2 === 0
      const resources = tables
        .map((table) => ({ table, at: random() }))
        .toSorted((one, other) => one.at - other.at)
        .map(({ table }): ListResource => (isWithheld ? { ...listOf(table), withheld } : listOf(table)))
      const first = ["businesses", ...(isWithheld ? ["custom_fields"] : []), "objects"]
      const order = yield* orderOf(resources)
      assert.sameMembers(order, tables)
      assert.sameMembers(order.slice(0, first.length), first)
    }
  })
)
