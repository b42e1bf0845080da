import { HttpError } from "./errors.ts"
import { ErrorAnswer } from "./error-answers.ts"
import type { Fault } from "./faults.ts"

/** Ends a request before it takes effect, without a response: the connection is reset, or stays open (`hang`). */
export class Interruption extends Error {
  readonly kind: "reset-before" | "hang"

  constructor(kind: "reset-before" | "hang") {
    super(kind)
    this.kind = kind
  }
}

/** Applies a fault that prevents the operation, by throwing. The other faults apply to the response. */
export const applyBefore = ({ form, kind }: Fault): void => {
  if (form !== undefined) throw new ErrorAnswer(form)
  if (kind === "reset-before" || kind === "hang") throw new Interruption(kind)
  if (kind === "429" || kind === "429-storm") throw new HttpError(429, "Too Many Requests")
  if (kind === "500") throw new HttpError(500, "Internal server error")
  if (kind === "503") throw new HttpError(503, "Service temporarily unavailable")
  // This is the response of a gateway that cannot reach the service, so it is not JSON.
  if (kind === "502html") throw new HttpError(502, "Bad Gateway", { html: badGateway })
}

const badGateway =
  "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
  "</body>\r\n</html>\r\n"
