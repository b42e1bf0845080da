/**
 * Sends a file of the output folder that a row of the release names. It may be anything that a stranger has sent, so a browser
 * stores it; only pictures are shown, and nothing in them may run or load.
 */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { stat } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { HttpError, type Routes, attempt } from "../../network/server.ts"
import { filesName } from "../../output/paths.ts"
import { isStoredPath } from "../../output/stored-files.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import type { Releases } from "./releases.ts"

const pictures: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp"
}

/** `published`: the folder beside that of the files. An address is a path as in the table, with a slash before it. */
export const storedRoutes = (releases: Releases, published: string): Routes<unknown> => ({
  [`GET /${filesName}/*`]: {
    right: "reader",
    answer: Effect.fnUntraced(function* ({ url }) {
      const path = url.pathname.slice(1)
      const file = join(dirname(published), path)
      const isThere = yield* attempt(
        async (signal) =>
          path.startsWith(`${filesName}/`) &&
          isStoredPath(path) &&
          (await isNamed(releases, path, signal)) &&
          (await stat(file).catch(() => undefined))?.isFile()
      )
      if (!isThere) return yield* Effect.fail(new HttpError(404, "not found", "The release has no such file."))
      const picture = pictures[extname(path)]
      return yield* HttpServerResponse.file(file, {
        contentType: picture ?? "application/octet-stream",
        headers: {
          "content-disposition": `${picture ? "inline" : "attachment"}; filename="${basename(path)}"`,
          "content-security-policy": "sandbox; default-src 'none'"
        }
      })
    })
  }
})

/** A masked release names none. */
const isNamed = async (releases: Releases, path: string, signal: AbortSignal): Promise<boolean> => {
  const { database } = await releases.current()
  for (const table of ["files", "recordings"]) {
    const sql = `SELECT 1 FROM ${table} WHERE path = ${literal(path)} LIMIT 1`
    const { rows } = await database.query(sql, signal).catch(() => ({ rows: [] }))
    if (rows.length > 0) return true
  }
  return false
}
