/** Work that people do now and then: a form for each command, made from its flags. */
import { h, selectOf } from "./dom.js"
import { field, formOf, headline, input, start, words } from "./console-parts.js"
import { request } from "./service.js"

export const tasks = async ([name]) => {
  const { tasks: all } = await request("/api/tasks")
  const task = all.find((one) => one.task === name)
  if (task) return taskForm(task)
  const card = ({ summary, task: one, title }) =>
    h("li", h("a", { href: `#/tasks/${one}` }, title), h("p.muted", summary))
  return [
    h("h2", "Work"),
    h("p.muted", "Each of these is a command: its form shows the line that does the same in a terminal."),
    h("ul.cards", all.map(card))
  ]
}

const taskForm = ({ fields, isPlanOnly, line, summary, task, title }) => {
  const shown = h("code")
  const controls = fields.map((one) => [one, controlOf(one)])
  const given = () =>
    controls
      .map(([one, control]) => [one, one.kind === "flag" ? control.checked : control.value.trim()])
      .filter(([, value]) => value !== "" && value !== false)
  const show = () => {
    const words = given().map(([{ flag }, value]) => {
      if (value === true) return flag
      // An argument has no flag.
      return flag.startsWith("-") ? `${flag} ${quoted(value)}` : quoted(value)
    })
    shown.textContent = [line, ...words].join(" ")
  }
  const form = formOf(
    isPlanOnly ? "Show the plan" : "Start",
    [
      ...controls.map(([{ description, name }, control]) => field(words(name), description, control)),
      h("p.muted", "In a terminal: ", shown)
    ],
    () => start(task, Object.fromEntries(given().map(([{ name }, value]) => [name, value])))
  )
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

const controlOf = ({ choices, kind, required, value }) => {
  if (kind === "flag") return h("input", { type: "checkbox", checked: value === true })
  if (kind === "choice")
    return selectOf([["", "not given"], ...choices.map((one) => [one, one])], value ?? "", () => {})
  return input({ value: value ?? "", required })
}

/** As a shell takes it. */
const quoted = (text) => (/^[\w./:@,+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
