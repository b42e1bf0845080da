/** A bucket: the files of a release as objects, and a manifest that names them. */
import * as Effect from "effect/Effect"
import type { Work } from "../destination.ts"
import { checkBucket } from "./compare.ts"
import { deliver } from "./deliver.ts"
import { removeEarlierObjects } from "./earlier.ts"
import type { BucketDestination } from "./settings.ts"

export const work: Work<BucketDestination> = {
  part: "published",
  checkOf: (name) => `bucket ${name}`,
  deliver: (to, given) =>
    Effect.map(deliver(to, given), (files) => ({
      to: to.destination.place,
      changed: files.length,
      unit: "file"
    })),
  compare: checkBucket,
  forget: removeEarlierObjects,
  remove: removeEarlierObjects
}
