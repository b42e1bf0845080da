import { iso } from "../clock.ts"
import { Collection, entry } from "./collection.ts"
import { Random, streams } from "./random.ts"
import type { Setting } from "./setting.ts"

/** Recurring tasks (A 2.9); nothing lists them. */
export const createRecurringTasks = (setting: Setting, contacts: Collection): Collection => {
  const recurringTasks = new Collection({ build: () => ({}) })
  const owners = [...contacts.live().take(200)]
  for (let index = 0; index < 12; index++) {
    const random = new Random(setting.seed, streams.recurringTask, index)
    const id = random.id()
    const created = setting.begin + random.int(setting.end - setting.begin)
    const intervalType = random.pick(["yearly", "monthly", "weekly", "daily", "hourly"])
    const source = {
      id,
      title: random.pick(["Check the gutters", "Seasonal walk-through", "Renew the permit", "Water the show garden"]),
      description: random.chance(0.5) ? "Before noon; ring twice." : undefined,
      locationId: setting.locationId,
      contactId: owners.length > 0 && random.chance(0.7) ? random.pick(owners).id : undefined,
      assignedTo: setting.userIds.length > 0 ? random.pick(setting.userIds) : undefined,
      rruleOptions: {
        intervalType,
        interval: random.between(1, 6),
        startDate: iso(created),
        dueAfterSeconds: random.between(1, 48) * 3600,
        ...(intervalType === "weekly" && { dayOfWeek: random.pick(["MO", "TU", "FR"]) }),
        ...(intervalType === "monthly" && { dayOfMonth: random.between(1, 28) }),
        ...(random.chance(0.3) && { count: random.between(5, 50) })
      },
      totalOccurrence: random.int(40),
      deleted: false,
      createdAt: iso(created),
      updatedAt: iso(created + random.int(setting.end - created))
    }
    recurringTasks.add(entry({ id, created, source }))
  }
  return recurringTasks
}
