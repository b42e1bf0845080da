import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import type { Service } from "../service.ts"
import { compressed } from "./compression.ts"
import type { HttpResponse } from "./handler.ts"

/** Sends a response, and applies its fault to the transfer. The operation has taken effect in any case. */
export const deliver = async (
  answered: HttpResponse,
  request: IncomingMessage,
  response: ServerResponse,
  { clock, settings }: Service
): Promise<void> => {
  const { body, fault, headers, status } = answered
  if (fault?.kind === "reset-after") return void request.socket.resetAndDestroy()
  if (fault?.kind === "slow") await clock.wait(fault.ms)

  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (status === 204) return void response.end()
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return pipeline(body, response)
  let bytes = Buffer.from(body)
  if (settings.compress) {
    response.setHeader("Vary", "Accept-Encoding")
    // Gateways compress errors of any size, so clients must be able to decompress them.
    const minBytes = status >= 400 ? 0 : 1024
    const smaller = await compressed(bytes, request.headers["accept-encoding"]?.toString(), minBytes)
    if (smaller !== undefined) {
      response.setHeader("Content-Encoding", smaller.encoding)
      bytes = smaller.body as typeof bytes
    }
  }
  const half = bytes.subarray(0, Math.floor(bytes.length / 2))
  if (fault?.kind === "reset-within") {
    response.setHeader("Content-Length", bytes.length)
    return void response.write(half, () => request.socket.resetAndDestroy())
  }
  // The length matches the truncated body, so that HTTP does not reveal the fault.
  const sent = fault?.kind === "truncate" ? half : bytes
  response.setHeader("Content-Length", sent.length)
  response.end(sent)
}
