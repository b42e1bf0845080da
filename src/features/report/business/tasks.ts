/** Section: the tasks that are open, by how long they are overdue. Their owners are people, so they are not named. */
import * as Effect from "effect/Effect"
import { count, counted, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { bars, number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import type { Topic } from "./topic.ts"

/** By the name that is shown, SQL for its tasks; each task is in the first that fits. */
const ages = [
  ["Overdue by more than 30 days", "is_overdue AND overdue_days > 30"],
  ["Overdue by 8 to 30 days", "is_overdue AND overdue_days BETWEEN 8 AND 30"],
  ["Overdue by up to 7 days", "is_overdue AND overdue_days < 8"],
  ["Not due yet", "is_overdue IS NOT TRUE AND due_date IS NOT NULL"],
  ["Without a day", "due_date IS NULL"]
] as const

export const taskTopic: Topic = {
  id: "tasks",
  title: "Open tasks",
  models: ["fct_task"],
  resources: ["tasks"],
  unknown: { rows: (from) => `${from("fct_task")} WHERE is_completed IS NULL`, thing: "task", of: "status" },
  whether: "a task is open",
  find: Effect.fn("report.tasks")(function* ({ from, metric, rowsSql, tile, leftOut }) {
    const open = metric("open_tasks")
    const found = yield* query(
      { age: Number, tasks: Number, owners: Number },
      `SELECT CASE ${ages.map(([, sql], index) => `WHEN ${sql} THEN ${index}`).join(" ")} END AS age,
         ${open.value} AS tasks, count(DISTINCT assigned_user_id) AS owners
       FROM ${from(open.model)} WHERE ${open.condition} GROUP BY ALL`
    )
    const rows = ages.map(([name, sql], index) => {
      const { owners = 0, tasks = 0 } = found.find(({ age }) => age === index) ?? {}
      return { name, sql, tasks, owners, isOverdue: sql.startsWith("is_overdue AND") }
    })
    const all = sumOf(rows, ({ tasks }) => tasks)
    const overdue = sumOf(
      rows.filter((row) => row.isOverdue),
      ({ tasks }) => tasks
    )
    return {
      figures: all === 0 ? [] : [tile(metric("overdue_tasks"), count(overdue), `of ${count(all)} that are open`)],
      rows: rowsSql(open),
      isEmpty: all === 0,
      lead: `${counted(all, "task is", "tasks are")} open, ${share(overdue, all)} of them overdue.${leftOut}`,
      content: tableOf(rows, {
        id: "open-tasks",
        caption: "Open tasks by their day",
        behind: ({ sql }) => sql,
        columns: [
          text("Age", ({ name }) => name),
          number("Tasks", ({ tasks }) => tasks),
          number("Owners", ({ owners }) => owners),
          bars("Share of the highest", rows, ({ tasks }) => tasks)
        ]
      })
    }
  })
}
