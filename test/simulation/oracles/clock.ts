/** A wrong clock of the machine is told in the night in which it is wrong, never in another one, and dates nothing. */
import type { Night } from "../world.ts"
import type { Ran, Stage } from "../run.ts"
import { type State, lastRun } from "./state.ts"

const toleranceMs = 5 * 60_000

export const clockIsTold = (stage: Stage, { night, ran }: Pick<Told, "night" | "ran">): ReadonlyArray<string> => {
  const { ahead } = stage.clock
  const told = ran.synced?.clockAheadMs
  if (ran.synced === undefined) return []
  const wasRight = Math.abs(ahead) <= toleranceMs && night.clock === undefined
  if (told !== undefined) return wasRight ? [`the clock is right, and was told to be wrong by ${told} ms`] : []
  const isWrong = Math.abs(ahead) > toleranceMs && (night.clock?.at ?? 1) === 1
  // Nothing tells the time of a service that cannot be asked for the location, or that lies.
  const isAsked = stage.world.collections.includes("locations") && night.lies === undefined && ran.exitCode === 0
  return isWrong && isAsked && night.suspended === undefined
    ? [`the clock is wrong by ${ahead} ms, and nobody was told`]
    : []
}

/** Of a night whose clock was wrong from the beginning, and told. */
export const momentsAreTheServices = (stage: Stage, { before, after, night, ran }: Told): ReadonlyArray<string> => {
  const told = ran.synced?.clockAheadMs
  if (told === undefined || (night.clock?.at ?? 1) !== 1 || !stage.world.collections.includes("locations")) return []
  const run = lastRun(after.meta)!
  const now = stage.clock.now()
  const isAway = (time: unknown) => {
    const at = Date.parse(String(time))
    return at > now + toleranceMs || at < now - 12 * 3_600_000
  }
  // A version does not begin before the one that it follows, which a clock that jumped during its run has dated.
  const follows = (table: string, key: string) => isAway(before.rows.get(table)?.get(key)?.synced)
  const rows = [...after.rows].flatMap(([table, byKey]) =>
    [...byKey].flatMap(([key, row]) =>
      row.run === run["run_id"] && isAway(row.synced) && !follows(table, key) ? [`${table} ${key}`] : []
    )
  )
  return [
    ...["started_at", "finished_at"]
      .filter((name) => isAway(run[name]))
      .map((name) => `${name} is ${String(run[name])}`),
    ...rows.map((row) => `${row} is not dated by the service`)
  ]
}

interface Told {
  readonly before: State
  readonly after: State
  readonly night: Night
  readonly ran: Ran
}
