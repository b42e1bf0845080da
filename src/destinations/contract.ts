/** The contract of a destination: what is done with a place that gets data of an output folder, whatever its kind. */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Catalogue } from "../catalog/discover.ts"
import type { DestinationPlace } from "../settings/destination.ts"
import type { TableName } from "../stages/publish/changes.ts"
import type { Model } from "../stages/publish/models/model.ts"
import type { FewChanges } from "../stages/publish/publish.ts"
import type { Warehouse } from "../stores/warehouse/warehouse.ts"
import type { Looked, Part } from "../values/finding.ts"
import type { Failure } from "../values/failure.ts"

/** A target. */
export interface Receiver<Place extends DestinationPlace = DestinationPlace> {
  readonly name: string
  readonly destination: Place
  /** The folder of the releases that are made for it alone, if any are; its own files are beside them. */
  readonly folder: string
}

/** What a target is to have. */
export interface Delivery {
  readonly catalogue: Catalogue
  readonly few: FewChanges | undefined
  readonly tables: ReadonlyArray<TableName>
  readonly models: ReadonlyArray<Model>
  readonly isMasked: boolean
  readonly output: OutputFolder
  readonly run: string
  /** Believe nothing of what it has. */
  readonly full: boolean
}

interface OutputFolder {
  readonly folder: string
  readonly memoryMb: number
}

export interface Delivered {
  /** The place, in words: `the schema crm`. */
  readonly to: string
  readonly changed: number
  readonly unit: "table" | "file"
}

/** Brings a place up to date. Only `guarded` makes one, so none lacks what it decides. */
export interface Deliver<Place extends DestinationPlace> {
  readonly isGuarded: typeof guard
  /** `made`: makes the release that it gets, and returns the link to it. */
  readonly run: <A extends Made = Made, R = never>(
    to: Receiver<Place>,
    given: (made: A | undefined) => Delivery,
    made: Effect.Effect<A, Failure, R> | undefined
  ) => Effect.Effect<{ readonly made: A | undefined; readonly delivered: Delivered }, Failure, Warehouse | R>
}
export const guard = Symbol("guarded")

/** A release that was made: the folder with its current one. */
export interface Made {
  readonly folder: string
}

export interface Comparison {
  readonly catalogue: Catalogue
  /** The folder whose current release it has got. */
  readonly releases: string
  readonly output: OutputFolder
}

export interface RemovedLocation {
  readonly location: string
  /** It was the last one, so there is no release without it. */
  readonly isLast: boolean
  /** The output folder. */
  readonly output: string
}

export interface Work<Place extends DestinationPlace> {
  readonly part: Part
  /** The name of the comparison with a receiver of this name. */
  readonly checkOf: (name: string) => string
  /** What a delivery must be allowed there, as a sentence. */
  readonly needs: string
  /** Writes something of its own and takes it back, without a look at anything else; fails as a delivery would. */
  readonly probe: (to: Receiver<Place>) => Effect.Effect<unknown, Failure, Warehouse | Scope.Scope>
  readonly deliver: Deliver<Place>
  /** Compares what it has with what it was given last. */
  readonly compare: (to: Receiver<Place>, given: Comparison) => Effect.Effect<Looked, Failure, Warehouse>
  /**
   * Removes what earlier deliveries have left, after everything was delivered without an erased person. Returns whether nothing
   * of it is left, according to the place itself. Absent if a delivery replaces everything that the place has.
   */
  readonly forget?: (to: Receiver<Place>) => Effect.Effect<boolean, Failure, Warehouse>
  /** Removes a location, after the other ones were delivered without it. */
  readonly remove: (to: Receiver<Place>, removed: RemovedLocation) => Effect.Effect<unknown, Failure, Warehouse>
  /** What still has the rows of a removed location, and until when. Absent if nothing does. */
  readonly keeps?: string
}
