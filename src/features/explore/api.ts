/** What the page requests: the tables, rows of a query, a chart, a file, and saved queries. */
import type { ServerResponse } from "node:http"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { download } from "./database.ts"
import { withinSpace } from "./download-space.ts"
import { type Body, HttpError, sendFile, textOf } from "./http.ts"
import { limits } from "./limits.ts"
import type { DownloadFormat } from "./messages.ts"
import type { Release, Releases } from "./releases.ts"
import { saveQuery, savedQueries } from "./saved-queries.ts"
import { slots } from "./slots.ts"

interface Call {
  readonly body: Body
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal
  readonly response: ServerResponse
}

/** A handler returns what is sent as JSON, or nothing if it has sent the answer. */
export type Api = ReadonlyMap<string, (call: Call) => Promise<unknown>>

/** By method and path. `downloads`: those that are running, each with a temporary file. */
export const apiRoutes = (releases: Releases, queries: string, downloads: Set<Promise<unknown>>): Api => {
  const free = slots(limits.queries)
  const releaseOf = ({ id, writtenAt }: Release) => ({ id, ...(writtenAt !== undefined && { writtenAt }) })
  return new Map<string, (call: Call) => Promise<unknown>>([
    ["GET /api/release", async () => ({ release: releaseOf(await releases.current()) })],
    [
      "GET /api/catalog",
      async ({ signal }) => {
        const release = await releases.current()
        return { release: releaseOf(release), tables: await release.database.catalog(signal), limits }
      }
    ],
    [
      "POST /api/query",
      ({ body, signal }) =>
        free(async () => {
          const release = await releases.current()
          const started = performance.now()
          const result = await release.database.query(textOf(body, "sql"), signal)
          return { release: releaseOf(release), ...result, elapsedMs: Math.round(performance.now() - started) }
        })
    ],
    [
      "POST /api/chart",
      async ({ body }) => {
        const { chartSvg } = await import("./chart.ts")
        return { svg: await chartSvg(body) }
      }
    ],
    [
      "POST /api/download",
      ({ body, signal, response }) =>
        free(async () => {
          const release = await releases.current()
          const format = formatOf(body)
          const sql = textOf(body, "sql")
          await tracked(downloads, async () => {
            const folder = await mkdtemp(join(tmpdir(), "sluice-explore-"))
            try {
              const file = join(folder, `result.${format}`)
              await withinSpace(folder, signal, (bounded) => download(release, { sql, format, file }, bounded))
              response.setHeader("content-disposition", `attachment; filename="result.${format}"`)
              await sendFile(response, file)
            } finally {
              await rm(folder, { recursive: true, force: true })
            }
          })
        })
    ],
    ["GET /api/queries", async () => ({ folder: queries, queries: await savedQueries(queries) })],
    [
      "POST /api/queries",
      async ({ body }) => {
        await saveQuery(queries, { name: textOf(body, "name"), sql: textOf(body, "sql") }, body["replace"] === true)
        return {}
      }
    ]
  ])
}

const formatOf = ({ format }: Body): DownloadFormat => {
  if (format === "csv" || format === "parquet" || format === "xlsx") return format
  throw new HttpError(400, "request", "format is csv, parquet or xlsx.")
}

const tracked = async (running: Set<Promise<unknown>>, run: () => Promise<void>): Promise<void> => {
  const one = run()
  running.add(one)
  try {
    await one
  } finally {
    running.delete(one)
  }
}
