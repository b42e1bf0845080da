/** What the page requests: the tables, rows of a query, a chart, a file, and saved queries. */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { download, slots } from "./database.ts"
import { withinSpace } from "./download-space.ts"
import { type Body, HttpError, sendFile, textOf } from "./http.ts"
import { limits } from "./limits.ts"
import type { DownloadFormat } from "./messages.ts"
import type { Release, Releases, Shown } from "./releases.ts"
import { chartOf, questions, saveQuery, savedQueries } from "./saved-queries.ts"
import type { Api, Call } from "./web-server.ts"
import { removeBelow } from "../../output/remove.ts"

interface Parts {
  readonly releases: Releases
  readonly shownOf: (release: Release) => Shown
  /** The folder of the saved queries. */
  readonly queries: string
  /** Those that are running, each with a temporary file. */
  readonly downloads: Set<Promise<unknown>>
}

/** By method and path. */
export const apiRoutes = ({ shownOf, downloads, queries, releases }: Parts): Api => {
  const free = slots(limits.queries)
  const releaseOf = ({ id, writtenAt }: Release) => ({ id, ...(writtenAt !== undefined && { writtenAt }) })
  return new Map<string, (call: Call) => Promise<unknown>>([
    ["GET /api/release", async () => ({ release: releaseOf(await releases.current()) })],
    ...(["tables", "catalog"] as const).map(
      (part) =>
        [
          `GET /api/${part}`,
          async () => {
            const release = await releases.current()
            return { release: releaseOf(release), ...(await shownOf(release)[part]) }
          }
        ] as const
    ),
    [
      "POST /api/query",
      ({ body, signal }) =>
        free(signal, async () => {
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
        return { svg: chartSvg(body) }
      }
    ],
    [
      "POST /api/download",
      ({ body, signal, response }) =>
        free(signal, async () => {
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
              await removeBelow(tmpdir(), folder)
            }
          })
        })
    ],
    ["GET /api/queries", async () => ({ folder: queries, queries: await savedQueries(queries) })],
    ["GET /api/questions", async () => ({ questions: await questions() })],
    [
      "POST /api/queries",
      async ({ body }) => {
        const chart = chartOf(body["chart"])
        if (body["chart"] !== undefined && chart === undefined)
          throw new HttpError(400, "request", "chart has kind, x, y and by.")
        const saved = { name: textOf(body, "name"), sql: textOf(body, "sql"), chart }
        await saveQuery(queries, saved, body["replace"] === true)
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
