/** Saved queries: a list to open one, and a dialog to save one. */
import { button, errorBox, h, labelled } from "./dom.js"
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
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", "Save the query"),
      labelled("Name", input),
      chart ? h("p.muted", "Its chart is saved with it, and shown on the board.") : null,
      problem,
      h(
        "div.actions",
        submit,
        button("Cancel", () => dialog.close())
      )
    )
    const dialog = h("dialog", { "aria-label": "Save the query" }, form)
    input.addEventListener("input", () => {
      replace = false
      submit.textContent = "Save"
    })
    form.addEventListener("submit", async (event) => {
      event.preventDefault()
      try {
        await request("/api/queries", { name: input.value.trim(), sql, chart, replace })
        saved = input.value.trim()
        dialog.close()
      } catch (error) {
        problem.replaceChildren(errorBox(error.message))
        replace = error.code === "exists"
        submit.textContent = replace ? "Replace it" : "Save"
      }
    })
    dialog.addEventListener("close", () => {
      dialog.remove()
      resolve(saved)
    })
    document.body.append(dialog)
    dialog.showModal()
  })
