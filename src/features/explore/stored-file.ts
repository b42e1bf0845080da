/**
 * Sends a file of the output folder that a row of the release names. It may be anything that a stranger has sent, so a browser
 * stores it; only pictures are shown, and nothing in them may run or load.
 */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { basename, dirname, extname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { isStoredPath } from "../../output/stored-files.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { HttpError } from "./http.ts"
import type { Releases } from "./releases.ts"

const pictures: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp"
}

/** `published`: the folder beside that of the files. `pathname`: as in the table, with a slash before it. */
export const sendStored = async (
  response: ServerResponse,
  releases: Releases,
  published: string,
  pathname: string,
  signal: AbortSignal
): Promise<void> => {
  const path = pathname.slice(1)
  if (!isStoredPath(path) || !(await isNamed(releases, path, signal))) throw notFound()
  const file = join(dirname(published), path)
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) throw notFound()
  const picture = pictures[extname(path)]
  response.writeHead(200, {
    "content-type": picture ?? "application/octet-stream",
    "content-length": found.size,
    "content-disposition": `${picture ? "inline" : "attachment"}; filename="${basename(path)}"`,
    "content-security-policy": "sandbox; default-src 'none'"
  })
  await pipeline(createReadStream(file), response).catch(() => {})
}

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

const notFound = () => new HttpError(404, "not found", "The release has no such file.")
