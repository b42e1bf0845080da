/** Work that people do now and then: a form for each command, made from its flags. */
import { h } from "./dom.js"
import { headline, start } from "./console-parts.js"
import { fieldsOf, formOf, tablesOf } from "./console-form.js"
import { request } from "./service.js"

export const tasks = async ([name]) => {
  const { tasks: all } = await request("/api/tasks")
  const task = all.find((one) => one.task === name)
  if (task) return taskForm(task, await tablesOf())
  const card = ({ summary, task: one, title }) =>
    h("li", h("a", { href: `#/tasks/${one}` }, title), h("p.muted", summary))
  const groups = Map.groupBy(all, ({ group }) => group)
  return [
    h("h2", "Work"),
    h("p.muted", "Each of these is a command: its form shows the line that does the same in a terminal."),
    Array.from(groups, ([group, own]) => [h("h3", group), h("ul.cards", own.map(card))])
  ]
}

const taskForm = ({ fields, isPlanOnly, line, summary, task, title }, tables) => {
  const shown = h("code")
  const { elements, given } = fieldsOf(fields, tables)
  const show = () => {
    const said = given()
    const words = fields.flatMap(({ flag, name }) => {
      if (said[name] === undefined) return []
      // An argument has no flag.
      return said[name] === true ? [flag] : flag ? [flag, quoted(said[name])] : [quoted(said[name])]
    })
    shown.textContent = [line, ...words].join(" ")
  }
  const content = [elements, h("p.muted", "In a terminal: ", shown)]
  const form = formOf(isPlanOnly ? "Show the plan" : "Start", content, () => start(task, given()))
  form.addEventListener("input", show)
  show()
  return [
    h("h2", title),
    h("p", summary),
    isPlanOnly &&
      headline(
        "none",
        h("p", "This page removes nothing: it shows what would be removed, and the command that does it.")
      ),
    form
  ]
}

/** As a shell takes it. */
const quoted = (text) => (/^[\w./:@,+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
