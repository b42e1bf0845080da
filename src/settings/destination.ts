/** What a kind of destination says of its settings. The kinds are in src/destinations/, each with its settings and its work. */
import type { Secret, Section } from "../values/setting.ts"

/** Where a target goes. */
export interface DestinationPlace {
  /** Names the folder of src/destinations/ that has the work. */
  readonly kind: string
  /** Where the data is: a folder or an address, without secrets. */
  readonly place: string
  /** Secrets that requests contain. */
  readonly secrets: ReadonlyArray<Secret>
}

export interface DestinationKind<Item, Place extends DestinationPlace> {
  /**
   * What it gets: releases that are made there, all files of a release, the tables of its DuckDB file, or the rows of the
   * warehouse, without a release.
   */
  readonly gets: "releases" | "files" | "tables" | "rows"
  /** Why a target of this kind cannot have one of these settings, or another profile than raw. */
  readonly cannot: Readonly<Partial<Record<"formats" | "tables" | "profile", string>>>
  /** Of an item of `[[publish]]`. */
  readonly settings: Section
  /** The setting that says where it is. */
  readonly named: string
  /** Why these settings are wrong in a target with another kind of destination; `undefined` if no such target can have them. */
  readonly unused: string | undefined
  readonly isNamedBy: (item: Item) => boolean
  readonly read: (item: Item, reading: DestinationReading) => Place
  /** What is wrong with an item that names it. `textOf`: of a secret that no command prints, if it can be read. */
  readonly problems: (
    item: Item,
    textOf: (key: string, reference: string) => string | undefined
  ) => ReadonlyArray<ItemProblem>
  /** Paths that nothing else of sluice may contain or be in, apart from its own place in the output folder. */
  readonly paths: (item: Item, output: string) => ReadonlyArray<string>
}

export interface DestinationReading {
  /** The name of the target. */
  readonly name: string
  /** The output folder. */
  readonly output: string
  readonly secretOf: (key: string, reference: string) => Secret
}

export interface ItemProblem {
  readonly key: string
  readonly value: string
  /** Completes "s3_key is set, and …". */
  readonly why: string
}
