/** The start: what people know of an account, questions that have an answer, and the tables that are made for more of them. */
import { sqlAddress, tableAddress } from "./address.js"
import { grouped, itemsOf, rowsIn } from "./catalog.js"
import { breakable, count, h, number } from "./dom.js"
import { questionsFor } from "./questions.js"
import { request } from "./service.js"
import { countsOf, thingsOf } from "./things.js"

export const overview = (data) => {
  const { tables, find, locations } = data
  const names = Object.values(locations)
  const place = names.length === 1 ? `${names[0]}. ` : names.length > 1 ? `${count(names.length, "location")}. ` : ""
  const things = thingsOf(data)
  const cards = things.map(thingCard)
  const questions = h("div")
  const groups = grouped(tables).filter(({ isFolded, title }) => !isFolded && !["Start here", "Tables"].includes(title))
  const known = things.length > 0 && things[0].table.columns.length > 0
  if (known) showCounts(things, cards).catch(() => {})
  questionsFor(data).then(
    (found) => found.length > 0 && questions.replaceChildren(h("h3", "Questions with an answer"), questionList(found)),
    () => {}
  )
  return h(
    "section.overview",
    h("h2", "What is in the account"),
    h("p.muted", `${place}Everything here is read-only. Rows stay on this machine.`),
    h(
      "ul.cards",
      cards.map(({ element }) => element)
    ),
    questions,
    groups.length === 0
      ? null
      : h(
          "details.made",
          h("summary", "Tables made for questions"),
          groups.map((group) => h("div", h("h3", group.title), h("ul.lines", itemsOf(group, line(find)))))
        )
  )
}

/** `known`: gets the counts of the thing by look, that of the whole by "". */
const thingCard = ({ looks, table, title }) => {
  const rows = h("span.count")
  const links = new Map(looks.map((look) => [look.title, h("a", { href: look.href }, look.title)]))
  return {
    element: h(
      "li",
      h("p.thing", h("a", { href: tableAddress(table), title: table.comment ?? "" }, title), rows),
      h(
        "p.looks",
        Array.from(links.values(), (link) => h("span", link))
      )
    ),
    known: (counts) => {
      const n = counts.get("")
      rows.textContent = number(n)
      if (table.deleted) rows.title = `and ${number(table.deleted)} deleted`
      for (const [look, link] of links) if (counts.has(look)) link.after(h("span.count", number(counts.get(look))))
    }
  }
}

const showCounts = async (things, cards) => {
  const { rows } = await request("/api/query", { sql: countsOf(things) })
  for (const [index, { name }] of things.entries()) {
    const own = rows.filter(([thing]) => thing === name)
    cards[index].known(new Map(own.map(([, look, n]) => [look, Number(n)])))
  }
}

const questionList = (questions) =>
  h(
    "ul.questions",
    questions.map(({ chart, name, sql }) => h("li", h("a", { href: sqlAddress(sql, chart) }, name)))
  )

const line = (find) => (table) => {
  const rows = rowsIn(table, find)
  return h(
    "li",
    h("a", { href: tableAddress(table) }, breakable(table.name)),
    rows === undefined ? null : h("span.count", count(rows, "row")),
    h("p.muted", table.comment ?? "")
  )
}
