/** Pages of sluice's own beside the tables: the report of the release, and the dictionary. Each brings its policy along. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { readFile } from "node:fs/promises"
import { HttpError, type Routes, attempt } from "../../network/server.ts"
import { linkedPath } from "../../output/paths.ts"
import { type Program, printedBy } from "../../run/process.ts"
import type { Environment } from "../../values/environment.ts"

export interface DocumentsOptions {
  /** The output folder. */
  readonly output: string
  readonly dictionary: () => Promise<string>
}

/**
 * The dictionary, made in a process of its own: it reads all definitions and the warehouse, and the server answers meanwhile.
 * `config`: the settings file that was named; `output`: the output folder.
 */
export const dictionaryOf = (
  program: Program,
  config: string | undefined,
  output: string,
  environment: Environment["Service"]
): Promise<string> => {
  const flags = [...(config === undefined ? [] : [`--config=${config}`]), `--output=${output}`]
  const printed = printedBy(program, ["dictionary", "--as", "html", ...flags], environment)
  return Effect.runPromise(Effect.map(printed, ({ stdout }) => stdout))
}

/** A document is a file for itself; here it is a page of the site. */
const back = '<p><a href="/">Back to sluice</a></p>'

export const documentRoutes = ({ dictionary, output }: DocumentsOptions): Routes<unknown> => {
  const document = (name: string, read: () => Promise<string>): Routes<unknown>[string] => ({
    right: "reader",
    answer: () =>
      attempt(async () => {
        const text = await read()
        if (text === "")
          throw new HttpError(404, "not found", `There is no ${name} yet: it comes with the first release.`)
        return HttpServerResponse.text(text.replace(/<(header|main)[^>]*>/, `$&${back}`), {
          contentType: "text/html; charset=utf-8"
        })
      })
  })
  return {
    "GET /report": document("report", () => readFile(linkedPath(output), "utf8").catch(() => "")),
    "GET /dictionary": document("dictionary", dictionary)
  }
}
