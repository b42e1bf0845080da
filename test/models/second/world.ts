/**
 * An account as the service has it, night by night: each record with what the service sends of it in each night. Ids are equal
 * at its locations on purpose.
 */
export type Sent = any
/** In a night in which the service does not have the record, `undefined`. */
export interface Timeline {
  readonly list: string
  readonly location: string
  readonly nights: ReadonlyArray<Sent | undefined>
}
/** What a run did for a list: the night, and what `meta.run_resources` has of it. */
export interface Reading {
  readonly night: number
  readonly location: string
  readonly list: string
  readonly status: string
  readonly finishedAt: number | undefined
  readonly counts: Readonly<Record<(typeof counted)[number], number>>
  readonly rounded: ReadonlyArray<number>
}
export const counted = [
  "records",
  "new_rows",
  "changed_rows",
  "deleted_rows",
  "rejected_values",
  "rejected_records",
  "requests"
] as const

export interface World {
  readonly seed: number
  /** When each night reads, in epoch milliseconds. */
  readonly nights: ReadonlyArray<number>
  readonly locations: ReadonlyArray<string>
  readonly records: ReadonlyArray<Timeline>
  readonly readings: ReadonlyArray<Reading>
}

/** The records of a list and a location in a night, by default the last one. */
export const recordsAt = (
  { nights, records }: World,
  list: string,
  location: string,
  night = nights.length - 1
): ReadonlyArray<Sent> =>
  records.flatMap((one) => (one.list === list && one.location === location && one.nights[night]) || [])

/** How the service names the id of the records of a list; numbers have that of their campaign. */
export const idOf = ({ _id, id, sourceId }: Sent): string => _id ?? id ?? sourceId

/** When the version of a record came that the last night has. */
export const cameAt = (world: World, list: string, location: string, id: string): number => {
  const { nights } = world.records.find(
    (one) => one.list === list && one.location === location && one.nights.some((sent) => sent && idOf(sent) === id)
  )!
  let last = nights.length - 1
  while (last > 0 && JSON.stringify(nights[last - 1]) === JSON.stringify(nights[last])) last--
  return world.nights[last]!
}
