/** Children are never more complete than their parents, whatever the reason. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Call, Api } from "../../src/stages/api/api.ts"
import { type ApiError, Forbidden, Unavailable } from "../../src/stages/api/errors.ts"
import { enabledPart } from "../../src/catalog/optional.ts"
import { coverageOf } from "../../src/catalog/coverage.ts"
import { type Catalogue, discover } from "../../src/catalog/discover.ts"
import { type Resource, childRequestOf } from "../../src/catalog/resource.ts"
import { extract } from "../../src/stages/extract/extract.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { sentencesOf, statusOf } from "../../src/values/status.ts"
import type { Step } from "../../src/values/step.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { type Row, Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { contextOf, silentApi, vaultOf } from "./fakes.ts"

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await discover()
})

const optional = {
  object_keys: ["k"],
  files: [],
  recurring_task_ids: ["t"],
  free_slot_days: 1,
  contact_details: true,
  conversation_messages: false,
  further_lists: true
}

/** Reads some resources of an empty account; `fails` decides which requests fail, and how. */
const extracted = (
  resources: ReadonlyArray<Resource>,
  fails: (call: Call) => ApiError | undefined,
  rows: (sql: string) => ReadonlyArray<Row> = () => []
) =>
  Effect.gen(function* () {
    const frames: Array<Frame> = []
    let requests = 0
    const api = Api.of({
      send: (call) => {
        requests++
        const body = { [call.request.path.split("/").at(-1)!]: [] }
        const answer = {
          bytes: Buffer.from(JSON.stringify(body)),
          body,
          hasBigNumbers: false,
          at: 0,
          serviceTime: undefined
        }
        return Effect.suspend(() => {
          const error = fails(call)
          return error ? Effect.fail(error) : Effect.succeed(answer)
        })
      },
      ...silentApi
    })
    const warehouse = { rows: (sql: string) => Effect.sync(() => rows(sql)) } as unknown as Warehouse["Service"]
    const steps = resources.map((resource): Step => ({
      resource,
      mode: resource.kind === "list" ? "full" : "children",
      embedded: [],
      refreshCutoff: undefined,
      capabilities: noCapabilities,
      childCapabilities: undefined,
      checkpoints: {}
    }))
    const context = contextOf({ company: "C", optional })
    const running = yield* Effect.forkChild(
      extract(steps, context, Effect.succeed("C")).pipe(
        Effect.provide(
          Layer.mergeAll(
            Layer.succeed(Api, api),
            Layer.succeed(Vault, vaultOf(frames)),
            Layer.succeed(Warehouse, warehouse)
          )
        )
      )
    )
    yield* TestClock.adjust("1 hour")
    const results = (yield* Fiber.join(running)).ended.map((result) => ({
      ...result,
      status: statusOf(result),
      warnings: sentencesOf(result)
    }))
    return { results, requests, frames }
  })

const named = (table: string) => catalogue.resources.find((resource) => resource.table === table)!
/** A resource with all its ancestors, outermost first. */
const withParents = (resource: Resource): ReadonlyArray<Resource> =>
  resource.childOf ? [...withParents(named(resource.childOf.table)), resource] : [resource]

const failures = {
  "its scope is missing": () => new Forbidden({ message: "401 The token is not authorized for this scope." }),
  "it does not respond": () => new Unavailable({ message: "500", later: false })
}

describe("if a table cannot be read", () => {
  for (const [reason, error] of Object.entries(failures))
    it.effect(`because ${reason}, its children are incomplete`, () =>
      Effect.gen(function* () {
        const withChildRequests = catalogue.resources.filter((resource) => childRequestOf(resource))
        assert.isAbove(withChildRequests.length, 10)
        for (const resource of withChildRequests) {
          const { table, label } = childRequestOf(resource)!
          const { results } = yield* extracted(withParents(resource), (call) =>
            call.resource === table && call.priority !== 0 ? error() : undefined
          )
          const statuses = new Map(results.map(({ resource, status }) => [resource, status]))
          const parents = results.filter(({ resource }) => resource === table || resource.startsWith(`${table}/`))
          assert.include(
            parents.map(({ status }) => status),
            "incomplete",
            `${table} itself`
          )
          assert.strictEqual(statuses.get(label), "incomplete", label)
        }
      })
    )

  it.effect("its children take its status from an earlier run if this run leaves it out", () =>
    Effect.gen(function* () {
      const notes = named("contact_notes")
      const statusFor = (rows: ReadonlyArray<Row>) =>
        Effect.map(
          extracted(
            [notes],
            () => undefined,
            (sql) => (sql.includes("arg_max(status") ? rows : [])
          ),
          ({ results }) => results[0]!.status
        )
      assert.strictEqual(yield* statusFor([]), "incomplete")
      assert.strictEqual(yield* statusFor([{ status: "incomplete" }]), "incomplete")
      assert.strictEqual(yield* statusFor([{ status: "complete_with_warnings" }]), "complete_with_warnings")
      assert.strictEqual(yield* statusFor([{ status: "complete" }]), "complete")
    })
  )
})

describe("an API that is down", () => {
  it.effect("ends the run after two requests, and no other request is sent", () =>
    Effect.gen(function* () {
      const { results, requests } = yield* extracted(
        ["locations", "contacts", "calendars", "forms", "contact_notes"].map(named),
        () => new Unavailable({ message: "503", later: false })
      )
      assert.deepStrictEqual([...new Set(results.map(({ reason }) => reason))], ["retryLater"])
      assert.strictEqual(requests, 2)
    })
  )

  it.effect("in the middle of a run ends all readings, to be resumed later", () =>
    Effect.gen(function* () {
      const { results } = yield* extracted(
        ["locations", "blogs", "calendars", "forms"].map(named),
        ({ resource, priority }) =>
          resource === "locations" && priority !== 0 ? undefined : new Unavailable({ message: "503", later: false })
      )
      assert.deepStrictEqual(
        results.map(({ resource, reason }) => [resource, reason]).sort(),
        [
          ["calendars", "retryLater"],
          ["blogs", "retryLater"],
          ["forms", "retryLater"],
          ["locations", undefined]
        ].sort()
      )
    })
  )

  it.effect("is distinguished from a single resource that does not respond", () =>
    Effect.gen(function* () {
      const { results } = yield* extracted(["locations", "calendars", "forms"].map(named), ({ resource, priority }) =>
        resource === "forms" && priority !== 0 ? new Unavailable({ message: "500", later: false }) : undefined
      )
      const forms = results.find(({ resource }) => resource === "forms")!
      assert.deepStrictEqual([forms.status, forms.reason], ["incomplete", undefined])
      assert.strictEqual(results.find(({ resource }) => resource === "calendars")!.reason, undefined)
    })
  )
})

describe("children that are read for some parents only", () => {
  const some = (n: number) => (sql: string) =>
    sql.includes("arg_max(status") ? [{ status: "complete" }] : sql.includes("IS NOT TRUE") ? [{ n }] : []

  it.effect("are complete, as the plan says what the settings leave out", () =>
    Effect.gen(function* () {
      const messages = enabledPart(named("messages"), optional)!
      assert.isDefined(messages.childOf!.where)
      const { results } = yield* extracted([messages], () => undefined, some(12))
      const { status, warnings } = results.find(({ resource }) => resource === "messages/conversations")!
      assert.deepStrictEqual([status, warnings], ["complete", []])
    })
  )

  it.effect("are read for all parents if the setting is on", () =>
    Effect.gen(function* () {
      const messages = enabledPart(named("messages"), { ...optional, conversation_messages: true })!
      assert.isUndefined(messages.childOf!.where)
      const { results } = yield* extracted([messages], () => undefined, some(12))
      assert.strictEqual(results.find(({ resource }) => resource === "messages/conversations")!.status, "complete")
      const [covered] = coverageOf(catalogue).filter(({ operation }) => operation.endsWith("{conversationId}/messages"))
      assert.match(covered!.reason, /SLUICE_CONVERSATION_MESSAGES/)
    })
  )
})
