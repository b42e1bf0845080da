/** What a response means: an answer, a reason to try again, or a failure. */
import type { Detail } from "../../values/reason.ts"
import { type BadCredentials, Forbidden, NotFound, RequestRejected, WrongLocation } from "./errors.ts"
import { type Named, namesRecord, ownMessage, saysNotFound } from "./record-errors.ts"

/** A response after which a retry may succeed. */
export interface Retry extends Detail {
  readonly retry: "soon" | "after the window" | "with a fresh token" | "with the newest token"
}
type Status = "ok" | Retry | BadCredentials | WrongLocation | Forbidden | NotFound | RequestRejected

/** `body`: `undefined` if it cannot be read. */
export const classify = (status: number, body: Buffer | undefined, named: Named): Status => {
  // The client never requests a range.
  if (status === 206) return { retry: "soon", message: "206 partial response", answered: 206 }
  if (status >= 200 && status < 300) return "ok"
  const message = `${status} ${body === undefined ? "with a body that cannot be read" : messageIn(body)}`
  const answer = { message, answered: status }
  if (status === 429) return { retry: "after the window", ...answer }
  if (status >= 500 || status === 408) return { retry: "soon", ...answer }
  // These statuses are classified by their message.
  if (body === undefined && [400, 401, 403].includes(status)) return { retry: "soon", ...answer }
  if (status === 401) return unauthorised(answer)
  const own = body && ownMessage(status, body)
  if (status === 403) {
    if (!/access to this location/i.test(message)) return new Forbidden(answer)
    // A record may have moved to another location, which says nothing about the lists of this one.
    return namesRecord(named) ? new RequestRejected({ status, ...answer }) : new WrongLocation(answer)
  }
  // For an unknown id, the documents say 404, but the service also sends 400.
  if ([400, 404].includes(status) && own !== undefined && saysNotFound(own, named)) return new NotFound(answer)
  return new RequestRejected({ status, ...answer, isOwn: own !== undefined })
}

/** A 401 may mean something else than that the token is invalid. */
const unauthorised = (answer: Detail): Status => {
  const { message } = answer
  if (/timed out/i.test(message)) return { retry: "soon", ...answer }
  if (/not authorized for this scope|not yet supported by the IAM/i.test(message)) return new Forbidden(answer)
  if (/version header/i.test(message)) return new RequestRejected({ status: 401, ...answer })
  return { retry: "with a fresh token", ...answer }
}

/** The message in the body of an error, in any of its formats, shortened. */
export const messageIn = (body: Buffer): string => {
  const text = body.toString("utf8")
  const message =
    /"message"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\])/.exec(text)?.[1] ??
    /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return (message ?? text).replaceAll(/["[\]]/g, "").slice(0, 300)
}
