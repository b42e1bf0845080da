import { iso } from "../clock.ts"
import { Collection, type Data, type Entry, entry } from "./collection.ts"
import { spoiled, spoilFields } from "./nasty.ts"
import { Random, streams } from "./random.ts"
import { creationTime, ownerOf, type Setting } from "./setting.ts"
import { noteText } from "./texts.ts"
import { undocumentedOfTask } from "./undocumented.ts"

/** Contact tasks (A 2.3). */
export const createTasks = (setting: Setting, contacts: Collection): Collection => {
  const tasks = new Collection({
    build: spoiled(
      setting,
      (entry) => task(setting, entry),
      spoilFields({ instants: "dueDate", flags: "completed", texts: "title body" })
    )
  })
  const owners = [...contacts.live()]
  if (owners.length === 0) return tasks
  const { tasks: count } = setting.settings
  for (let index = 0; index < count; index++) {
    const random = new Random(setting.seed, streams.task, index)
    const id = random.id()
    const owner = owners[ownerOf(setting, streams.task, index, owners.length)]!
    const created = creationTime(setting, streams.task, index, count)
    tasks.add(entry({ id, parent: owner.id, created, source: index }))
  }
  return tasks
}

const task = (setting: Setting, entry: Entry): Data => {
  const random = new Random(setting.seed, streams.task, entry.source as number)
  random.id()
  return {
    id: entry.id,
    contactId: entry.parent,
    title: random.pick(["Call back", "Send estimate", "Order materials", "Book crew", "=HYPERLINK task"]),
    body: random.chance(0.4) ? noteText(random) : undefined,
    assignedTo: random.chance(0.7) && setting.userIds.length > 0 ? random.pick(setting.userIds) : undefined,
    dueDate: iso(entry.created + random.between(1, 30) * 86_400_000),
    completed: random.chance(0.6),
    ...undocumentedOfTask(setting, entry.source as number)
  }
}
