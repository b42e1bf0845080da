import { Collection, type Data, entry } from "./collection.ts"
import { Random, streams } from "./random.ts"
import type { Setting } from "./setting.ts"
import { undocumentedOfCalendar } from "./undocumented.ts"

/** Calendars (A 2.11), with opening hours in the zone of the location; the documents show no field for those. */
export const createCalendars = (setting: Setting): Collection => {
  const calendars = new Collection({ build: () => ({}) })
  definitions.forEach(([name, slotDuration, days], index) => {
    const random = new Random(setting.seed, streams.calendar, index)
    const id = random.id()
    const source: Data = {
      id,
      locationId: setting.locationId,
      groupId: index < 2 ? new Random(setting.seed, streams.calendar, 900).id() : undefined,
      name,
      description: index % 2 === 0 ? `${name}, by appointment` : "",
      calendarType: "event",
      slotDuration,
      slotDurationUnit: "mins",
      openHours: [
        { daysOfTheWeek: days, hours: [{ openHour: 8 + (index % 2), openMinute: 0, closeHour: 17, closeMinute: 0 }] }
      ],
      ...undocumentedOfCalendar(setting, index),
      isActive: index !== 3
    }
    calendars.add(entry({ id, kind: index, created: setting.begin + index, source }))
  })
  return calendars
}

/** Monday to Friday, as 0 Sunday to 6 Saturday. */
const weekdays = [1, 2, 3, 4, 5]

const definitions: ReadonlyArray<[string, number, ReadonlyArray<number>]> = [
  ["Site visit", 60, weekdays],
  ["Design consultation", 30, weekdays],
  ["Garden walk-through", 45, [2, 4, 6]],
  ["Showroom (closed)", 30, weekdays]
]
