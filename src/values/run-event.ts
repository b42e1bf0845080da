/** What a run tells those who watch it, such as the reader of `--json=lines`. */
import * as Context from "effect/Context"
import type { Event } from "./event-schemas.ts"

type Untimed<Printed> = Printed extends unknown ? Omit<Printed, "schema" | "time"> : never

/** An event without the members that each printed line has. */
export type RunEvent = Untimed<typeof Event.Type>

/** Takes an event and returns at once; `undefined` if nobody watches, so that nothing has to be built. */
export type OnRunEvent = ((event: RunEvent) => void) | undefined

export const RunEvents = Context.Reference<OnRunEvent>("sluice/RunEvents", { defaultValue: () => undefined })
