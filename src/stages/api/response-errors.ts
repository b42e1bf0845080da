/** Classifies responses by status and message. The field notes describe the behaviour of the service for each rule. */
import type { Detail } from "../../values/reason.ts"
import { BadCredentials, NotFound, Forbidden, RequestRejected, WrongLocation } from "./errors.ts"

/** A response after which a retry may succeed. */
export interface Retry extends Detail {
  readonly retry: "soon" | "after the window" | "with a fresh token" | "with the newest token"
}
export type Status = "ok" | Retry | BadCredentials | WrongLocation | Forbidden | NotFound | RequestRejected

/** `body`: `undefined` if it cannot be read. */
export const classify = (status: number, body: string | undefined): Status => {
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
  if (status === 403)
    return /access to this location/i.test(message) ? new WrongLocation(answer) : new Forbidden(answer)
  // For an unknown id, the documents say 404, but the service also sends 400 with this message.
  if (status === 404 || (status === 400 && /not found/i.test(message))) return new NotFound(answer)
  return new RequestRejected({ status, ...answer })
}

/** Not every 401 means that the token is invalid. */
const unauthorised = (answer: Detail): Status => {
  const { message } = answer
  if (/timed out/i.test(message)) return { retry: "soon", ...answer }
  if (/not authorized for this scope|not yet supported by the IAM/i.test(message)) return new Forbidden(answer)
  if (/version header/i.test(message)) return new RequestRejected({ status: 401, ...answer })
  return { retry: "with a fresh token", ...answer }
}

/** The message in the body of an error, in any of its formats, shortened. */
export const messageIn = (body: string): string => {
  const message =
    /"message"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\])/.exec(body)?.[1] ??
    /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body)?.[1]
  return (message ?? body).replaceAll(/["[\]]/g, "").slice(0, 300)
}
