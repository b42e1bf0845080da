/** What a reading needs, in memory. */
import { Signal } from "../../src/values/signal.ts"
import { Effect, Layer } from "effect"
import { id } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import type { RunContext } from "../../src/stages/extract/run-context.ts"
import { ServiceClock } from "../../src/stages/api/service-clock.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { nothingOptional } from "../support/optional.ts"

/** A list of one page, at the path of its name. */
export const listOf = (table: string) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get(`/${table}`), paging: { kind: "once" }, records: table, pageSize: 10 }],
    fields: { id: id("Id") }
  })

/** The context of a run that never waits for the load. */
export const contextOf = (more: Partial<RunContext> = {}): RunContext => ({
  counts: new Map(),
  cuts: new Set(),
  run: "run1",
  location: "L",
  company: undefined,
  backpressure: Effect.void,
  loaded: Effect.void,
  nextCommit: () => Effect.never,
  known: { commitsOf: () => 0, hasSeenAll: () => false, hasNoDeleted: () => false, hasMissing: () => true },
  optional: nothingOptional,
  resources: [],
  deletionShareMax: 0.3,
  removed: new Map(),
  readInFull: new Set(),
  missingPartitions: new Map(),
  answers: new Map(),
  shapes: new Map(),
  folder: "",
  files: undefined,
  ...more
})

/** A write-only vault that appends to `frames`. */
export const vaultOf = (frames: Array<Frame> = []): Vault["Service"] =>
  Vault.of({
    append: (frame) => Effect.sync(() => void frames.push(frame)),
    read: (next) => Effect.succeed({ frames: [], next, bytes: 0 }),
    seal: Effect.void,
    appendedBytes: () => 0,
    grown: new Signal(),
    end: () => ({ segment: 1, offset: 0 })
  })

/** The members of an API besides `send`. */
export const silentApi = {
  sendAhead: () => Effect.void,
  serviceClock: new ServiceClock(),
  linked: () => Effect.succeed(undefined),
  download: () => Effect.succeed({ status: "failed", reason: "no files here" } as const),
  requestsByResource: new Map<string, number>(),
  responseMs: () => 0,
  recent: Effect.succeed({ burst: 1, windowMs: 1, answered: [] }),
  usage: () => ({ burst: 1, windowMs: 1, inWindow: 0, dailyRemaining: undefined })
}

/** A warehouse without rows. */
export const emptyWarehouse = Layer.succeed(Warehouse, {
  rows: () => Effect.succeed([])
} as unknown as Warehouse["Service"])

/** What the client returns for a response with this body. */
export const answerOf = (body: unknown) => ({
  bytes: Buffer.alloc(0),
  body,
  hasBigNumbers: false,
  at: 0,
  serviceTime: undefined
})
