/** The kinds of destinations that `[[publish]]` can name. */
import type { Section } from "../values/setting.ts"
import { bucket } from "./bucket/settings.ts"
import { folder } from "./folder/settings.ts"
import { lake } from "./lake/settings.ts"
import { postgres } from "./postgres/settings.ts"
import { sqlite } from "./sqlite/settings.ts"

export const destinationKinds = [folder, bucket, postgres, sqlite, lake] as const

type Kind = (typeof destinationKinds)[number]
export type Destination = ReturnType<Kind["read"]> & Pick<Kind, "gets">

/** The settings of all kinds, by their names in an item. */
type Merged<Kinds> = Kinds extends readonly [{ readonly settings: infer First extends Section }, ...infer Rest]
  ? First & Merged<Rest>
  : unknown
export const destinationSettings = Object.assign({}, ...destinationKinds.map(({ settings }) => settings)) as Merged<
  typeof destinationKinds
>
