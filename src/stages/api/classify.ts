/** What an answer means, by its status, its author and, where it concludes something about the run, a control. */
import type { Detail } from "../../values/reason.ts"
import { type Author, authorOf, nameOfBetween, refusalIn } from "./author.ts"
import { BadCredentials, Forbidden, RequestRejected, WrongLocation } from "./errors.ts"
import { type Headers, headerOf } from "./http.ts"

/** An answer after which another attempt may succeed. `refused`: the service refused the token, or the access. */
export interface Retry extends Detail {
  readonly retry: "soon" | "after the window" | "refused"
  /** Something else answered in place of the service. */
  readonly isBetween?: true
}

type Meaning = "answer" | "again" | "wait" | "refused" | "rejected"

/** The first row that fits decides. Who asks to wait does not matter. */
export const meanings: ReadonlyArray<readonly [from: number, to: number, author: Author | "anybody", Meaning]> = [
  // The client never requests a range.
  [206, 206, "anybody", "again"],
  [200, 299, "anybody", "answer"],
  [408, 408, "anybody", "again"],
  [429, 429, "anybody", "wait"],
  [401, 401, "service", "refused"],
  [403, 403, "service", "refused"],
  [400, 499, "service", "rejected"],
  [400, 499, "anybody", "again"],
  [500, 599, "anybody", "again"]
]

/** What the control answered: a request that succeeded in this run, or for the location itself. */
export type Control = "data" | 401 | 403 | "nothing"

/**
 * What it means that the service refused the same request twice, by the control that was asked afterwards. `undefined`: the
 * service cannot be reached now.
 */
export const conclusion = (control: Control, kind: BadCredentials["kind"], detail: Detail) => {
  switch (control) {
    case "data":
      return new Forbidden(detail)
    case 401:
      return new BadCredentials({ kind, ...detail })
    case 403:
      return new WrongLocation(detail)
    case "nothing":
      return undefined
  }
}

/** `body`: `undefined` if it cannot be read. */
export const classify = (
  status: number,
  body: Buffer | undefined,
  headers: Headers
): "ok" | Retry | RequestRejected => {
  const type = headerOf(headers, "content-type")
  const possible = meanings.filter(([from, to]) => status >= from && status <= to)
  // Most answers are pages, which would be parsed for it.
  const author = possible.some(([, , who]) => who !== "anybody") ? authorOf(status, body, type) : undefined
  const meaning = possible.find(([, , who]) => who === author || who === "anybody")?.[3] ?? "rejected"
  if (meaning === "answer") return "ok"
  const isBetween = author === "between" && status >= 400 && status < 500
  const unread = status === 206 ? "partial response" : "with a body that cannot be read"
  const said = body === undefined || status === 206 ? unread : messageIn(body)
  const message = isBetween
    ? nameOfBetween(status, body!, said, type, headerOf(headers, "server"))
    : `${status} ${said}`
  const answer = { message, answered: status }
  switch (meaning) {
    case "again":
      return { retry: "soon", ...answer, ...(isBetween && { isBetween }) }
    case "wait":
      return { retry: "after the window", ...answer }
    case "refused":
      return { retry: "refused", ...answer }
    case "rejected":
      return new RequestRejected({
        status,
        ...answer,
        ...(author === "service" && { refusal: refusalIn(status, body, type) })
      })
  }
}

/** The message in the body of an error, in any of its formats, shortened. */
export const messageIn = (body: Buffer): string => {
  const text = body.toString("utf8")
  const message =
    /"message"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\])/.exec(text)?.[1] ??
    /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return (message ?? text).replaceAll(/["[\]]/g, "").slice(0, 300)
}
