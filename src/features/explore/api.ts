/** What the page requests: the tables, rows of a query, a chart, a file, and saved queries. */
import * as Effect from "effect/Effect"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseError, download, slots } from "./database.ts"
import { withinSpace } from "./download-space.ts"
import { limits } from "./limits.ts"
import type { DownloadFormat } from "./messages.ts"
import type { Release, Releases, Shown } from "./releases.ts"
import { chartOf, questions, saveQuery, savedQueries } from "./saved-queries.ts"
import { type Body, HttpError, type Routes, attempt, attemptToEnd, fileResponse } from "../../network/server.ts"
import { removeBelow } from "../../output/remove.ts"

interface Parts {
  readonly releases: Releases
  readonly shownOf: (release: Release) => Shown
  /** The folder of the saved queries. */
  readonly queries: string
}

/** JSON can take six bytes for one. */
const bytes = 6 * limits.sqlBytes

export const apiRoutes = ({ queries, releases, shownOf }: Parts): Routes<unknown> => {
  const free = slots(limits.queries)
  const ofQuery = {
    right: "reader",
    bytes,
    cost: <A>(signal: AbortSignal, run: () => Promise<A>) =>
      free(signal, run).catch((cause: unknown) => {
        throw refusalOf(cause)
      })
  } as const
  const releaseOf = ({ id, writtenAt }: Release) => ({ id, ...(writtenAt !== undefined && { writtenAt }) })
  const shown = (part: keyof Shown) => () =>
    fromDatabase(async () => {
      const release = await releases.current()
      return { release: releaseOf(release), ...(await shownOf(release)[part]) }
    })
  return {
    "GET /api/release": {
      right: "reader",
      answer: () => fromDatabase(async () => ({ release: releaseOf(await releases.current()) }))
    },
    "GET /api/tables": { right: "reader", answer: shown("tables") },
    "GET /api/catalog": { right: "reader", answer: shown("catalog") },
    "POST /api/query": {
      ...ofQuery,
      answer: ({ body }) =>
        fromDatabase(async (signal) => {
          const release = await releases.current()
          const started = performance.now()
          const result = await release.database.query(textOf(body, "sql"), signal)
          return { release: releaseOf(release), ...result, elapsedMs: Math.round(performance.now() - started) }
        })
    },
    "POST /api/chart": {
      right: "reader",
      bytes,
      answer: ({ body }) =>
        fromDatabase(async () => {
          const [{ chartSvg }, { wrongSum }] = await Promise.all([import("./chart.ts"), import("./sums.ts")])
          const wrong = await wrongSum(body, async () => (await shownOf(await releases.current()).catalog).tables)
          if (wrong !== undefined) throw new HttpError(400, "sum", wrong)
          return { svg: chartSvg(body) }
        })
    },
    "POST /api/download": {
      ...ofQuery,
      answer: Effect.fnUntraced(function* ({ body }) {
        const format = yield* attempt(() => formatOf(body))
        // Until it was sent.
        const folder = yield* Effect.acquireRelease(
          attempt(() => mkdtemp(join(tmpdir(), "sluice-explore-"))),
          (path) => Effect.promise(() => removeBelow(tmpdir(), path))
        )
        const file = join(folder, `result.${format}`)
        yield* fromDatabase(async (signal) => {
          const release = await releases.current()
          const order = { sql: textOf(body, "sql"), format, file }
          await withinSpace(folder, signal, (bounded) => download(release, order, bounded))
        })
        return yield* fileResponse(file, `result.${format}`)
      })
    },
    "GET /api/queries": {
      right: "reader",
      answer: () => attempt(async () => ({ folder: queries, queries: await savedQueries(queries) }))
    },
    "GET /api/questions": { right: "reader", answer: () => attempt(async () => ({ questions: await questions() })) },
    "POST /api/queries": {
      bytes,
      answer: ({ body }) =>
        attempt(async () => {
          const chart = chartOf(body["chart"])
          if (body["chart"] !== undefined && chart === undefined)
            throw new HttpError(400, "request", "chart has kind, x, y and by.")
          const saved = { name: textOf(body, "name"), sql: textOf(body, "sql"), chart }
          await saveQuery(queries, saved, body["replace"] === true)
          return {}
        })
    }
  }
}

/** What the database answers; what is aborted is waited for. */
const fromDatabase = <A>(run: (signal: AbortSignal) => Promise<A>) => Effect.mapError(attemptToEnd(run), refusalOf)

const refusalOf = (cause: unknown) =>
  cause instanceof DatabaseError ? new HttpError(statuses[cause.code], cause.code, cause.message) : cause
const statuses = { refused: 403, sql: 400, memory: 507, time: 504, stopped: 499, failed: 503, ended: 503 } as const

/** A text of the request body, of at most the bytes of a query. */
const textOf = (body: Body, field: string): string => {
  const value = body[field]
  if (typeof value !== "string") throw new HttpError(400, "request", `${field} is not a text.`)
  if (Buffer.byteLength(value) > limits.sqlBytes)
    throw new HttpError(413, "too large", `A query has at most ${limits.sqlBytes.toLocaleString("en-US")} bytes.`)
  return value
}

const formatOf = ({ format }: Body): DownloadFormat => {
  if (format === "csv" || format === "parquet" || format === "xlsx") return format
  throw new HttpError(400, "request", "format is csv, parquet or xlsx.")
}
