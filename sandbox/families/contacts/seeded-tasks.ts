import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry } from "../../account/collection.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, ownerOf, type AccountContext } from "../../account/context.ts"
import { noteText } from "../../account/texts.ts"
import { undocumentedOfTask } from "../../account/undocumented.ts"

/** Contact tasks (A 2.3). */
export const createTasks = (context: AccountContext, contacts: Collection): Collection => {
  const tasks = new Collection({
    build: withMalformedValues(
      context,
      (entry) => task(context, entry),
      malformFields({ instants: "dueDate", flags: "completed", texts: "title body" })
    )
  })
  const owners = [...contacts.live()]
  if (owners.length === 0) return tasks
  const { tasks: count } = context.settings
  for (let index = 0; index < count; index++) {
    const random = new Random(context.seed, streams.task, index)
    const id = random.id()
    const owner = owners[ownerOf(context, streams.task, index, owners.length)]!
    const created = creationTime(context, streams.task, index, count)
    tasks.add(entry({ id, parent: owner.id, created, source: index }))
  }
  return tasks
}

const task = (context: AccountContext, entry: Entry): Data => {
  const random = new Random(context.seed, streams.task, entry.source as number)
  random.id()
  return {
    id: entry.id,
    contactId: entry.parent,
    title: random.pick(["Call back", "Send estimate", "Order materials", "Book crew", "=HYPERLINK task"]),
    body: random.chance(0.4) ? noteText(random) : undefined,
    assignedTo: random.chance(0.7) && context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
    dueDate: iso(entry.created + random.between(1, 30) * 86_400_000),
    completed: random.chance(0.6),
    ...undocumentedOfTask(context, entry.source as number)
  }
}
