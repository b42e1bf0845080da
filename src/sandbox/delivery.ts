import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { compressed } from "./compression.ts"
import type { FaultKind } from "./faults.ts"

/** What a request comes to: an answer, and the fault that strikes it on its way out. */
export interface Outcome {
  status: number
  body: string | Uint8Array
  contentType: string
  fileName?: string
  fault?: { kind: FaultKind; ms: number }
}

/** Sends an outcome, or lets the fault it met spoil it: the operation has taken effect either way. */
export const deliver = async (
  outcome: Outcome,
  request: IncomingMessage,
  response: ServerResponse,
  compress: boolean
): Promise<void> => {
  const { body, contentType, fault, status } = outcome
  if (fault?.kind === "reset-after") return void request.socket.resetAndDestroy()
  if (fault?.kind === "slow") await wait(fault.ms)

  response.statusCode = status
  if (status === 204) return void response.end()
  response.setHeader("Content-Type", contentType.startsWith("audio/") ? contentType : `${contentType}; charset=utf-8`)
  if (outcome.fileName !== undefined) {
    response.setHeader("Content-Disposition", `attachment; filename="${outcome.fileName}"`)
  }
  let bytes = Buffer.from(body)
  if (compress) {
    response.setHeader("Vary", "Accept-Encoding")
    // A gateway compresses errors of any size: a client has to be able to read them.
    const bytesMin = status >= 400 ? 0 : 1024
    const smaller = await compressed(bytes, request.headers["accept-encoding"]?.toString(), bytesMin)
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
  // A cut answer is complete as far as HTTP can tell.
  const sent = fault?.kind === "truncate" ? half : bytes
  response.setHeader("Content-Length", sent.length)
  response.end(sent)
}
