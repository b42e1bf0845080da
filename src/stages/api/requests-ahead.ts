/** Requests that are sent before the reading that they are of. */
import { Effect, Exit } from "effect"

interface Countable {
  readonly request: unknown
  readonly resource: string
}

/** Under which a request is counted until its reading asks for it. */
const resourceOfAhead = "first request"

/** `recounted`: counts the requests of one resource for another one. */
export const withRequestsAhead = <Call extends Countable, A, E>(
  sendNow: (call: Call) => Effect.Effect<A, E>,
  recounted: (from: string, to: string) => void
) => {
  /** By request as JSON. */
  const ahead = new Map<string, Exit.Exit<A, E>>()
  return {
    /** The next `send` of the same request gets its result, and counts it. */
    sendAhead: (call: Call) =>
      Effect.map(Effect.exit(sendNow({ ...call, resource: resourceOfAhead })), (exit) => {
        ahead.set(JSON.stringify(call.request), exit)
      }),
    send: (call: Call): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const known = ahead.size > 0 ? ahead.get(JSON.stringify(call.request)) : undefined
        if (known === undefined) return sendNow(call)
        ahead.clear()
        recounted(resourceOfAhead, call.resource)
        return known
      })
  }
}
