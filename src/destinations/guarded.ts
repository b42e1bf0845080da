/**
 * The one way to a place. It decides for every kind: a place that has the data of another output folder, or of a later run, is
 * not written; what a place was given and has not any more is sent again, and said; and what readers see changes at once.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ownerOf } from "../output/folder.ts"
import type { DestinationPlace } from "../settings/destination.ts"
import { type PreviousRelease, isLater, laterRun, previousRelease } from "../stages/publish/manifest.ts"
import type { Warehouse } from "../stores/warehouse/warehouse.ts"
import { type Failure, failure } from "../values/failure.ts"
import { some } from "../values/text.ts"
import { type Deliver, type Delivered, type Delivery, type Made, type Receiver, guard } from "./contract.ts"

/** What a place says of itself, found at a cost that does not grow with its rows. */
export interface Found {
  /** The output folder whose data it has; `undefined` if several may share the place, which keeps them apart itself. */
  readonly owner: string | undefined
  /** The run whose data it has. */
  readonly run: string | undefined
  /** What it was given and has not any more, or not as it was given: files or tables. */
  readonly missing: ReadonlyArray<string>
}

/** A delivery that may be made. `found`: nothing of it is to be believed if it is `undefined`. */
export interface Permitted<There> extends Delivery {
  readonly owner: string
  readonly found: There | undefined
  /** The release that the place gets; absent if it gets the rows of the warehouse. */
  readonly release: PreviousRelease | undefined
}

/** How a kind of places is written. */
interface Kind<Place extends DestinationPlace, There extends Found> {
  /** The place in words, and what is counted in it. */
  readonly words: (to: Receiver<Place>) => Pick<Delivered, "to" | "unit">
  /** `undefined`: it has nothing of sluice. Fails for a place that somebody else has made. */
  readonly look: (
    to: Receiver<Place>,
    given: Pick<Delivery, "catalogue" | "output" | "run"> & { readonly owner: string }
  ) => Effect.Effect<There | undefined, Failure, Warehouse>
  /**
   * Prepares what readers do not see; the effect that it returns makes all of it visible at once, and returns the names of
   * what has changed. `undefined`: the place is up to date.
   */
  readonly stage: (
    to: Receiver<Place>,
    given: Permitted<There>
  ) => Effect.Effect<Effect.Effect<ReadonlyArray<string>, Failure, Warehouse> | undefined, Failure, Warehouse>
}

/** A place is looked at once more before readers see anything new if that took longer. */
const believedMs = 2000

export const guarded = <Place extends DestinationPlace, There extends Found>({
  look,
  stage,
  words
}: Kind<Place, There>): Deliver<Place> => ({
  isGuarded: guard,
  run: Effect.fn("destination.deliver")(function* <A extends Made, R>(
    to: Receiver<Place>,
    givenOf: (made: A | undefined) => Delivery,
    making: Effect.Effect<A, Failure, R> | undefined
  ) {
    const before = givenOf(undefined)
    const { output, run } = before
    const owner = yield* ownerOf(output.folder)
    const { to: place, unit } = words(to)
    const refuse = (detail: string) => failure({ _tag: "DestinationFailed", target: to.name, detail })
    const looking = Effect.gen(function* () {
      if (before.full) return undefined
      const found = yield* look(to, { ...before, owner })
      if (found?.owner !== undefined && found.owner !== owner) return yield* refuse(foreign[unit](place))
      if (isLater(found?.run, run)) return yield* refuse(`${place}: ${laterRun(found!.run!)}`)
      return found
    })
    const found = yield* looking
    const lookedAt = yield* Clock.currentTimeMillis
    if (found && found.missing.length > 0)
      yield* Effect.annotateLogs(
        Effect.logWarning(`${place} lacks ${some(found.missing)}, or has it changed; it is sent again`),
        { target: to.name }
      )
    const made = making && (yield* making)
    const given = givenOf(made)
    const release = made && (yield* previousRelease(made.folder))
    // A release that was just published is complete.
    const commit = made && release === undefined ? undefined : yield* stage(to, { ...given, owner, found, release })
    if (commit && (yield* Clock.currentTimeMillis) - lookedAt > believedMs) yield* looking
    const changed = commit ? yield* commit : []
    return { made, delivered: { to: place, unit, changed: changed.length } }
  })
})

const foreign = {
  file: (place: string) => `${place} has the release of another output folder; ./sluice publish --full replaces it`,
  table: (place: string) =>
    `${place}: it has the tables of another output folder; ./sluice publish --full replaces them`
} as const
