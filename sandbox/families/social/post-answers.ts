import { flag, integer, object, type Shape, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"

/** The common members of every response (B 4.7). */
export const wrapped = (results: Shape) => ({
  success: flag,
  statusCode: integer,
  message: text,
  results: object(results)
})

export const answer = (message: string, results: string | Data | undefined, statusCode = 200): string => {
  const text = typeof results === "string" ? results : results && JSON.stringify(results)
  const start = `{"success":true,"statusCode":${statusCode},"message":${JSON.stringify(message)}`
  return text === undefined ? `${start}}` : `${start},"results":${text}}`
}
