/** The environment variables that a command sees: those of the process, or those that its caller chose. */
import * as Context from "effect/Context"

export class Environment extends Context.Service<Environment, Readonly<Record<string, string | undefined>>>()(
  "sluice/values/Environment"
) {}
