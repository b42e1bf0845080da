/** With the database of a fleet, a sync that no worker has started takes the fence of its location first. */
import * as Effect from "effect/Effect"
import { load, loadRun } from "../command/load.ts"
import type { RunFlags } from "../command/run-flags.ts"
import { tetherVariable } from "../run/tether.ts"
import { type Flags, readSettings } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"

/** As `loadRun`. */
export const loadFenced = <Module, A, E, R>(
  command: string,
  flags: RunFlags & Flags,
  module: Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const isFleet = readSettings(flags, environment).values.fleet.database !== undefined
    if (environment[tetherVariable] !== undefined || !isFleet) return yield* loadRun(command, flags, module, run)
    return yield* load(import("../features/fleet/commands/task.ts"), (_) => _.fencedTask(flags))
  })
