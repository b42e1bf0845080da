/** The kinds of destinations with their work. One more kind is a folder, a line here and one in `settings.ts`. */
import * as Effect from "effect/Effect"
import type { Receiver, Work } from "./contract.ts"
import type { LakeSettings } from "./lake/settings.ts"
import type { Destination } from "./settings.ts"

type Place = Destination | LakeSettings
type Kind = Place["kind"]
type PlaceOf<K extends Kind> = Extract<Place, { readonly kind: K }>

/** A target, or the lake. */
export type AnyReceiver = Receiver<Place>

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

/** The lake of an output, if it has one. It takes its rows from the warehouse, and not from a release. */
export const lakeReceivers = ({
  folder,
  lake
}: {
  readonly folder: string
  readonly lake?: LakeSettings | undefined
}) => (lake === undefined ? [] : [{ name: "lake", destination: lake, folder } satisfies AnyReceiver])
