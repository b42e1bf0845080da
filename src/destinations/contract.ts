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

export interface Delivery {
  readonly catalogue: Catalogue
  /** The folder whose current release it gets, unless it gets rows. */
  readonly releases: string
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
  /** Brings it up to date. */
  readonly deliver: (to: Receiver<Place>, given: Delivery) => Effect.Effect<Delivered, Failure, Warehouse>
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
