/** What people read of a status and of a plan, computed a second time from drawn results. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { printPlan } from "../../src/cli/plan.ts"
import { printStatus } from "../../src/cli/status.ts"
import { cellsIn, printed } from "../support/printed.ts"
import { randomFrom } from "../support/random.ts"

const now = Date.parse("2027-03-10T08:00:00Z")
const hour = 3_600_000
const at = (hoursAgo: number) => new Date(now - hoursAgo * hour).toISOString()
const clock = Effect.provideService(Clock.Clock, {
  ...Effect.runSync(Clock.Clock),
  currentTimeMillis: Effect.succeed(now),
  currentTimeMillisUnsafe: () => now
})
const drawing = (seed: number) => {
  const random = randomFrom(seed)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
  const locations = seed % 2 === 0 ? ["a", "b", "c"] : ["a"]
  return {
    random,
    upTo,
    oneOf,
    locations,
    names: locations.map((location) => ({ location, name: `Shop ${location}` }))
  }
}
const written = (n: number) => n.toLocaleString("en-US")

it("a status has a line for what is not there, the worst location first, and what each place has", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { locations, names, oneOf, random, upTo } = drawing(seed)
    const readings = locations.flatMap((location) =>
      Array.from({ length: 1 + upTo(4) }, (_, index) => {
        const state = oneOf([
          "complete",
          "complete",
          "complete_with_warnings",
          "incomplete",
          "interrupted",
          "never"
        ] as const)
        const isStale = random() < 0.2
        return {
          location,
          resource: `things_${index}`,
          state,
          isStale,
          isProblem: isStale || !state.startsWith("complete"),
          records: upTo(1) * 40,
          warnings: Array.from({ length: state === "complete" ? 0 : upTo(3) }, (_, n) => `reason ${n}`),
          ...(state !== "never" && { completeAt: at(3 + upTo(200)) }),
          ...(random() < 0.4 && { deletionsSoughtAt: at(1 + upTo(300)) })
        }
      })
    )
    const ofLocation = locations.map((location) => {
      const own = readings.filter((one) => one.location === location)
      return { location, complete: own.filter((one) => !one.isProblem).length, of: own.length }
    })
    const unreadable = locations.length > 1 && random() < 0.5 ? ["b"] : []
    const data = {
      readings,
      locations: names,
      alarms: [],
      disk: { vault: upTo(1) * 5_000_000, warehouse: 8_000_000 },
      targets: Array.from({ length: upTo(2) }, (_, index) => ({
        name: `target${index}`,
        run: "r1",
        deliveredAt: at(9),
        ...(random() < 0.5 && { failedSince: at(5), problem: "no space" })
      })),
      totals: { tables: 5, rows: 1234 },
      verdict: {
        text: "The verdict.",
        level: "problem",
        locations: ofLocation,
        causes: unreadable.map((location) => ({
          kind: "unreadable",
          location,
          text: "the token is refused",
          resources: readings.filter((one) => one.location === location).map(({ resource }) => resource)
        }))
      },
      lastRun: { id: "r1", command: "sync", status: oneOf(["complete", "interrupted"]), requests: 7, startedAt: at(4) },
      ...(random() < 0.5 && { ledger: { seq: 12, sha256: "0123456789abcdef" } })
    }
    const all = random() < 0.3
    const { err, out } = await printed(
      clock(printStatus({ data } as unknown as Parameters<typeof printStatus>[0], all))
    )
    const isSeveral = locations.length > 1
    const placeOf = (location: string) => (isSeveral ? [`Shop ${location}`] : [])
    const isSaid = (one: (typeof readings)[number]) => !all && unreadable.includes(one.location)
    const whyOf = (one: (typeof readings)[number]) =>
      one.state === "interrupted" && one.warnings.length === 0 && one.records > 0
        ? ["40 records kept; the next sync reads the rest"]
        : one.warnings.length === 0
          ? []
          : [`reason 0${one.warnings.length > 1 ? ` (and ${one.warnings.length - 1} more)` : ""}`]
    const shown = readings.filter((one) => all || (one.isProblem && !isSaid(one)))
    const lines = [...shown.filter((one) => one.isProblem), ...shown.filter((one) => !one.isProblem)].map((one) => [
      ...placeOf(one.location),
      one.resource,
      one.isStale && one.state.startsWith("complete")
        ? "stale"
        : one.state === "never"
          ? "never read"
          : one.state.replaceAll("_", " "),
      ...whyOf(one)
    ])
    const withoutAge = (cells: ReadonlyArray<string>) => cells.filter((cell) => !/ ago$|^never$/.test(cell))
    assert.deepStrictEqual(
      out
        .filter((line) => /things_\d /.test(line) && !line.startsWith("Deleted"))
        .map((line) => withoutAge(cellsIn(line))),
      lines,
      `seed ${seed}`
    )
    const refused = out.filter((line) => line.includes("the token is refused"))
    assert.lengthOf(refused, all ? 0 : unreadable.length)
    for (const line of refused) assert.include(line, `Shop b`)
    if (isSeveral) {
      const worst = ofLocation.toSorted((one, other) => one.complete / one.of - other.complete / other.of)
      const from = out.findIndex((line) => line.includes("the oldest was read"))
      assert.deepStrictEqual(
        out.slice(from + 1, from + 4).map((line) => cellsIn(line).slice(0, 3)),
        worst.map((one) => [`Shop ${one.location}`, String(one.complete), String(one.of)])
      )
    }
    const has = (start: string) => out.some((line) => line.includes(start))
    assert.isTrue(has("The verdict.") && has("The last release has 5 tables, 1,234 rows"))
    const sought = readings
      .filter((one) => one.deletionsSoughtAt)
      .toSorted((one, other) => (one.deletionsSoughtAt! < other.deletionsSoughtAt! ? -1 : 1))[0]
    assert.strictEqual(has(`Deleted rows were last looked for in ${sought?.resource} `), sought !== undefined)
    for (const one of data.targets) {
      const [line] = out.filter((each) => each.includes(`${one.name}: has the tables of run r1`))
      assert.strictEqual(line!.includes("not brought up to date since"), "failedSince" in one)
    }
    assert.strictEqual(has("Ledger: 12 records, head 0123456789ab"), "ledger" in data)
    assert.strictEqual(has("vault "), data.disk.vault > 0)
    const [run] = err.filter((line) => line.includes("Last run r1, sync"))
    assert.include(run, `${data.lastRun.status}, ${data.lastRun.status === "interrupted" ? "at least " : ""}7 requests`)
  }
})

it("a plan has a line for each resource of one location, and one for each of several", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { locations, names, random, upTo } = drawing(seed)
    const steps = locations.flatMap((location) =>
      Array.from({ length: 1 + upTo(4) }, (_, index) => {
        const min = upTo(40)
        return {
          location,
          resource: `things_${index}`,
          mode: "full",
          basis: "the last run",
          requests: { min, max: min + upTo(3) },
          likely: min,
          ...(random() < 0.7 && { records: upTo(5000) }),
          ...(random() < 0.2 && { refused: { reason: "a scope is missing" } })
        }
      })
    )
    const min = steps.reduce((sum, one) => sum + one.requests.min, 0)
    const data = {
      steps,
      locations: names,
      requests: { min, max: min },
      elapsedMs: { min: 60_000, max: 60_000 },
      omitted: [
        { resource: "emails", setting: "account.emails", what: "the texts of e-mails" },
        { resource: "notes", setting: "account.notes = true", what: "notes" }
      ],
      files: [{ location: "a", files: 1 + upTo(1), sized: upTo(1), bytes: 5_000_000 }],
      withheld: upTo(1) === 1 ? ["contacts.ssn"] : [],
      ...(random() < 0.5 && { dailyRemaining: 12_345 }),
      ...(random() < 0.3 && { unplanned: [{ location: "z", problem: "the token is refused" }] })
    }
    const { err, out } = await printed(printPlan({ data } as unknown as Parameters<typeof printPlan>[0]))
    const isSeveral = locations.length > 1
    const listed = isSeveral ? steps.filter((one) => one.refused) : steps
    assert.deepStrictEqual(
      out.filter((line) => /things_\d/.test(line)).map(cellsIn),
      listed.map((one) => [
        ...(isSeveral ? [`Shop ${one.location}`] : []),
        one.resource,
        "full",
        ...(one.records === undefined ? [] : [written(one.records)]),
        ...(one.refused
          ? ["refused: a scope is missing"]
          : [
              one.requests.min === one.requests.max
                ? written(one.requests.min)
                : `${one.requests.min} to ${one.requests.max}`,
              "the last run"
            ])
      ]),
      `seed ${seed}`
    )
    if (isSeveral)
      assert.deepStrictEqual(
        out.slice(1, 1 + locations.length).map((line) => cellsIn(line).slice(0, 3)),
        locations.map((location) => [
          `Shop ${location}`,
          location,
          String(steps.filter((one) => one.location === location).length)
        ])
      )
    const has = (text: string) => err.some((line) => line.includes(text))
    const [file] = data.files
    assert.isTrue(
      has(
        `${isSeveral ? "a: " : ""}${file!.files === 1 ? "1 file behind the links of stored records is new" : "2 files behind the links of stored records are new"}${file!.sized === 0 ? "." : "; 1 of them have"}`
      ),
      err.join("\n")
    )
    assert.isTrue(has("Not read: the texts of e-mails (emails). To read them, set account.emails = true."))
    assert.isTrue(
      has("each takes a request for each row of another table: notes (notes). To read one, set account.notes = true.")
    )
    assert.strictEqual(has("The settings keep out: contacts.ssn."), data.withheld.length > 0)
    assert.strictEqual(has("z could not be planned: the token is refused"), "unplanned" in data)
    assert.isTrue(err.at(-1)!.startsWith(`${written(min)} request${min === 1 ? "" : "s"}, `), err.at(-1))
    assert.strictEqual(err.at(-1)!.endsWith("; 12,345 requests left today."), "dailyRemaining" in data)
  }
})
