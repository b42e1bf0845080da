/** What the page requests: the tables, rows of a query, a chart, a file, and saved queries. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseError, download, slots } from "./database.ts"
import { withinSpace } from "./download-space.ts"
import { limits } from "./limits.ts"
import type { Release, Releases, Shown } from "./releases.ts"
import { ChartOrder, SavedChart } from "./chart-order.ts"
import { questions, saveQuery, savedQueries } from "./saved-queries.ts"
import { HttpError, type Routes, attempt, attemptToEnd, fileResponse, withBody } from "../../network/server.ts"
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
      answer: withBody(Schema.Struct({ sql: Sql }), ({ sql }) =>
        fromDatabase(async (signal) => {
          const release = await releases.current()
          const started = performance.now()
          const result = await release.database.query(sql, signal)
          return { release: releaseOf(release), ...result, elapsedMs: Math.round(performance.now() - started) }
        })
      )
    },
    "POST /api/chart": {
      right: "reader",
      bytes,
      answer: withBody(ChartOrder, (order) =>
        fromDatabase(async () => {
          const [{ chartSvg }, { wrongSum }] = await Promise.all([import("./chart.ts"), import("./sums.ts")])
          const wrong = await wrongSum(order, async () => (await shownOf(await releases.current()).catalog).tables)
          if (wrong !== undefined) throw new HttpError(400, "sum", wrong)
          return { svg: chartSvg(order) }
        })
      )
    },
    "POST /api/download": {
      ...ofQuery,
      answer: withBody(
        Schema.Struct({ sql: Sql, format: Schema.Literals(["csv", "parquet", "xlsx"]) }),
        Effect.fnUntraced(function* ({ format, sql }) {
          // Until it was sent.
          const folder = yield* Effect.acquireRelease(
            attempt(() => mkdtemp(join(tmpdir(), "sluice-explore-"))),
            (path) => Effect.promise(() => removeBelow(tmpdir(), path))
          )
          const file = join(folder, `result.${format}`)
          yield* fromDatabase(async (signal) => {
            const release = await releases.current()
            await withinSpace(folder, signal, (bounded) => download(release, { sql, format, file }, bounded))
          })
          return yield* fileResponse(file, `result.${format}`)
        })
      )
    },
    "GET /api/queries": {
      right: "reader",
      answer: () => attempt(async () => ({ folder: queries, queries: await savedQueries(queries) }))
    },
    "GET /api/questions": { right: "reader", answer: () => attempt(async () => ({ questions: await questions() })) },
    "POST /api/queries": {
      bytes,
      answer: withBody(ToSave, ({ replace = false, ...query }) =>
        attempt(async () => {
          await saveQuery(queries, query, replace)
          return {}
        })
      )
    }
  }
}

/** What the database answers; what is aborted is waited for. */
const fromDatabase = <A>(run: (signal: AbortSignal) => Promise<A>) => Effect.mapError(attemptToEnd(run), refusalOf)

const refusalOf = (cause: unknown) =>
  cause instanceof DatabaseError ? new HttpError(statuses[cause.code], cause.code, cause.message) : cause
const statuses = { refused: 403, sql: 400, memory: 507, time: 504, stopped: 499, failed: 503, ended: 503 } as const

const tooLong = `A query has at most ${limits.sqlBytes.toLocaleString("en-US")} bytes.`
const Sql = Schema.String.check(Schema.makeFilter((sql) => Buffer.byteLength(sql) <= limits.sqlBytes || tooLong))
const ToSave = Schema.Struct({
  name: Schema.String,
  sql: Sql,
  chart: Schema.optionalKey(SavedChart),
  replace: Schema.optionalKey(Schema.Boolean)
})
