/** Saved queries: a list to open one, and a dialog to save one. */
import { attempt, errorBox, h, labelled } from "./dom.js"
import { showDialog } from "./grid.js"
import { request } from "./service.js"

export const savedList = (onOpen) => {
  const select = h("select", { "aria-label": "Saved queries" })
  let queries = []
  const read = async () => {
    ;({ queries } = await request("/api/queries"))
    select.replaceChildren(
      h("option", { value: "" }, queries.length === 0 ? "No saved queries" : "Open a saved query"),
      ...queries.map(({ name }) => h("option", { value: name }, name))
    )
    select.disabled = queries.length === 0
  }
  select.addEventListener("change", () => {
    const query = queries.find(({ name }) => name === select.value)
    if (query) onOpen(query)
    select.value = ""
  })
  return { element: select, read }
}

/** Resolves to the name, or to nothing if the dialog is closed. */
export const saveDialog = ({ sql, name, chart }) =>
  new Promise((resolve) => {
    const input = h("input", { type: "text", required: true, maxLength: 80, value: name ?? "" })
    const problem = h("div")
    const submit = h("button.primary", { type: "submit" }, "Save")
    let replace = false
    let saved
    const about = chart && h("p.muted", "Its chart is saved with it, and shown on the board.")
    const form = h("form", labelled("Name", input), about, problem, h("div.actions", submit))
    const dialog = showDialog("Save the query", form)
    input.addEventListener("input", () => {
      replace = false
      submit.textContent = "Save"
    })
    const save = async () => {
      const given = input.value.trim()
      await request("/api/queries", { name: given, sql, chart, replace })
      saved = given
      dialog.close()
    }
    const refused = (error) => {
      replace = error.code === "exists"
      submit.textContent = replace ? "Replace it" : "Save"
      return errorBox(error.message)
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault()
      attempt(submit, problem, save, refused)
    })
    dialog.addEventListener("close", () => resolve(saved))
    input.focus()
  })
