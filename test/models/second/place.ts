/** What the sentences of the dictionary say about places, times and names, in TypeScript. */
import { type Sent, type World, recordsAt } from "./world.ts"

export type Value = string | number | boolean | null | undefined
export type Expected = Readonly<Record<string, Value>>

/** A location as its last night has it. */
export interface Place {
  readonly world: World
  readonly location: string
  readonly zone: string
  readonly isZoneUnknown: boolean
  readonly currency: string | undefined
  /** When everything was last read. */
  readonly readAt: number
  readonly list: (name: string) => ReadonlyArray<Sent>
}

export const placesOf = (world: World): ReadonlyArray<Place> =>
  world.locations.flatMap((location) => {
    const [sent] = recordsAt(world, "locations", location)
    if (sent === undefined) return []
    const isZoneUnknown = !isZone(sent.timezone)
    return [
      {
        world,
        location,
        zone: isZoneUnknown ? "UTC" : sent.timezone,
        isZoneUnknown,
        currency: codeOf(sent.currency),
        readAt: world.nights.at(-1)!,
        list: (name: string) => recordsAt(world, name, location)
      }
    ]
  })

const isZone = (name: unknown): boolean => {
  try {
    Intl.DateTimeFormat("en", { timeZone: name as string })
    return name !== undefined
  } catch {
    return false
  }
}

/** The ISO code of a currency, in capitals. */
export const codeOf = (sent: string | undefined): string | undefined => sent?.trim().toUpperCase() || undefined

export const at = (sent: string | undefined): number | undefined => (sent === undefined ? undefined : Date.parse(sent))

const clocks = new Map<string, Intl.DateTimeFormat>()
/** The time on the clocks of a zone, as 2026-01-31 10:00:00. */
export const clockOf = (ms: number | undefined, zone: string): string | undefined => {
  if (ms === undefined) return undefined
  if (!clocks.has(zone))
    clocks.set(
      zone,
      new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit"
      })
    )
  const parts = Object.fromEntries(
    clocks
      .get(zone)!
      .formatToParts(ms)
      .map(({ type, value }) => [type, value])
  )
  return `${parts["year"]!.padStart(4, "0")}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}:${parts["second"]}`
}
export const dayOf = (ms: number | undefined, zone: string): string | undefined => clockOf(ms, zone)?.slice(0, 10)

/** The three columns of a time: `sent_at`, `sent_local`, `sent_local_date`. */
export const timesOf = (stem: string, sent: string | undefined, zone: string, first = `${stem}_at`): Expected => ({
  [first]: at(sent),
  [`${stem}_local`]: clockOf(at(sent), zone),
  [`${stem}_local_date`]: dayOf(at(sent), zone)
})

/** Days from one day to another. */
export const daysFrom = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000

export const fullName = (name?: string, first?: string, last?: string): string | undefined =>
  name || [first, last].filter(Boolean).join(" ") || undefined

export const findBy = (all: ReadonlyArray<Sent>, id: string | undefined): Sent | undefined =>
  id === undefined ? undefined : all.find((one) => (one._id ?? one.id) === id)

/** Whether a value that need not be there is one of these; `undefined` if it is not there. */
export const isOneOf = (value: string | undefined, ...words: ReadonlyArray<string>): boolean | undefined =>
  value === undefined ? undefined : words.includes(value)

/** All of them; `undefined` if one is not known and none is false. */
export const both = (...all: ReadonlyArray<boolean | undefined>): boolean | undefined =>
  all.includes(false) ? false : all.includes(undefined) ? undefined : true
export const either = (...all: ReadonlyArray<boolean | undefined>): boolean | undefined =>
  all.includes(true) ? true : all.includes(undefined) ? undefined : false

export const product = (...factors: ReadonlyArray<number | undefined>): number | undefined =>
  factors.includes(undefined) ? undefined : (factors as ReadonlyArray<number>).reduce((all, one) => all * one, 1)
