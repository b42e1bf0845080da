/** The kinds of destinations with their work. One more kind is a folder, a line here and one in `settings.ts`. */
import * as Effect from "effect/Effect"
import type { Receiver, Work } from "./contract.ts"
import type { Destination } from "./settings.ts"

type Kind = Destination["kind"]
type PlaceOf<K extends Kind> = Extract<Destination, { readonly kind: K }>

/** Only an output with such a destination loads its modules. */
const works: { readonly [K in Kind]: () => Promise<{ readonly work: Work<PlaceOf<K>> }> } = {
  folder: () => import("./folder/destination.ts"),
  bucket: () => import("./bucket/destination.ts"),
  postgres: () => import("./postgres/destination.ts"),
  sqlite: () => import("./sqlite/destination.ts"),
  lake: () => import("./lake/destination.ts")
}

export const workOf = <K extends Kind>({
  destination
}: Receiver<PlaceOf<K> & { readonly kind: K }>): Effect.Effect<Work<PlaceOf<K>>> =>
  Effect.map(Effect.promise(works[destination.kind]), ({ work }) => work)
