/** Environment variables that look like settings and are none, for example because of a misspelling. */
import { closest, suggestion } from "./closest.ts"
import type { Environment } from "./read.ts"
import { allSettings } from "./table.ts"

const variables: ReadonlySet<string> = new Set(allSettings.flatMap(({ environment }) => environment ?? []))
/** Variables of the launcher, of the tests and of the fleet. */
const notSettings: ReadonlySet<string> = new Set(["SLUICE_COMMAND", "SLUICE_SEED", "SLUICE_FLEET_TETHER"])

/** One sentence for each that is similar to a setting. A value is not shown, because it may be a token. */
export const unknownVariables = (environment: Environment): ReadonlyArray<string> =>
  Object.keys(environment)
    .filter((name) => name.startsWith("SLUICE_") && !variables.has(name) && !notSettings.has(name))
    // A variable to which a setting refers is no misspelling. A settings file may refer to any other name.
    .filter((name) => !Object.values(environment).includes(`env:${name}`))
    .flatMap((name) => {
      const near = closest(name, variables)
      return near === undefined ? [] : [`Warning: the environment variable ${name} is not a setting${suggestion(near)}`]
    })
