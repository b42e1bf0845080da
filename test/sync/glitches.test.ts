/**
 * A service that for some time answers wrongly, for every operation: nothing that exists is marked deleted, nothing is called
 * complete that was not read, and the next sync reads again. test/catalog/answer.test.ts has every form of error with the
 * status 200, and test/simulation/claims.test.ts what is wrong whatever the table is.
 */
import { assert, describe, it } from "@effect/vitest"
import { at } from "../../src/catalog/json.ts"
import { type Catalogue, discover } from "../../src/catalog/discover.ts"
import { type Resource, childRequestOf } from "../../src/catalog/resource.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { openAlone, openSynced } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { Refusal } from "../support/proxy.ts"
import { begin, beginForAll, contactsWithout } from "../support/life.ts"

interface Route {
  readonly isList: boolean
  readonly pattern: RegExp
  readonly method: string
  /** Path of the records in the response. */
  readonly records: string
}

/** The lists of resources, and those of the children of a parent. The location proves the token, so it is left alone. */
const routesOf = ({ resources }: Catalogue): ReadonlyArray<Route> =>
  resources.filter(({ table }) => table !== "locations").flatMap((resource) => [...listsOf(resource)])

function* listsOf(resource: Resource): Iterable<Route> {
  const route = ({ request, records }: NonNullable<Resource["full"]>[number], isList: boolean) => ({
    isList,
    method: request.method,
    pattern: new RegExp(`^${request.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    records
  })
  for (const strategy of [...(resource.full ?? []), ...(resource.changes?.strategies ?? [])])
    yield route(strategy, true)
  if (childRequestOf(resource)?.kind === "children") yield route(resource.childOf!.strategy, false)
}

/** A copy of a response whose list is replaced. */
const withList = (answer: unknown, path: string, change: (list: ReadonlyArray<unknown>) => unknown): unknown => {
  const list = at(answer, path)
  if (!Array.isArray(list)) return answer
  if (path === "") return change(list)
  const copy = structuredClone(answer) as Record<string, unknown>
  const names = path.split(".")
  const inner = names.slice(0, -1).reduce((object, name) => object[name] as Record<string, unknown>, copy)
  inner[names.at(-1)!] = change(list)
  return copy
}

const notFound = new Refusal(404, { statusCode: 404, message: "Not Found" })
type Glitch = (answer: unknown, route: Route) => unknown
/** No one could take these answers for right ones: nothing changes. `singles`: for single records and their children only. */
const plain: Readonly<Record<string, { singles?: true; form?: string; alter?: Glitch; code?: number }>> = {
  "an error with the status 200 for everything": { form: "success" },
  // Pages of a gateway in place of every response are an outage.
  "a page of a gateway for everything": { form: "html", code: 75 },
  "null instead of the list": { alter: (answer, { records }) => withList(answer, records, () => null) },
  "404 instead of every list of children": { alter: (answer, { isList }) => (isList ? answer : notFound) },
  // The last ones: what the next plain sync reads again is seen then.
  "an error with the status 200 for single records": { singles: true, form: "message" },
  "nothing but null for single records": { singles: true, form: "null" }
}
/** What these lists lack could be deleted: where no record can be asked for, a second reading that agrees is believed. */
const believable: Readonly<Record<string, Glitch>> = {
  "empty lists of children": (answer, { isList, records }) => (isList ? answer : withList(answer, records, () => [])),
  "half of every list": (answer, { records }) =>
    withList(answer, records, (list) => list.slice(0, Math.floor(list.length / 2))),
  "every second record of children": (answer, { isList, records }) =>
    isList ? answer : withList(answer, records, (list) => list.filter((_, index) => index % 2 === 1))
}

const catalogue = await discover()
const routes = routesOf(catalogue)
/** Requests for the children or the detail of single records, by their labels. */
const singles = catalogue.resources.flatMap((resource) => {
  const request = childRequestOf(resource)
  return request && !request.enabledBy && !resource.enabledBy && resource.singleReads !== "never"
    ? [{ label: request.label, path: request.strategy.request.path.replaceAll(/\{\w+\}/g, "*") }]
    : []
})
const childLists = "contact_notes,prices,order_fulfillments,blog_posts,funnel_pages,appointments,messages/conversations"
/** How many of so many rows a run may lose of a table whose records nobody can ask for. */
const lossOf = new Map(
  catalogue.resources
    .filter(({ getOne }) => !getOne)
    .flatMap((resource) =>
      tablesOf(resource).map(({ name }) => [
        name,
        // The rows of a record, such as its tags, go with it: they are allowed twenty, or the share.
        (rows: number) => (name === resource.table ? rows / 3 : Math.max(20, rows * 0.3))
      ])
    )
)

describe("a service that answers wrongly for a while", { tags: ["slow"] }, () => {
  const life = beginForAll(
    () => openSynced({ flags: ["--contacts", "25"] }),
    async (life) => {
      // One clock for all commands: their times follow each other, and only the back-off waits for it.
      life.clock = acceleratedClock()
      await life.sync("--again=all")
    }
  )
  const syncWith = async (glitch: Glitch | undefined, ...rules: ReadonlyArray<unknown>) => {
    await life.service.post("faults", { rules })
    life.alter =
      glitch &&
      (({ method, path }, answer) => {
        const [target] = path.split("?")
        const route = routes.find((one) => one.method === method && one.pattern.test(target!))
        return route ? glitch(answer, route) : answer
      })
    const ran = await life.run(["sync", "--again=all"])
    life.alter = undefined
    await life.service.post("faults", { rules: [] })
    return ran
  }
  const each = async (columns: string) => {
    const named = await life.ask(
      `SELECT table_name AS name, bool_or(column_name = 'deleted') AS flagged, bool_or(column_name = '_deleted_at') AS marked
       FROM information_schema.columns WHERE table_schema = 'crm' GROUP BY ALL`
    )
    const selects = named.map(({ flagged, marked, name }) => {
      const isMarked = marked === true ? "_deleted_at IS NOT NULL" : "false"
      const own = flagged === true ? `${isMarked} AND NOT coalesce(deleted, false)` : isMarked
      return `SELECT '${String(name)}' AS name, ${columns.replace("OWN", own)} FROM crm."${String(name)}" AS t`
    })
    return life.ask(`${selects.join(" UNION ALL ")} ORDER BY name`)
  }
  /** A fingerprint of every table. */
  const tables = () => each("count(*) AS n, bit_xor(hash(t)) AS content")
  /** Rows of each table, and how many of them are marked deleted although the service did not flag their record. */
  const counted = async () =>
    (await each("count(*)::INT AS n, (count(*) FILTER (OWN))::INT AS deleted")).map(({ deleted, n, name }) => ({
      deleted: Number(deleted),
      n: Number(n),
      name: String(name)
    }))
  const readings = async () => {
    const last = "FROM meta.run_resources WHERE run_id = (SELECT max(run_id) FROM meta.runs)"
    return new Map((await life.ask(last)).map((row) => [String(row["resource"]), row] as const))
  }

  it.each(Object.entries(plain))("with %s changes nothing and is not complete", async (name, wrong) => {
    const before = await tables()
    const matches = wrong.singles ? singles.map(({ path }) => ({ match: path })) : [{}]
    const rules = wrong.form === undefined ? [] : matches.map((match) => ({ kind: "200", form: wrong.form, ...match }))
    const ran = await syncWith(wrong.alter, ...rules)
    assert.strictEqual(ran.code, wrong.code ?? 3, ran.stderr)
    assert.deepStrictEqual(await tables(), before)
    const found = await readings()
    const labels = wrong.singles
      ? singles.map(({ label }) => label)
      : wrong.form
        ? [...found.keys()]
        : childLists.split(",")
    for (const label of labels) assert.notMatch(String(found.get(label)!["status"]), /^complete/, `${name}: ${label}`)
  })

  it("and is well again is read again by the next plain sync", async () => {
    await life.sync()
    const healed = await readings()
    for (const [resource, { status }] of healed) assert.strictEqual(status, "complete", resource)
    for (const { label } of singles) assert.isAbove(Number(healed.get(label)!["requests"]), 0, label)
    await life.equalsService()
  })

  it.each(Object.entries(believable))("with %s loses no more than is believed of a list", async (name, glitch) => {
    const before = new Map((await counted()).map((one) => [one.name, one.deleted]))
    const ran = await syncWith(glitch)
    const lost = (await counted()).filter((one) => one.deleted > before.get(one.name)!)
    const believed = lost.filter((one) => !name.startsWith("empty") && lossOf.has(one.name))
    assert.deepStrictEqual(lost, believed, ran.stderr)
    for (const table of believed) assert.isAtMost(table.deleted, lossOf.get(table.name)!(table.n), table.name)
  })

  it("and is well again has every table as it is, without the rows of what was deleted, after one full sync", async () => {
    for (const collection of ["notes", "prices", "blog_posts", "funnel_pages", "redirects", "workflows", "emails"]) {
      const [first] = await life.service.records(collection)
      await life.service.post("remove", { collection, id: first!["id"] ?? first!["_id"] })
    }
    await life.sync("--again=all")
    await life.equalsService()
    const verified = await life.run(["verify", "--all"])
    assert.strictEqual(verified.code, 0, verified.stdout)
  })
})

it(
  "contacts that the list leaves out, and of which a proxy says 404, are not deleted",
  { tags: ["slow"] },
  async () => {
    const life = await begin(openAlone("contacts", "--contacts", "6"))
    await life.sync()
    const out = (await life.service.records("contacts")).slice(0, 2).map(({ id }) => String(id))
    life.alter = ({ path }, answer) => {
      if (path === "/contacts/search") return contactsWithout(answer, out)
      const isOut = out.some((id) => path === `/contacts/${id}`)
      return isOut ? new Refusal(404, { message: "no Route matched with those values" }) : answer
    }
    const { stderr } = await life.run(["sync", "--again=all"])
    assert.match(stderr, /contacts: 2 rows.* missing from the list/, stderr)
    assert.deepStrictEqual(await life.deleted("contacts"), [])
  }
)

it("an empty list beside a message is no notes: the sync is incomplete, and the next one has them", async () => {
  const life = await begin(openAlone("contacts,contact_notes", "--contacts", "4"))
  life.clock = acceleratedClock()
  life.alter = ({ path }, answer) => (path.endsWith("/notes") ? { message: "Upstream timed out", notes: [] } : answer)
  await life.sync("", 3)
  life.alter = undefined
  await life.sync()
  const notes = await life.service.records("notes")
  assert.lengthOf(await life.ask("FROM crm.contact_notes"), notes.length)
})
