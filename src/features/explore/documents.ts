/** Pages of sluice's own beside the tables: the report of the release, and the dictionary. Each brings its policy along. */
import { readFile } from "node:fs/promises"
import { linkedPath } from "../../output/paths.ts"
import { HttpError } from "./http.ts"
import type { Visit } from "./web-server.ts"

export interface DocumentsOptions {
  /** The output folder. */
  readonly output: string
  readonly dictionary: () => Promise<string>
}

/** The command that prints the dictionary. `config`: the settings file that was named; `output`: the output folder. */
export const dictionaryCommand = (config: string | undefined, output: string): ReadonlyArray<string> => [
  "dictionary",
  "--html",
  ...(config === undefined ? [] : [`--config=${config}`]),
  `--output=${output}`
]

/** False for any other address. */
export const sendDocument = async (
  { response, url: { pathname } }: Visit,
  { dictionary, output }: DocumentsOptions
): Promise<boolean> => {
  if (pathname !== "/report" && pathname !== "/dictionary") return false
  const text = pathname === "/report" ? await readFile(linkedPath(output), "utf8").catch(() => "") : await dictionary()
  if (text === "")
    throw new HttpError(404, "not found", `There is no ${pathname.slice(1)} yet: it comes with the first release.`)
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(text)
  return true
}
