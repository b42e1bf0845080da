import { Collection, type Data, entry } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { undocumentedOfCalendar } from "../../account/undocumented.ts"

/** Calendars (A 2.11), with opening hours in the time zone of the location, for which the documents show no field. */
export const createCalendars = (context: AccountContext): Collection => {
  const calendars = new Collection({ build: () => ({}) })
  definitions.forEach(([name, slotDuration, days], index) => {
    const random = new Random(context.seed, streams.calendar, index)
    const id = random.id()
    const source: Data = {
      id,
      locationId: context.locationId,
      groupId: index < 2 ? new Random(context.seed, streams.calendar, 900).id() : undefined,
      name,
      description: index % 2 === 0 ? `${name}, by appointment` : "",
      calendarType: "event",
      slotDuration,
      slotDurationUnit: "mins",
      openHours: [
        { daysOfTheWeek: days, hours: [{ openHour: 8 + (index % 2), openMinute: 0, closeHour: 17, closeMinute: 0 }] }
      ],
      ...undocumentedOfCalendar(context, index),
      isActive: index !== 3
    }
    calendars.add(entry({ id, kind: index, created: context.begin + index, source }))
  })
  return calendars
}

/** Monday to Friday; 0 is Sunday. */
const weekdays = [1, 2, 3, 4, 5]

const definitions: ReadonlyArray<[string, number, ReadonlyArray<number>]> = [
  ["Site visit", 60, weekdays],
  ["Design consultation", 30, weekdays],
  ["Garden walk-through", 45, [2, 4, 6]],
  ["Showroom (closed)", 30, weekdays]
]
