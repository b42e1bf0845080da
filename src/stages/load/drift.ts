/** Collects what the records of a group have and their definition does not. */
import type { Limit } from "../../values/limits.ts"

/** A difference from the definition: how often it occurs, and its first sample. */
export interface Drift {
  readonly table: string
  readonly field: string
  readonly kind: "new field" | "different type" | "no known member"
  /** As JSON. */
  readonly sample: string
  /** The key of the record that the sample comes from. */
  readonly key: string
  count: number
}

/** Adds to the differences of a group, by table, field and kind. */
export const addDrift = (
  drift: Map<string, Drift>,
  limit: Limit,
  { table, field: name, kind, key: recordKey }: Pick<Drift, "table" | "field" | "kind" | "key">,
  sample: () => string
): void => {
  const hasRoom = drift.has(`${table}.${name} ${kind}`) || !limit.isReachedBy(drift.size)
  const field = hasRoom ? name.slice(0, 200) : "(others)"
  const key = `${table}.${field} ${kind}`
  const existing = drift.get(key)
  if (existing) existing.count++
  else drift.set(key, { table, field, kind, key: recordKey, sample: sample().slice(0, 500), count: 1 })
}
