import { iso } from "../../account/clock.ts"
import { Collection, entry } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"

/** Recurring tasks (A 2.9); nothing lists them. */
export const createRecurringTasks = (context: AccountContext, contacts: Collection): Collection => {
  const recurringTasks = new Collection({ build: () => ({}) })
  const owners = [...contacts.live().take(200)]
  for (let index = 0; index < 12; index++) {
    const random = new Random(context.seed, streams.recurringTask, index)
    const id = random.id()
    const created = context.begin + random.int(context.end - context.begin)
    const intervalType = random.pick(["yearly", "monthly", "weekly", "daily", "hourly"])
    const source = {
      id,
      title: random.pick(["Check the gutters", "Seasonal walk-through", "Renew the permit", "Water the show garden"]),
      description: random.chance(0.5) ? "Before noon; ring twice." : undefined,
      locationId: context.locationId,
      contactId: owners.length > 0 && random.chance(0.7) ? random.pick(owners).id : undefined,
      assignedTo: context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
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
      updatedAt: iso(created + random.int(context.end - created))
    }
    recurringTasks.add(entry({ id, created, source }))
  }
  return recurringTasks
}
