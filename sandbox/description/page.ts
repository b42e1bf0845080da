import { LazyCollections } from "../lazy-collections.ts"
import { routes } from "../routes.ts"
import type { Service } from "../service.ts"
import { Collection } from "../account/collection.ts"
import { familyOf } from "./families.ts"

/** The HTML page at `/`: the state of the sandbox, the number of records, and all operations by family. */
export const page = (service: Service): string => {
  const families = Map.groupBy(routes, familyOf)
  const lists = [...families].map(
    ([family, members]) =>
      `<details><summary>${escaped(family)} <small>${members.length}</small></summary><table>` +
      members
        .map(({ method, path, scope = "", summary }) =>
          row(`<code>${method}</code>`, `<code>${escaped(path)}</code>`, escaped(summary), `<code>${scope}</code>`)
        )
        .join("") +
      "</table></details>"
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Account Platform sandbox</title>
<style>${style}</style>
<h1>Account Platform sandbox</h1>
<p>The documented service for clients that read, from memory. Its description: <a href="/openapi.json">openapi.json</a>.</p>
<h2>State</h2>
<table>${state(service)}</table>
<h2>Records</h2>
<ul>${counts(service)}</ul>
<h2>Operations <small>${routes.length}</small></h2>
${lists.join("\n")}
</html>
`
}

const state = ({ clock, faults, limiter, settings, statistics, world }: Service): string => {
  const { locationId } = world.context
  const fields = {
    Location: locationId,
    Clock: new Date(clock.now()).toISOString(),
    World: `${settings.world}, seed ${settings.seed}`,
    "Requests so far": String(statistics.requests),
    Faults: faults.rules.length === 0 ? "none" : JSON.stringify(faults.rules),
    ...(settings.limits === "off" ? { Limits: "off" } : limiter.headers())
  }
  return Object.entries(fields)
    .map(([name, value]) => row(escaped(name), escaped(value)))
    .join("")
}

/** The size of each collection. Derived collections have no size of their own, so they are omitted. */
const counts = ({ world }: Service): string =>
  [...Object.entries(world), ...lazyNames.map((name) => [name, world[name]] as const)]
    .flatMap(([name, held]): Array<[string, number]> => (held instanceof Collection ? [[name, held.size]] : []))
    .filter(([, size]) => size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, size]) => `<li>${escaped(name)} <b>${size.toLocaleString("en")}</b></li>`)
    .join("")

/** The getters of the class, which `Object.entries` omits. */
const lazyNames = Object.entries(Object.getOwnPropertyDescriptors(LazyCollections.prototype)).flatMap(
  ([name, { get }]) => (get === undefined ? [] : [name as keyof LazyCollections])
)

const row = (...cells: ReadonlyArray<string>): string => `<tr><td>${cells.join("</td><td>")}</td></tr>`

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2rem; }
small { opacity: 0.65; font-weight: normal; }
table { border-collapse: collapse; width: 100%; }
td { padding: 0.2rem 0.75rem 0.2rem 0; vertical-align: top; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); overflow-wrap: anywhere; }
summary { cursor: pointer; padding: 0.3rem 0; font-weight: 600; }
ul { columns: 14rem; list-style: none; padding: 0; }
code { font-size: 0.9em; }
`
