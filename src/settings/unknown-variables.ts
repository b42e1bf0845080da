/** Environment variables that look like settings and are none, for example because of a misspelling. */
import { closest } from "./closest.ts"
import type { Environment } from "./read.ts"
import { allSettings } from "./table.ts"

const variables: ReadonlySet<string> = new Set(allSettings.flatMap(({ environment }) => environment ?? []))
/** Variables of the tests. */
const notSettings: ReadonlySet<string> = new Set(["SLUICE_SEED"])

/** One sentence for each. A value is not shown, because it may be a token. */
export const unknownVariables = (environment: Environment): ReadonlyArray<string> =>
  Object.keys(environment)
    .filter((name) => name.startsWith("SLUICE_") && !variables.has(name) && !notSettings.has(name))
    // A variable that a setting refers to is no misspelling.
    .filter((name) => !Object.values(environment).includes(`env:${name}`))
    .map((name) => {
      const near = closest(name, variables)
      return `Warning: the environment variable ${name} is not a setting${near === undefined ? "." : `; did you mean ${near}?`}`
    })
