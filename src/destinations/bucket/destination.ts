/** A bucket: the files of a release as objects, and a manifest that names them. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import type { Receiver, Work } from "../contract.ts"
import { checkBucket } from "./compare.ts"
import { look, stage } from "./deliver.ts"
import { guarded } from "../guarded.ts"
import type { BucketDestination } from "./settings.ts"
import { ownerOf } from "../../output/folder.ts"
import type { Requests } from "../../stores/objects/bucket.ts"
import { putBytes, removeObject } from "../../stores/objects/object.ts"
import { connect } from "./connect.ts"
import { readManifest } from "./manifest.ts"
import { removeAll, removeEarlier } from "./remove.ts"

const inBucket = <A>({ destination, name }: Receiver<BucketDestination>, work: (requests: Requests) => Promise<A>) =>
  Effect.scoped(Effect.flatMap(connect(name, destination), ({ attempt, requests }) => attempt(() => work(requests))))

export const work: Work<BucketDestination> = {
  part: "published",
  checkOf: (name) => `bucket ${name}`,
  needs: "The key needs the rights in docs/destinations.md.",
  probe: (to) =>
    inBucket(to, async (requests) => {
      const object = `.sluice-${randomUUID()}`
      await readManifest(requests)
      await putBytes(requests, object, "sluice")
      await removeObject(requests, object)
    }),
  deliver: guarded({ words: ({ destination }) => ({ to: destination.place, unit: "file" }), look, stage }),
  compare: checkBucket,
  forget: (to) => inBucket(to, removeEarlier),
  remove: Effect.fnUntraced(function* (to, { isLast, output }) {
    const owner = yield* ownerOf(output)
    yield* inBucket<unknown>(to, (requests) => (isLast ? removeAll(requests, owner) : removeEarlier(requests)))
  })
}
