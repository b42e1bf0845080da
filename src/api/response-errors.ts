/** What an answer means; the service's habits are in the field notes behind each line. */
import { BadCredentials, NotFound, Forbidden, RequestRejected, WrongLocation } from "./errors.ts"

/** An answer that another attempt may better. */
export interface Retry {
  readonly retry: "soon" | "after the window" | "with a fresh token" | "with the newest token"
  readonly message: string
}
export type Status = "ok" | Retry | BadCredentials | WrongLocation | Forbidden | NotFound | RequestRejected

/** `body`: nothing where it cannot be read. */
export const classify = (status: number, body: string | undefined): Status => {
  const message = `${status} ${body === undefined ? "with a body that cannot be read" : messageIn(body)}`
  // Nobody asked for a part.
  if (status === 206) return { retry: "soon", message: "206 a part of the answer" }
  if (status >= 200 && status < 300) return "ok"
  if (status === 429) return { retry: "after the window", message }
  if (status >= 500 || status === 408) return { retry: "soon", message }
  // What these mean is decided by their words.
  if (body === undefined && [400, 401, 403].includes(status)) return { retry: "soon", message }
  if (status === 401) return unauthorised(message)
  if (status === 403)
    return /access to this location/i.test(message) ? new WrongLocation({ message }) : new Forbidden({ message })
  // An unknown id is 404 in the documents, and 400 with these words in the field.
  if (status === 404 || (status === 400 && /not found/i.test(message))) return new NotFound({ message })
  return new RequestRejected({ status, message })
}

/** Not every 401 is about the token. */
const unauthorised = (message: string): Status => {
  if (/timed out/i.test(message)) return { retry: "soon", message }
  if (/not authorized for this scope|not yet supported by the IAM/i.test(message)) return new Forbidden({ message })
  if (/version header/i.test(message)) return new RequestRejected({ status: 401, message })
  return { retry: "with a fresh token", message }
}

/** The words of an error body in any of its shapes, kept short. */
const messageIn = (body: string): string => {
  const words =
    /"message"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\])/.exec(body)?.[1] ??
    /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body)?.[1]
  return (words ?? body).replaceAll(/["[\]]/g, "").slice(0, 300)
}
