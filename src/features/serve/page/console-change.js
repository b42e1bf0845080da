/** Changes of the settings file: what is wrong stands at its field, and the difference is shown before anything is written. */
import { button, h } from "./dom.js"
import { attempt, primary } from "./console-parts.js"
import { formOf, fieldsOf } from "./console-form.js"
import { showDialog } from "./grid.js"
import { request } from "./service.js"

const signs = { added: "+ ", removed: "− ", same: "  " }

/** Shows what would change in the file, and writes it if the person agrees. `written`: called afterwards. */
export const proposeChange = async (body, written) => {
  const { basis, diff, problems } = await request("/api/settings", { ...body, apply: false })
  if (problems.length > 0) throw Object.assign(new Error(problems[0].message), { problems })
  if (diff.every(({ kind }) => kind === "same")) throw new Error("Nothing would change.")
  const box = h("div")
  const write = button("Write the file", () => attempt(write, box, apply), primary)
  const apply = async () => {
    const answer = await request("/api/settings", { ...body, apply: true, basis })
    if (!answer.written) throw new Error(answer.problems.map(({ message }) => message).join(" "))
    dialog.close()
    await written()
  }
  const lines = diff.map(({ kind, text }) => h(`span.${kind}`, `${signs[kind]}${text}\n`))
  const dialog = showDialog(
    "The change of the file",
    h("pre.diff", { tabIndex: 0, role: "region", "aria-label": "Difference" }, lines),
    h("div.actions", write),
    box
  )
}

/** A form that adds an item to a list of the file. `fixed`: what is no field. */
export const addForm = (list, fields, tables, written, fixed = {}) => {
  const { elements, given } = fieldsOf(fields, tables)
  const texts = () => Object.entries(given()).map(([name, value]) => [name, String(value)])
  const propose = () => proposeChange({ add: { list, values: { ...Object.fromEntries(texts()), ...fixed } } }, written)
  return formOf("Show the change", elements, propose)
}
