import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import type { Agency } from "../agency.ts"
import { deliver } from "./delivery.ts"
import { type HttpRequest, type HttpResponse, handle, maxBodyBytes } from "./handler.ts"
import { Interruption } from "./interruption.ts"

/** Changes a response before it is delivered. */
export type Alter = (request: HttpRequest, response: HttpResponse) => HttpResponse

/** Connects the handler to a server. Never throws. */
export const listener =
  (agency: Agency, alter: Alter = (_, response) => response): RequestListener =>
  (request, response) => {
    response.on("error", () => {})
    respond(request, response, agency, alter).catch((error: unknown) => {
      // A client that disconnects is expected; any other error is a defect of the sandbox.
      if (request.socket.destroyed) return
      process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`)
      if (!response.headersSent) response.statusCode = 500
      response.end(`{"statusCode":500,"message":"The sandbox has a bug"}`)
    })
  }

const respond = async (
  request: IncomingMessage,
  response: ServerResponse,
  agency: Agency,
  alter: Alter
): Promise<void> => {
  const { headers, method = "", url: target = "" } = request
  const body = await readBody(request)
  const received = { method, target, headers, body }
  const service = agency.serviceFor(received)
  let answered: HttpResponse
  try {
    answered = alter(received, await handle(received, service))
  } catch (error) {
    if (!(error instanceof Interruption)) throw error
    if (error.kind === "reset-before") request.socket.resetAndDestroy()
    return
  }
  await deliver(answered, request, response, service)
}

/** The bytes of the body; undefined if there are more than `maxBodyBytes`. */
const readBody = (request: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    let size = 0
    request.on("data", (part: Buffer) => {
      size += part.length
      if (size > maxBodyBytes) resolve(undefined)
      else parts.push(part)
    })
    request.on("end", () => resolve(Buffer.concat(parts)))
    request.on("error", reject)
  })
