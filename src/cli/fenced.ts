/** With the database of a fleet, a sync that no worker has started takes the fence of its locations first. */
import * as Effect from "effect/Effect"
import { load } from "../run/load.ts"
import { tetherVariable } from "../run/tether.ts"
import { type Flags, readSettings } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"

export const fenced = <E, R>(flags: Flags, work: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const isFleet = readSettings(flags, environment).values.fleet.database !== undefined
    if (environment[tetherVariable] !== undefined || !isFleet) return yield* work
    return yield* load(import("../features/fleet/commands/task.ts"), (_) => _.fencedTask(flags))
  })
