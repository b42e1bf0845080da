/** Where the report is: inside the current release, but not one of its files, because it also describes later runs. */
import * as Effect from "effect/Effect"
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { outputPaths } from "./paths.ts"

/** The folder in a release. */
export const reportName = "report"
const fileName = "index.html"

/** The path that readers know, through the link to the current release. */
export const linkedPath = (output: string): string => join(outputPaths(output).published, reportName, fileName)

/**
 * The file of the report in the release that is current now; `undefined` before the first release. It has the name of the
 * release, not of the link, so that a release which is published meanwhile does not get the report of another one.
 */
export const reportPath = (output: string): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    realpath(outputPaths(output).published).then(
      (release) => join(release, reportName, fileName),
      () => undefined
    )
  )
