/** What a transaction changes beside the rows: their counts, the versions of the content, and the keys for the next release. */
import { changeVersions, recordChangedKeys } from "../../../stores/warehouse/meta/content-versions.ts"
import { RunChanges } from "../../../stores/warehouse/meta/run-changes.ts"

export class Changes {
  readonly counts = new RunChanges()
  private readonly released: ReadonlySet<string>
  private readonly changed = new Set<string>()

  /** `released`: the resources that a release has. */
  constructor(released: ReadonlySet<string>) {
    this.released = released
  }

  /** The first statement of a transaction: if that is repeated, what the attempt before has noted does not count. */
  begin(): ReadonlyArray<string> {
    this.counts.clear()
    this.changed.clear()
    return []
  }

  /** To run with a change of a resource's tables. `keys`: a relation with the `location_id` and `key` of each changed row. */
  ofRows(resource: string, keys: string): ReadonlyArray<string> {
    this.changed.add(resource)
    return this.released.has(resource) ? [recordChangedKeys(resource, keys)] : []
  }

  /** The statements that record what has changed so far. */
  take(): ReadonlyArray<string> {
    const statements = [...this.counts.take(), ...changeVersions(this.changed)]
    this.changed.clear()
    return statements
  }
}
