/**
 * What the service may do, a sentence and a world for each: the first sync reads the account, the next one finds what has
 * changed, and every oracle agrees after each. Seeds draw these dials together with others; here each is turned alone.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Change } from "./changes.ts"
import { restoreDisk } from "./disk.ts"
import { type GlitchName, glitchKinds } from "./glitches.ts"
import { type WrongAnswer, wrongAnswers } from "./host.ts"
import { isOn } from "./off-today.ts"
import { type Result, play } from "./scenario.ts"
import { type World, calmNight, calmWorld } from "./world.ts"

const agree = async (turned: Partial<World>): Promise<Result> => {
  const result = await play({ ...calmWorld, ...turned })
  assert.deepStrictEqual(result.wrong, [], JSON.stringify(result, null, 1))
  return result
}

const changed = (...collections: ReadonlyArray<string>): ReadonlyArray<Change> =>
  collections.flatMap((collection) => [
    { what: "edit" as const, collection, count: 2 },
    { what: "add" as const, collection, count: 2 }
  ])

const contacts = { collections: ["contacts"], nights: [calmNight, { ...calmNight, changes: changed("contacts") }] }
const opportunities = {
  collections: ["pipelines", "contacts", "opportunities"],
  nights: [calmNight, { ...calmNight, changes: changed("opportunities") }]
}
const messages = {
  collections: ["conversations", "messages"],
  nights: [calmNight, { ...calmNight, changes: changed("messages") }]
}
const several = {
  collections: ["locations", "contacts", "notes", "orders", "products", "prices"],
  nights: [calmNight, { ...calmNight, changes: changed("contacts", "orders", "products") }]
}
const limited = (burst: number) => ({ limits: { burst, intervalMs: 2000, daily: 200_000 } })
const faulty = (faults: World["nights"][number]["faults"]) => ({
  ...several,
  nights: several.nights.map((night) => ({ ...night, faults }))
})

const slow = { tags: ["slow"], timeout: 120_000 }
const rows: ReadonlyArray<readonly [sentence: string, world: Partial<World>, warning?: RegExp]> = [
  [
    "contacts have no cursor, and pages are numbered",
    { ...contacts, habits: { contactPaging: "page" } },
    /have no searchAfter/
  ],
  [
    "contacts have neither a cursor nor page numbers",
    { ...contacts, contacts: 40, habits: { contactPaging: "none" } },
    /have no searchAfter/
  ],
  [
    "contacts have neither a cursor nor page numbers, and pages are shorter than requested",
    { ...contacts, contacts: 40, habits: { contactPaging: "none", pageCut: 3 } },
    /have no searchAfter/
  ],
  ["pages of contacts are shorter than requested", { ...contacts, habits: { pageCut: 3 } }],
  ["date filters need epoch milliseconds", { ...contacts, habits: { contactDateFilter: "epoch" } }],
  [
    "a contact has no date of change before its first change",
    { ...contacts, habits: { contactDateUpdated: "once changed" } }
  ],
  ["a contact that does not exist is a bad request", { ...contacts, habits: { unknownContactStatus: 400 } }],
  ["filters on opportunities are refused", { ...opportunities, habits: { opportunityFilters: "refused" } }],
  ["filters on opportunities are ignored", { ...opportunities, habits: { opportunityFilters: "ignored" } }],
  ["a page of the export has at most 500 messages", { ...messages, habits: { exportLimitMax: 500 } }],
  ["the export ignores its dates", { ...messages, habits: { exportDates: "ignored" } }],
  ["messages have no date of change", { ...messages, habits: { messageDateUpdated: false } }],
  ["conversations have dates in epoch milliseconds", { ...messages, habits: { conversationDates: "epoch" } }],
  ["another client of the account uses part of the rate limit", { ...several, ...limited(25), foreign: 10 }],
  ["the limits are lower than documented", { ...several, ...limited(10) }],
  ["the rate limit counts in fixed windows", { ...several, ...limited(25), windowKind: "fixed" }],
  ["one request in twenty fails", faulty(0.05)],
  [
    "some requests are refused with 429 below the rate limit",
    { ...faulty([{ kind: "429", rate: 0.03 }]), ...limited(25) }
  ],
  ["one response in ten is truncated", faulty([{ kind: "truncate", rate: 0.1 }])],
  [
    "one connection in ten is reset",
    faulty([
      { kind: "reset-before", rate: 0.05 },
      { kind: "reset-after", rate: 0.05 }
    ])
  ],
  [
    "ids are no plain names",
    {
      collections: ["contacts", "notes", "products", "prices", "orders", "redirects"],
      formats: ["csv"],
      nights: ["contacts", "products", "orders", "redirects"].map((collection) => ({
        ...calmNight,
        changes: [{ what: "odd", collection, count: 5 }]
      }))
    }
  ],
  [
    "a target cannot be written for some nights",
    {
      ...contacts,
      formats: ["duckdb", "csv"],
      target: true,
      nights: [true, false, true].map((targetFails) => ({ ...calmNight, targetFails, changes: changed("contacts") }))
    }
  ],
  ...(Object.keys(wrongAnswers) as ReadonlyArray<WrongAnswer>).map(
    (answer) =>
      [
        `the host of the files sends ${answer} in place of half of them`,
        {
          collections: ["products"],
          files: true,
          verify: "replay" as const,
          nights: [undefined, { answer, rate: 0.5 }].map((host) => ({
            ...calmNight,
            changes: [{ what: "picture" as const, collection: "products", count: 100 }],
            ...(host && { host })
          }))
        }
      ] as const
  ),
  [
    "a parent with children is deleted, and restored as it was",
    {
      collections: ["products", "prices"],
      nights: [
        calmNight,
        { ...calmNight, full: true, changes: [{ what: "delete", collection: "products", count: 1 }] },
        { ...calmNight, full: true, changes: [{ what: "restore", collection: "products", count: 1 }] }
      ]
    }
  ],
  ...([2, -2] as const).map(
    (days) =>
      [
        `the clock of the machine is wrong by ${days} days for a night`,
        {
          ...several,
          nights: [0, days, -days, 0].map((by) => ({
            ...calmNight,
            changes: changed("contacts", "orders"),
            ...(by !== 0 && { clock: { at: 1, byMs: by * 86_400_000 } })
          }))
        }
      ] as const
  ),
  ...([0, 2] as const).map(
    (days) =>
      [
        `some answers have another time, and the clock of the machine is wrong by ${days} days`,
        {
          ...several,
          nights: [0, days, 0, -days].map((by, index) => ({
            ...calmNight,
            full: index > 1,
            lies: 0.3,
            changes: changed("contacts", "orders"),
            ...(by !== 0 && { clock: { at: 1, byMs: by * 86_400_000 } })
          }))
        }
      ] as const
  ),
  ["two locations have records with the same ids", { ...several, twoLocations: true }],
  [
    "a strategy stops working between two runs",
    {
      ...contacts,
      nights: contacts.nights.with(1, { ...contacts.nights[1]!, habits: { contactDateFilter: "refused" } })
    }
  ]
]

afterAll(() => restoreDisk())

describe("every oracle agrees after a first and a second sync even if", () => {
  // Opens the warehouse that all worlds use.
  beforeAll(() => play({ ...calmWorld, collections: ["locations"], nights: [] }), 60_000)

  it("date filters are refused", async () => {
    await agree({ ...contacts, contacts: 6, habits: { contactDateFilter: "refused" } })
  }, 60_000)

  it("the host of the files sends a page in place of half of them", async () => {
    const pictures = [{ what: "picture" as const, collection: "products", count: 100 }]
    const nights = [{ ...calmNight, changes: pictures, host: { answer: "a page as a picture" as const, rate: 0.5 } }]
    await agree({ collections: ["products"], files: true, nights })
  }, 60_000)

  it.each(rows.map(([sentence, world, warning]) => [sentence, world, warning] as const))(
    "%s",
    slow,
    async (_, world, warning) => {
      const { events } = await agree(world)
      if (warning) assert.match(events[0]!, warning)
    }
  )
})

describe("an account that changes while it is read", () => {
  it("a run has every record that did not change, and a full one after it has all", slow, async () => {
    const churn = { perRequest: 2, deletes: 0.1 }
    const collections = ["pipelines", "contacts", "notes", "opportunities", "conversations"]
    await agree({ collections, contacts: 30, nights: [{ ...calmNight, churn }] })
  })
})

describe("an export cursor that expires while the machine sleeps, or its request waits", () => {
  it.each([
    ["applies", {}],
    ["ignores", { exportDates: "ignored" as const }]
  ])(
    "is not sent again, and every message is read, if the service %s the dates of the export",
    slow,
    async (_, habits) => {
      const faults = [{ kind: "429" as const, rate: 0.1 }]
      const nights = [5, 7].map((every) => ({ ...calmNight, full: true, faults, suspended: { every, ms: 150_000 } }))
      await agree({ ...messages, ...limited(10), retryAfter: 20, contacts: 20, habits, nights })
    }
  )
})

describe("a service that answers wrongly for a night", () => {
  const collections = ["contacts", "notes", "products", "prices", "redirects", "blogs", "blog_posts", "tasks"]
  const cases = (Object.keys(glitchKinds) as ReadonlyArray<GlitchName>).flatMap((name) =>
    isOn(`glitch ${name}`) ? glitchKinds[name].of.map((of) => [name, of] as const) : []
  )

  it.each(cases)(
    "with '%s' for every %s: nothing that exists is marked deleted, nothing is complete that was not read, and it heals",
    slow,
    async (name, of) => {
      const wrong = { ...calmNight, full: true, glitch: { name, of, rate: 1 } }
      await agree({ collections, nights: [calmNight, wrong, wrong] })
    }
  )
})
