/**
 * The messages on stdin, one a line. The server of the protocol drops what it cannot parse, with the messages behind it, so
 * each line is checked before it gets there: a line that is no message is answered with an error, and the next one counts.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** UTF-16 units of a message; that of a query is the largest. */
export const lineLengthMax = 1_000_000

/** `reply` writes one line to stdout, where every line is a message. `ended` is run when stdin has ended. */
export const checkedStdio = (reply: (line: string) => void, ended: Effect.Effect<unknown>) =>
  Layer.effect(
    Stdio.Stdio,
    Effect.map(Stdio.Stdio, (stdio) => {
      const lines = new Lines(reply)
      return Stdio.make({
        ...stdio,
        stdin: stdio.stdin.pipe(
          Stream.map((chunk) => lines.valid(chunk).map((line) => encoder.encode(`${line}\n`))),
          Stream.flattenIterable,
          Stream.ensuring(ended)
        )
      })
    })
  )

const encoder = new TextEncoder()

class Lines {
  readonly #reply: (line: string) => void
  readonly #decoder = new TextDecoder()
  #begun = ""
  /** Whether the line that has begun is too long: its end is waited for, and what comes before is not kept. */
  #isSkipped = false
  constructor(reply: (line: string) => void) {
    this.#reply = reply
  }

  valid(chunk: Uint8Array): ReadonlyArray<string> {
    const lines = `${this.#begun}${this.#decoder.decode(chunk, { stream: true })}`.split("\n")
    this.#begun = lines.pop() ?? ""
    const valid = lines.filter((line, index) => (index === 0 && this.#isSkipped ? false : this.#isValid(line)))
    if (lines.length > 0) this.#isSkipped = false
    if (this.#begun.length > lineLengthMax) {
      if (!this.#isSkipped) this.#refuse(-32600, tooLong)
      this.#isSkipped = true
    }
    if (this.#isSkipped) this.#begun = ""
    return valid
  }

  #isValid(line: string): boolean {
    if (line.trim() === "") return false
    if (line.length > lineLengthMax) return this.#refuse(-32600, tooLong)
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return this.#refuse(-32700, "Parse error: the line is not JSON")
    }
    // The server itself answers batches.
    return Array.isArray(message) || isMessage(message) || this.#refuse(-32600, "Invalid request: not JSON-RPC 2.0")
  }

  #refuse(code: number, message: string): false {
    this.#reply(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }))
    return false
  }
}

const tooLong = `Invalid request: the line is longer than ${lineLengthMax} characters`

/** A request, a notification, or a response. */
const isMessage = (message: unknown): boolean => {
  if (typeof message !== "object" || message === null) return false
  const { jsonrpc, id, method, ...rest } = message as Readonly<Record<string, unknown>>
  if (jsonrpc !== "2.0" || !(id === undefined || typeof id === "string" || typeof id === "number")) return false
  return typeof method === "string" || (id !== undefined && ("result" in rest || "error" in rest))
}
