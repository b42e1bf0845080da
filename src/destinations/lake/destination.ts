/** The lake: the rows of the warehouse, committed as snapshots. */
import * as Effect from "effect/Effect"
import type { Work } from "../destination.ts"
import { commitLake } from "./commit.ts"
import { checkLake } from "./compare.ts"
import { removeEarlierVersions } from "./erased.ts"
import { removeFromLake } from "./location.ts"
import type { LakeSettings } from "./settings.ts"

export const work: Work<LakeSettings> = {
  part: "lake",
  checkOf: () => "lake",
  deliver: ({ destination }, { catalogue, full, run }) =>
    Effect.map(commitLake(catalogue, destination, { full, run }), ({ tables }) => ({
      to: destination.place,
      changed: tables.length,
      unit: "table"
    })),
  compare: ({ destination }, { catalogue }) => checkLake(catalogue, destination),
  // Object storage is out of reach.
  forget: ({ destination }) => Effect.as(removeEarlierVersions(destination), !destination.place.startsWith("s3://")),
  remove: ({ destination }, { location }) => removeFromLake(destination, location)
}
