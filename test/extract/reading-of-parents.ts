/** Reads the children of parents of which some cannot be read, with a service and a warehouse in memory. */
import { Deferred, Effect, Exit, Layer } from "effect"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type ChildOf, childRequestOf, defineChild, defineList, onTrial } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { refusalIn } from "../../src/stages/api/author.ts"
import { type ApiError, RequestRejected } from "../../src/stages/api/errors.ts"
import { readChildren } from "../../src/stages/extract/children.ts"
import type { PageEntry } from "../../src/stores/vault/entry.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { contextOf, silentApi, vaultOf } from "./fakes.ts"

const common = { description: "d", source: "s", scope: "s" }
const strategy = {
  request: get("/things/{thingId}/notes"),
  paging: { kind: "once" },
  records: "notes",
  pageSize: 10
} as const
const things = defineList({
  ...common,
  table: "things",
  full: [strategy],
  getOne: { request: get("/things/{thingId}"), record: "" },
  detail: {
    refreshAfter: "1 day",
    fields: { link: text("Link"), content: text("Content of the link") },
    linked: { url: "link", as: "content" }
  },
  fields: { id: id("Id") }
})
const notesOf = (more: Partial<ChildOf> = {}) =>
  defineChild({
    ...common,
    table: "notes",
    childOf: { table: "things", column: "thing_id", refreshAfter: "1 day", strategy, ...more },
    fields: { id: id("Id") }
  })

/** The service itself rejects a request, in any words. */
export const rejects = (message: string, status = 404, more: object = {}) => {
  const body = Buffer.from(JSON.stringify({ statusCode: status, message, ...more }))
  return new RequestRejected({ status, message, refusal: refusalIn(status, body, undefined) })
}
/** As it rejects the request for an id that was never issued. */
export const gone = (n: number) => rejects(`Anything about t${n}`)

const answered = (body: object) => ({
  bytes: Buffer.alloc(0),
  body,
  hasBigNumbers: false,
  at: 0,
  serviceTime: undefined
})

interface Given extends Partial<ChildOf> {
  /** Details of the things are read, and no notes. */
  readonly details?: true
  /** No account has shown the notes yet. */
  readonly isTrial?: true
  /** The service does not know the things either. */
  readonly isGone?: true
  /** Meanwhile, their list has shown that these are deleted. */
  readonly isDeleted?: (n: number) => boolean
  /** Each rejection has the next of these, and the last one from then on. */
  readonly traces?: ReadonlyArray<string>
}

/** Reads the notes of so many due things; `fails` says of which, by their number, they cannot be read. */
export const reading = (
  parents: number,
  fails: (n: number) => ApiError | undefined,
  { details, isDeleted = () => false, isGone, isTrial, traces, ...more }: Given = {}
) =>
  Effect.gen(function* () {
    const [frames, sent, asked] = [[] as Array<Frame>, [] as Array<number>, [] as Array<number>]
    const notes = isTrial ? onTrial(notesOf(more)) : notesOf(more)
    const read = details ? things : notes
    const requestsByResource = new Map<string, number>()
    const left = [...(traces ?? [])]
    const api = Api.of({
      ...silentApi,
      requestsByResource,
      // One of the texts cannot be fetched.
      linked: (link) => Effect.succeed(link.endsWith("/1") ? undefined : `text of ${link}`),
      send: ({ request, resource }) =>
        Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
          const one = request.path.split("/")[2]!
          const n = Number(/\d+/.exec(one)?.[0])
          if (request.path.startsWith("/locations/")) return Effect.succeed(answered({}))
          const isAsked = !details && !request.path.endsWith("/notes")
          const isIssued = one === `t${n}`
          if (isIssued) (isAsked ? asked : sent).push(n)
          requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
          const traced = () =>
            rejects(`Anything about ${one}`, 404, { traceId: left.length > 1 ? left.shift() : left[0] })
          const error = !isIssued
            ? traces
              ? traced()
              : rejects(`Anything about ${one}`)
            : traces && fails(n)
              ? traced()
              : isAsked
                ? isGone
                  ? gone(n)
                  : undefined
                : fails(n)
          return error
            ? Effect.fail(error)
            : Effect.succeed(
                answered(isAsked || details ? { id: `t${n}`, link: `https://host/${n}` } : { notes: [{ id: `n${n}` }] })
              )
        })
    })
    const due = Array.from({ length: parents }, (_, n) => ({ id: `t${n}`, version: "1", full: true, checkpoint: null }))
    const rows = (sql: string) => {
      const done = new Set(
        frames
          .flatMap(({ entry }) => (entry as PageEntry).parent ?? [])
          .filter(({ done }) => done)
          .map(({ id }) => id)
      )
      if (sql.includes("absent ON")) return isGone ? [] : [{ _key: "t500", _explained: false, id: "t500" }]
      if (sql.includes("FILTER (WHERE"))
        return [
          {
            label: read === things ? "things/details" : "notes",
            due: due.filter(({ id }) => !done.has(id)).length,
            oldestFetch: null
          }
        ]
      if (sql.includes("AS wanted ON"))
        return due.filter(({ id }) => sql.includes(`'${id}'`) && !isDeleted(Number(id.slice(1))))
      const [, limit] = /LIMIT (\d+)/.exec(sql) ?? []
      if (limit !== undefined) return due.filter(({ id }) => !done.has(id)).slice(0, Number(limit))
      return sql.includes("min(") ? [{ at: null }] : []
    }
    const warehouse = { rows: (sql: string) => Effect.sync(() => rows(sql)) } as unknown as Warehouse["Service"]
    const parentsRead = yield* Deferred.make<void>()
    yield* Deferred.succeed(parentsRead, undefined)
    const planned = { childCapabilities: undefined, refreshCutoff: undefined, parents: undefined }
    const known = { ...contextOf().known, hasNoDeleted: () => true, hasMissing: () => false }
    const exit = yield* readChildren(
      read,
      childRequestOf(read)!,
      planned as never,
      parentsRead,
      contextOf({ resources: [things, notes], known })
    ).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.succeed(Api, api),
          Layer.succeed(Vault, vaultOf(frames)),
          Layer.succeed(Warehouse, warehouse)
        )
      ),
      Effect.exit
    )
    const noted = frames.flatMap(({ entry }) => (entry as PageEntry).parent ?? [])
    const stored = noted.filter(({ done }) => done)
    return {
      sent,
      asked,
      frames: frames.filter(({ entry }) => (entry as PageEntry).parent?.done !== false),
      stored,
      noted,
      outcome: Exit.isSuccess(exit) ? exit.value : undefined,
      failure: Exit.isFailure(exit) ? JSON.stringify(exit) : undefined
    }
  })
