/**
 * Makes elements: `h("p.muted", "Reading…")`, with properties before the content if there are any. Values become text, never
 * markup: a contact can have the name <script>.
 */
export const h = (selector, ...content) => {
  const [tag, ...classes] = selector.split(".")
  const [properties, ...children] = content[0]?.constructor === Object ? content : [{}, ...content]
  const element = document.createElement(tag)
  element.classList.add(...classes)
  for (const [name, value] of Object.entries(properties))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (name in element && !name.startsWith("aria")) element[name] = value
    else if (value !== undefined) element.setAttribute(name, value)
  element.append(...present(children))
  return element
}

/** Content without what is not there: nothing, or the `false` of a condition. */
export const present = (content) =>
  content.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false)

export const button = (text, onclick, properties = {}) => h("button", { type: "button", onclick, ...properties }, text)

/** The name of a table or column, which lines may break after a part of it, and nowhere else. */
export const breakable = (name) => name.split(/(?<=_)/).flatMap((part) => [part, h("wbr")])

export const number = (value) => value.toLocaleString("en-US")

export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`

/** The message of DuckDB has lines that belong together, with a mark below the wrong word. */
export const errorBox = (message) => h("pre.error", { role: "alert" }, message)

/** Puts into an element what is read for it, or why it cannot be read. */
export const fill = async (element, read) => {
  const content = await Promise.resolve()
    .then(read)
    .catch((error) => errorBox(error.message))
  element.replaceChildren(...present([content]))
}

/** Does something once, and shows in `box` why it could not. */
export const attempt = async (control, box, work, failed = (error) => errorBox(error.message)) => {
  control.disabled = true
  box.replaceChildren()
  try {
    await work()
  } catch (error) {
    box.replaceChildren(...present([failed(error)]))
  }
  control.disabled = false
}

/** A part of the page that is scrolled for itself. */
export const gridBox = (label, content) => h("div.grid", { role: "region", tabIndex: 0, "aria-label": label }, content)

export const searchField = (text, onInput) => {
  const field = h("input", { type: "search", placeholder: text, "aria-label": text, autocomplete: "off" })
  field.addEventListener("input", () => onInput(field.value.trim().toLowerCase()))
  return field
}

/** A select with a visible label. */
export const labelled = (label, control) => h("label.field", h("span", label), control)

export const selectOf = (options, chosen, onchange) => {
  const select = h(
    "select",
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text))
  )
  select.addEventListener("change", () => onchange(select.value))
  return select
}
