import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type FileContent, bytesOf } from "./contents.ts"
import { type Files, contentIn, current, isSigned } from "./files.ts"
import { hopPattern, redirectOf } from "./redirects.ts"
import { linkAt } from "./links.ts"
import { checkSignature } from "./signatures.ts"
import { conditional, headersOf, rangeOf } from "./validators.ts"
import { type Received, fail, sendTrouble } from "./trouble-answers.ts"

/** Serves the files behind links. Never throws. */
export const fileListener =
  (files: Files): RequestListener =>
  (request, response) => {
    const url = URL.parse(`http://files${request.url ?? "/"}`)
    files.statistics.begin(url?.pathname ?? "invalid")
    response.on("close", () => files.statistics.end())
    // A client may leave at any time.
    response.on("error", () => {})
    const answered = url === null ? undefined : answer(request, response, url, files)
    if (answered === undefined) return fail(response, 404, "NoSuchKey", "The specified key does not exist.")
    answered.catch((error: unknown) => {
      if (request.socket.destroyed) return
      process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`)
      request.socket.destroy()
    })
  }

/** Counts the requests to an address that no client should reach. */
export const trapListener =
  ({ statistics }: Files): RequestListener =>
  (_, response) => {
    statistics.privateHits++
    response.end("This address is not public.")
  }

const answer = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  files: Files
): Promise<void> | undefined => {
  if (request.headers.authorization !== undefined) {
    files.statistics.withToken++
    return done(() =>
      fail(response, 400, "InvalidArgument", "Only one auth mechanism allowed; remove the Authorization header.")
    )
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    return done(() => fail(response, 405, "MethodNotAllowed", "Only GET and HEAD are allowed."))
  }
  const hop = hopPattern.exec(url.pathname)
  const path = hop === null ? url.pathname : url.pathname.slice(hop[0].length)
  const stored = linkAt(path)
  if (stored === undefined || stored.style === "document") return undefined
  const link = current(stored, files)
  const content = contentIn(files, link)
  if (content === undefined) return undefined
  // A redirect leads to an address that needs no signature.
  if (isSigned(link) && hop === null) {
    const status = checkSignature(path, url.searchParams, files.clock.now(), files.secret)
    if (status !== "valid") return done(() => fail(response, 403, "AccessDenied", refusals[status]))
  }
  const target = redirectOf(link, hop === null ? undefined : Number(hop[1]), path, files)
  if (target !== undefined) return done(() => void response.writeHead(target.status, { Location: target.to }).end())
  return send({ request, response, path, link, content }, files)
}

const refusals = {
  missing: "Access denied. The link is not signed.",
  wrong: "The request signature we calculated does not match the signature you provided.",
  expired: "Request has expired"
}

const done = (act: () => void): Promise<void> => {
  act()
  return Promise.resolve()
}

const send = async (received: Received, files: Files): Promise<void> => {
  const { content, link, request, response } = received
  if (await sendTrouble(received, files)) return
  const headers = headersOf(link, content, files)
  if (conditional(request.headers, headers)) {
    files.statistics.notModified++
    const { ETag, "Last-Modified": lastModified } = headers
    const kept = { ...(ETag !== undefined && { ETag }), ...(lastModified && { "Last-Modified": lastModified }) }
    return void response.writeHead(304, kept).end()
  }
  const range = rangeOf(request.headers, headers, content.bytes)
  if (range === "unsatisfiable") {
    return void response.writeHead(416, { "Content-Range": `bytes */${content.bytes}` }).end()
  }
  const { end, start } = range ?? { start: 0, end: content.bytes }
  response.writeHead(range === undefined ? 200 : 206, {
    ...headers,
    "Content-Length": end - start,
    ...(range !== undefined && { "Content-Range": `bytes ${start}-${end - 1}/${content.bytes}` })
  })
  if (request.method === "HEAD") return void response.end()
  files.statistics.bodies++
  return sendBytes(response, content, start, end)
}

/** Small files take one write; large ones are made while they are sent. */
const sendBytes = async (response: ServerResponse, content: FileContent, start: number, end: number): Promise<void> => {
  if (end - start <= 1_048_576) {
    const parts = [...bytesOf(content, start, end)]
    return void response.end(parts.length === 1 ? parts[0] : Buffer.concat(parts))
  }
  await pipeline(Readable.from(bytesOf(content, start, end)), response)
}
