/** The questions that come with the models. */
import { request } from "./service.js"

let read

/** Those whose models the release has. */
export const questionsFor = async ({ find }) => {
  const { questions } = await (read ??= request("/api/questions"))
  return questions.filter(({ sql }) => Array.from(sql.matchAll(/\bbi\.(\w+)/g)).every(([, name]) => find("bi", name)))
}
