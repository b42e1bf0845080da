/** Changes of the settings file: controls for values, and the difference before anything is written. */
import { button, h, selectOf } from "./dom.js"
import { attempt, headline, input, primary, timeText } from "./console-parts.js"
import { showDialog } from "./grid.js"
import { request } from "./service.js"

const signs = { added: "+ ", removed: "− ", same: "  " }

/** Shows what would change in the file, and writes it if the person agrees. `written`: called afterwards. */
export const proposeChange = async (body, written) => {
  const { basis, diff, next, problems } = await request("/api/settings", { ...body, apply: false })
  const box = h("div")
  const isSame = diff.every(({ kind }) => kind === "same")
  const write = button("Write the file", () => attempt(write, box, apply), primary)
  const apply = async () => {
    const answer = await request("/api/settings", { ...body, apply: true, basis })
    if (!answer.written) throw new Error(answer.problems.join(" ") || "Nothing was written.")
    dialog.close()
    await written()
  }
  const lines = diff.map(({ kind, text }) => h(`span.${kind}`, `${signs[kind]}${text}\n`))
  const dialog = showDialog(
    "The change of the file",
    problems.length > 0
      ? headline(
          "error",
          problems.map((problem) => h("p", problem))
        )
      : isSame
        ? h("p", "Nothing would change.")
        : h("pre.diff", { tabIndex: 0, role: "region", "aria-label": "Difference" }, lines),
    problems.length === 0 && next && h("p", `The next runs would be: ${next.map((one) => timeText(one)).join("; ")}.`),
    h("div.actions", problems.length === 0 && !isSame && write),
    box
  )
}

/** A control for a value: its element, and a function that reads it. */
export const controlFor = ({ choices, kind, value }, label) => {
  if (kind === "choices" && Array.isArray(value)) {
    const boxes = choices.map((one) => h("input", { type: "checkbox", checked: value.includes(one), value: one }))
    const element = h(
      "span.group",
      { role: "group", "aria-label": label },
      boxes.map((one) => h("label.check", one, one.value))
    )
    return [element, () => boxes.filter(({ checked }) => checked).map((one) => one.value)]
  }
  const options = kind === "boolean" ? ["true", "false"] : choices
  const element = options
    ? selectOf(
        options.map((one) => [one, one]),
        String(value),
        () => {}
      )
    : input({
        type: kind === "number" ? "number" : "text",
        step: "any",
        value: Array.isArray(value) ? value.join(", ") : (value ?? "")
      })
  element.ariaLabel = label
  const read = {
    boolean: (text) => text === "true",
    list: listOf,
    number: (text) => (text === "" ? null : Number(text))
  }[kind]
  return [element, () => (read ? read(element.value) : element.value)]
}

/** `03:30, 13:00` as its parts. */
export const listOf = (text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
