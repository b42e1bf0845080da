/** Requests and answers of the server. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { extname } from "node:path"
import { pipeline } from "node:stream/promises"
import { DatabaseError } from "./database.ts"
import { limits } from "./limits.ts"

export class HttpError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export type Body = Readonly<Record<string, unknown>>

/** The body of a request, of at most so many bytes. */
export const bounded = async (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  let bytes = 0
  const sent: AsyncIterable<Buffer> = request
  for await (const part of sent) {
    bytes += part.length
    if (bytes > bytesMax) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The object of a request body. */
export const readJson = async (request: IncomingMessage): Promise<Body> => {
  const content = await bounded(request, bodyBytesMax)
  try {
    const body: unknown = JSON.parse(content.toString())
    if (typeof body === "object" && body !== null) return body as Body
  } catch {
    // The same as any other text that is no object.
  }
  throw new HttpError(400, "request", "The body of the request is not a JSON object.")
}

const tooLarge = () =>
  new HttpError(413, "too large", `A query has at most ${limits.sqlBytes.toLocaleString("en-US")} bytes.`)

/** JSON can take six bytes for one. */
const bodyBytesMax = 6 * limits.sqlBytes

/** A text of the request body, of at most the bytes of a query. */
export const textOf = (body: Body, field: string): string => {
  const value = body[field]
  if (typeof value !== "string") throw new HttpError(400, "request", `${field} is not a text.`)
  if (Buffer.byteLength(value) > limits.sqlBytes) throw tooLarge()
  return value
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value))
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".parquet": "application/vnd.apache.parquet",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
}

export const sendFile = async (response: ServerResponse, path: string): Promise<void> => {
  const { size } = await stat(path)
  response.writeHead(200, { "content-type": types[extname(path)]!, "content-length": size })
  // A browser that goes away ends the transfer.
  await pipeline(createReadStream(path), response).catch(() => {})
}

/** Sends the reason as JSON. An error that is not expected is a defect: only its kind is sent. */
export const sendError = (response: ServerResponse, cause: unknown): void => {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const { status, code, message } = errorOf(cause)
  sendJson(response, { error: { code, message } }, status)
}

const errorOf = (cause: unknown): { readonly status: number; readonly code: string; readonly message: string } => {
  if (cause instanceof HttpError) return cause
  if (cause instanceof DatabaseError) return { status: statuses[cause.code], code: cause.code, message: cause.message }
  return { status: 500, code: "failed", message: cause instanceof Error ? cause.message : String(cause) }
}

const statuses = { refused: 403, sql: 400, memory: 507, time: 504, stopped: 499, failed: 503, ended: 503 } as const
