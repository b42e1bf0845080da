import type { IncomingMessage, ServerResponse } from "node:http"
import { once } from "node:events"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { setTimeout } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { type FileContent, bytesOf } from "./contents.ts"
import type { Files } from "./files.ts"
import type { Link } from "./links.ts"
import { announcedType, hasRanges, headersOf } from "./validators.ts"

/** A request for a link that exists. */
export interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly link: Link
  readonly content: FileContent
}

/** An error as storage hosts send it. */
export const fail = (response: ServerResponse, status: number, code: string, message: string): void => {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  response.writeHead(status, { "Content-Type": "application/xml", "Content-Length": Buffer.byteLength(body) })
  response.end(response.req.method === "HEAD" ? undefined : body)
}

/** Answers a link in its own manner. False if it is answered like any other. */
export const sendTrouble = async (received: Received, files: Files): Promise<boolean> => {
  const { link, path, request, response } = received
  switch (link.trouble) {
    case "missing":
      fail(response, 404, "NoSuchKey", "The specified key does not exist.")
      return true
    case "removed":
      fail(response, 410, "Removed", "The file was deleted.")
      return true
    case "forbidden":
      fail(response, 403, "AccessDenied", "Access denied.")
      return true
    case "flaky":
      if (countOf(path, files) > 2) return false
      fail(response, 500, "InternalError", "We encountered an internal error. Please try again.")
      return true
  }
  if (request.method === "HEAD") return false
  switch (link.trouble) {
    case "cut":
      if (countOf(path, files) > 1) return false
      await sendHalf(received, files)
      return true
    case "slow":
      await sendSlowly(received, files)
      return true
    case "short":
      await sendTooLittle(received, files)
      return true
    case "bomb":
      await sendBomb(received, files)
      return true
    case "endless":
      await sendForever(received, files)
      return true
    case "stall":
      response.writeHead(200, { "Content-Type": announcedType(link, received.content) }).flushHeaders()
      await once(response, "close")
      return true
    default:
      return false
  }
}

/** The number of this request among those for its link. */
const countOf = (path: string, { seen }: Files): number => {
  const count = (seen.get(path) ?? 0) + 1
  seen.set(path, count)
  return count
}

const begin = ({ content, link, response }: Received, files: Files, length: number, ranges = hasRanges(link)): void => {
  files.statistics.bodies++
  response.writeHead(200, {
    ...headersOf(link, content, files),
    ...(!ranges && { "Accept-Ranges": "none" }),
    "Content-Length": length
  })
}

const sendHalf = async (received: Received, files: Files): Promise<void> => {
  const { content, request, response } = received
  begin(received, files, content.bytes)
  const half = Buffer.concat([...bytesOf(content, 0, Math.floor(content.bytes / 2))])
  await new Promise((resolve) => response.write(half, resolve))
  // A reset would discard what the client has not read.
  request.socket.destroySoon()
}

const sendSlowly = async (received: Received, files: Files): Promise<void> => {
  const { content, response } = received
  begin(received, files, content.bytes, false)
  const step = Math.ceil(content.bytes / slowSteps)
  for (let at = 0; at < content.bytes && !response.destroyed; at += step) {
    response.write(Buffer.concat([...bytesOf(content, at, Math.min(content.bytes, at + step))]))
    await setTimeout(slowStepMs)
  }
  response.end()
}

const slowSteps = 10
const slowStepMs = 100

const sendTooLittle = async (received: Received, files: Files): Promise<void> => {
  const { content, request, response } = received
  begin(received, files, content.bytes + 1000, false)
  await new Promise((resolve) => response.write(Buffer.concat([...bytesOf(content)]), resolve))
  request.socket.destroySoon()
}

/** Members of a megabyte each, which inflate one after the other. */
const sendBomb = async ({ content, response }: Received, { statistics }: Files): Promise<void> => {
  statistics.bodies++
  bombMember ??= gzipSync(Buffer.alloc(1_048_576))
  const bomb = Buffer.concat(Array.from({ length: 1024 }, () => bombMember!))
  response.writeHead(200, {
    "Content-Type": content.type,
    "Content-Encoding": "gzip",
    "Content-Length": bomb.length
  })
  response.end(bomb)
}

let bombMember: Buffer | undefined

const sendForever = async ({ content, response }: Received, { statistics }: Files): Promise<void> => {
  statistics.bodies++
  response.writeHead(200, { "Content-Type": content.type })
  // The pipeline fails when the client leaves, which is the only end.
  await pipeline(Readable.from(again()), response)
}

function* again(): Generator<Buffer> {
  const part = Buffer.alloc(65_536, "again ")
  for (;;) yield part
}
