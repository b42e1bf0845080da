/** What differs between the report of accounts and what their records say. */
import { Effect } from "effect"
import { business } from "../../../src/features/report/business/business.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import { textOf } from "../../report/reading.ts"
import { randomFrom } from "../../support/random.ts"
import { byNormaliser, withAccounts } from "./load.ts"
import { daysOf, saidOf } from "./report.ts"
import { secondly } from "./second.ts"
import type { World } from "./world.ts"

/** The numbers of a text, without those of days, months and examples in it. */
const numbersIn = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/(\d{1,2} )?[A-Z][a-z]{2} \d{4}/g, "")
    .replace(/A question is the first.*?time zone of the location\./, "")
    .replaceAll("in the last 13 months", "")
    .match(/[−-]?\d[\d,]*(\.\d+)?/g) ?? []

/** What stands between two places of a page. */
const between = (html: string, from: string, to: string): string => html.split(from)[1]?.split(to, 1)[0] ?? ""

/** `moments`: how many times the report is made, as of the last night and of days before it. */
export const wrongInReport = (worlds: ReadonlyArray<World>, moments: number) =>
  withAccounts(worlds, byNormaliser, async (modelsOf, path) => {
    await modelsOf()
    const end = Math.max(...worlds.map(({ nights }) => nights.at(-1)!))
    const random = randomFrom(worlds[0]!.seed)
    const times = Array.from({ length: moments }, (_, n) => end - Math.floor(n && random() * 300 * 86_400_000))
    const rows = worlds.map((world) => secondly(world, worlds))
    const locations = worlds.flatMap((world) => world.locations)
    const wrong = await Promise.all(times.map((asOf) => wrongAt(rows, locations, path, asOf)))
    return wrong.flat()
  })

const wrongAt = async (
  rows: ReadonlyArray<ReturnType<typeof secondly>>,
  locations: ReadonlyArray<string>,
  path: string,
  asOf: number
) => {
  const rowsOf = (location?: string) => (model: string) =>
    rows
      .flatMap((one) => one.get(model) ?? [])
      .filter((row) => location === undefined || row["location_id"] === location)
  const zones = rowsOf()("dim_location").map((row) => String(row["time_zone"]))
  const part = business(asOf, {
    locations: [...locations],
    placeOf: (location) => location,
    group: ({ location }) => location
  })
  const layer = Warehouse.layer(path, { access: "read", memoryMb: 256 })
  const page = await Effect.runPromise(Effect.provide(part, layer))
  const wrong: Array<string> = []
  for (const [index, location] of [undefined, ...locations].entries()) {
    const said = saidOf(rowsOf(location), daysOf(zones, asOf))
    const own = (html: string) => between(html, `<div class="place place-${index}">`, `<div class="place place-`)
    const compare = (what: string, shown: string, expected: string) => {
      const [is, should] = [numbersIn(shown).join(" "), numbersIn(expected).join(" ")]
      if (is === should) return
      const when = new Date(asOf).toISOString()
      wrong.push(`${location ?? "all"} ${when} ${what}: ${is}, but ${should} in: ${textOf(shown)}`)
    }
    const shownTiles = own(page.content.text.split('<div class="two-columns">')[0]!)
    const tiles = new Map(
      Array.from(shownTiles.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs), ([, title, shown]) => [
        title!,
        shown!.replace(/<span title="([^"]*)">.*?<\/span>/s, "$1").replaceAll(/<[^>]*>/g, " ")
      ])
    )
    for (const title of new Set([...tiles.keys(), ...Object.keys(said.tiles)]))
      compare(title, tiles.get(title) ?? "no tile", said.tiles[title] ?? "no tile")
    compare("headline", textOf(own(page.headline?.text ?? "").split("before:")[1] ?? ""), said.headline)
    for (const [id, expected] of Object.entries(said.sentences)) {
      const section = between(page.content.text, `<section id="${id}"`, "</section>")
      compare(id, textOf(between(own(section), '<p class="lead">', "</p>")), expected)
    }
  }
  return wrong
}
