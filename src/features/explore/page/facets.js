/** The values of columns that have few: each with its rows, and as a filter. */
import { targetOfReference } from "./data.js"
import { button, h, number } from "./dom.js"
import { request } from "./service.js"
import { baseOf, qualified, quoted, whereOf } from "./sql.js"
import { wordsOf } from "./values.js"

const columnsMax = 5
/** Values of a column; rows of other tables, such as stages and users, have names that are read at a glance. */
const valuesMax = 12
const namesMax = 40
/** A column that is nearly empty divides nothing. */
const shareMin = 0.2
/** Texts that are longer are read one by one. */
const charactersMax = 60
/** What most people divide rows by. Contacts and what belongs to one of them are people, not kinds of rows. */
const usual = /(^|_)(status|type|stage|pipeline|source|channel|calendar|form|survey|assigned|user)(_|$)/

export const facetsOf = (table, view, data, { columns, onChange }) => {
  const element = h("details.facets", { hidden: true, open: matchMedia("(min-width: 50rem)").matches })
  let sql
  /** `facts`: by the name of each column, how many values it has. */
  const show = async (facts, total) => {
    const chosen = chosenOf(table, view, data, columns(), facts, total)
    const next = chosen.map(queryOf(table, view)).join("\nUNION ALL ")
    if (next === sql) return
    sql = next
    element.hidden = chosen.length === 0
    if (chosen.length === 0) return
    const { rows } = await request("/api/query", { sql })
    if (next !== sql) return
    const lists = chosen.map(({ column }, index) => [column, rows.filter(([i]) => Number(i) === index)])
    const short = lists.filter(([, own]) => own.every(isShort) && !own.every(isIdOnly))
    element.hidden = short.length === 0
    element.replaceChildren(h("summary", "Facets"), h("div", short.map(facet(view, onChange))))
  }
  return { element, show }
}

const isShort = ([, value]) => (value ?? "").length <= charactersMax
/** Without a name, as where the release does not have the table of the users. */
const isIdOnly = ([, value, , name]) => value === null || (!name && /^(?=.*\d)[\w-]{16,}$/.test(value))

const isFiltered = ({ filters }, name) =>
  filters.some(({ column, operator }) => column === name && (operator === "equals" || operator === "empty"))

const chosenOf = (table, view, data, columns, facts, total) => {
  const own = new Set(table.wide?.columns ?? columns.map(({ name }) => name))
  const suits = ({ name, refersTo, type }) => {
    const { distinct = 0, share = 0 } = facts.get(name) ?? {}
    if (!own.has(name) || name.startsWith("_") || table.key.includes(name)) return false
    if (isFiltered(view, name)) return true
    const target = refersTo && targetOfReference(data, refersTo)
    if (!["VARCHAR", "BOOLEAN"].includes(type) || (/(^|_)id$/.test(name) && !(target && usual.test(name)))) return false
    return share >= shareMin && distinct > 1 && distinct <= (target ? namesMax : valuesMax) && distinct * 2 <= total
  }
  const rank = ({ name }) => (isFiltered(view, name) ? 0 : usual.test(name) ? 1 : 2)
  return columns
    .filter(suits)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, columnsMax)
    .map((column) => ({ column, target: column.refersTo && targetOfReference(data, column.refersTo) }))
}

/** Stages come in the order of their pipeline, all other values by their rows. */
const queryOf =
  (table, view) =>
  ({ column: { name, refersTo }, target }, index) => {
    const counted = `SELECT ${quoted(name)} AS value, count(*) AS n FROM ${qualified(baseOf(table, { ...view, sort: undefined }) ?? table)}${whereOf(view, table)} GROUP BY ALL`
    const shown = `SELECT ${index} AS i, value::VARCHAR AS value, n`
    if (!target) return `${shown}, NULL AS name, NULL AS place FROM (${counted})`
    const has = (one) => target.table.columns.some((column) => column.name === one)
    const place =
      has("position") && has("pipeline_id")
        ? "min(concat(pipeline_id, ' ', lpad(position::VARCHAR, 9, '0')))"
        : "NULL::VARCHAR"
    return `${shown}, name, place FROM (${counted}) LEFT JOIN (SELECT ${quoted(refersTo.column)} AS value, any_value(${quoted(target.label)}) AS name, ${place} AS place FROM ${qualified(target.table)} GROUP BY 1) USING (value)`
  }

const facet =
  (view, onChange) =>
  ([{ name, comment }, rows]) => {
    const own = rows
      .map(([, value, n, label, place]) => ({ value, n: Number(n), label, place: place ?? "" }))
      .toSorted((one, other) => (one.place < other.place ? -1 : one.place > other.place ? 1 : other.n - one.n))
    const item = ({ label, n, value }) => {
      const same = (filter) =>
        filter.column === name &&
        (value === null ? filter.operator === "empty" : filter.operator === "equals" && filter.value === value)
      const isOn = view.filters.some(same)
      const toggle = () => {
        if (isOn) view.filters.splice(0, Infinity, ...view.filters.filter((filter) => !same(filter)))
        else view.filters.push({ column: name, operator: value === null ? "empty" : "equals", value: value ?? "" })
        onChange()
      }
      const text = label ?? value ?? "none"
      return h(
        "li",
        button(text === "" ? "(empty)" : text, toggle, {
          className: "link",
          title: label && value,
          "aria-pressed": String(isOn)
        }),
        h("span.count", number(n))
      )
    }
    return h(
      "section",
      h("h3", { title: comment ?? "" }, wordsOf(name)),
      h("ul", { tabIndex: 0, "aria-label": wordsOf(name) }, own.map(item))
    )
  }
