/**
 * A world is all that a scenario depends on: plain data, drawn from a seed, so that one can be printed, written by hand and
 * made smaller. Every part of it is a dial, and each has a value at which nothing happens.
 */
import type { FaultRule } from "../../sandbox/http/faults.ts"
import type { Variants } from "../../sandbox/options.ts"
import type { SmallLimits } from "../../src/values/limits.ts"
import { randomFrom } from "../support/random.ts"
import { collections, withParents } from "./catalogue.ts"
import { withSmallLimits } from "./small-limits.ts"
import { type Change, isPossible } from "./changes.ts"
import { type Glitch, type GlitchName, drawnGlitches, glitchKinds } from "./glitches.ts"
import { type BadHost, type WrongAnswer, wrongAnswers } from "./host.ts"
import { isOn } from "./off-today.ts"

/** What ends a run before its end. */
export interface Interruption {
  /** `power`: what was not synced is lost. `stop`: a signal. `token`: the service does not accept it any more. */
  readonly kind: "kill" | "power" | "stop" | "disk full" | "token"
  /** The request, write or statement at which it happens. */
  readonly at: number
}

/** One run, and what happens before and during it. */
export interface Night {
  readonly full: boolean
  readonly hoursAfter: number
  readonly changes: ReadonlyArray<Change>
  /** Rules of the sandbox, or the share of requests with any fault. */
  readonly faults: number | ReadonlyArray<FaultRule>
  readonly glitch?: Glitch
  /** Error messages repeat the token. */
  readonly echoesToken?: boolean
  /** Changes while the account is read. */
  readonly churn?: { readonly perRequest: number; readonly deletes: number }
  readonly interruption?: Interruption
  /** The machine's clock is moved during the run. */
  readonly clock?: { readonly at: number; readonly byMs: number }
  /** The share of answers whose `Date` is wrong, missing or no time, or that a cache has kept. */
  readonly lies?: number
  /** The machine sleeps again and again, after so many steps: all that waits goes on late. */
  readonly suspended?: { readonly every: number; readonly ms: number }
  /** From this night on, the service behaves so. */
  readonly habits?: Variants
  /** The target cannot be written. */
  readonly targetFails?: boolean
  /** What the host of the files sends in their place. */
  readonly host?: BadHost
  /** The token of one location is revoked, at the request, write or statement; 0: before the run. */
  readonly refused?: { readonly place: number; readonly at: number }
}

export interface World {
  /** Decides the account, the latencies, and which requests a share of faults concerns. */
  readonly seed: number
  readonly collections: ReadonlyArray<string>
  readonly contacts: number
  /** The share of the records of which every account has many. */
  readonly scale: number
  readonly pageSize: number
  readonly latencyMs: number
  readonly limits: { readonly burst: number; readonly intervalMs: number; readonly daily: number } | "off"
  readonly retryAfter?: number
  readonly windowKind: "sliding" | "fixed"
  /** Requests of another client in each interval. */
  readonly foreign: number
  readonly habits: Variants
  /** A second location has records with the same ids. */
  readonly twoLocations: boolean
  readonly formats: ReadonlyArray<"duckdb" | "csv" | "parquet" | "ndjson">
  /** Each release goes to another folder too. */
  readonly target: boolean
  /** The files behind links are fetched. */
  readonly files: boolean
  readonly deletionShareMax: number
  /** Before each commit; meanwhile, what is read from the service is prepared for the next. */
  readonly commitMs?: number
  /** Limits of the program that are so small that the world crosses them. */
  readonly small?: SmallLimits
  readonly nights: ReadonlyArray<Night>
  /** At the end, `verify` replays the vault; or something is damaged, which it has to find. */
  readonly verify: "no" | "replay" | "damage"
}

export const calmNight: Night = { full: false, hoursAfter: 24, changes: [], faults: 0 }
export const calmWorld: World = {
  seed: 1,
  collections,
  contacts: 12,
  scale: 0.15,
  pageSize: 5,
  latencyMs: 5,
  limits: "off",
  windowKind: "sliding",
  foreign: 0,
  habits: {},
  twoLocations: false,
  formats: [],
  target: false,
  files: false,
  deletionShareMax: 0.3,
  nights: [calmNight],
  verify: "no"
}

export const draw = (seed: number): World =>
  later.reduce((world, turn, index) => turn(world, diceOf(seed * 31 + 17 + index)), drawn(diceOf(seed), seed))

const diceOf = (seed: number): Dice => {
  const random = randomFrom(seed)
  return {
    chance: (share) => random() < share,
    int: (below) => Math.floor(random() * below),
    pick: (...choices) => choices[Math.floor(random() * choices.length)]!
  }
}

const chosenFrom = (names: ReadonlyArray<string>) => withParents(names).map(({ collection }) => collection)

const withMore = (world: World, { chance, pick }: Dice): World => {
  const target = world.formats.length > 0 && chance(0.5)
  const nights = world.nights.map((night, index): Night => {
    const odd = { what: "odd" as const, collection: pick(...world.collections), count: pick(1, 3) }
    const isOdd = chance(0.15) && isPossible(odd)
    return {
      ...night,
      ...(isOdd && { changes: [...night.changes, odd] }),
      ...(target && index > 0 && chance(0.4) && { targetFails: true })
    }
  })
  return { ...world, nights, target }
}

/** For one night, the machine is two days ahead or behind. */
const withWrongClock = (world: World, { chance, int, pick }: Dice): World => {
  const [wrong, byMs] = [int(world.nights.length), pick(2, -2) * dayMs]
  const isCalm = world.nights.every(({ clock }) => clock === undefined)
  if (!isCalm || !chance(0.08)) return world
  const set = (night: Night, by: number): Night => ({ ...night, clock: { at: 1, byMs: by } })
  const nights = world.nights.map((night, index) =>
    index === wrong ? set(night, byMs) : index === wrong + 1 ? set(night, -byMs) : night
  )
  return { ...world, nights }
}

/** Some servers of the service have another time, or something between keeps answers. */
const withLies = (world: World, { chance, pick }: Dice): World => {
  const lies = pick(0.1, 0.2)
  return chance(0.06) ? { ...world, nights: world.nights.map((night) => ({ ...night, lies })) } : world
}

/** Lists of many pages that an interruption ends half-way: the next run goes on there. */
const withLongLists = (world: World, { chance, int, pick }: Dice): World => {
  if (!chance(0.06)) return world
  const chosen = chosenFrom(pick(["contacts"], ["orders"], ["products", "redirects"]))
  const interruption: Interruption = { kind: pick("kill", "power", "stop"), at: 25 + int(40) }
  const first: Night = { ...calmNight, full: true, interruption }
  const long = { collections: chosen, contacts: 40, scale: 0.6, pageSize: 3, latencyMs: 20, limits: "off" } as const
  return { ...world, ...long, target: false, formats: [], nights: [first, continued(first)] }
}

/** A small account in which something is deleted, and for a night the service says whatever is drawn, to whatever is asked. */
const withAnyAnswers = (world: World, { chance, int, pick }: Dice): World => {
  if (!chance(0.4)) return world
  const chosen = chosenFrom(pick(["contacts", "notes"], ["products", "prices"], ["blogs", "blog_posts"]))
  const deletion = { what: "delete" as const, collection: chosen[0]!, count: 1 + int(2) }
  const name = pick(...drawnGlitches)
  const of = pick<Glitch["of"]>(...glitchKinds[name].of)
  // If no record is answered rightly, a control shows it; the half of them is harder.
  const glitch: Glitch = {
    name,
    of,
    rate: of === "record" ? 0.5 : pick(0.5, 1),
    ...(chance(0.5) && { seed: int(1e9) })
  }
  const wrong: Night = { ...calmNight, full: true, hoursAfter: 25, changes: [deletion], glitch }
  const nights = [...(chance(0.7) ? [calmNight] : []), wrong, { ...calmNight, full: true }]
  return { ...world, collections: chosen, contacts: 6 + int(8), target: false, formats: [], files: false, nights }
}

/** Records lead to files, and on some nights their host sends something else. What it has not on two days is gone. */
const withFiles = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.08)) return world
  const all = Object.keys(wrongAnswers) as ReadonlyArray<WrongAnswer>
  let answers = all
  const nights = world.nights.map((night, index): Night => {
    const pictures = { what: "picture" as const, collection: "products", count: index === 0 ? 100 : pick(0, 1, 3) }
    const isBad = chance(0.6)
    const host = { answer: pick(...answers), rate: pick(0.2, 0.6, 1) }
    if (isBad) answers = all.filter((one) => one !== "not found")
    return { ...night, changes: [pictures, ...night.changes], ...(isBad && { host }) }
  })
  const chosen = chosenFrom([...world.collections, "products"])
  return { ...world, collections: chosen, nights, files: true }
}

/** The service sorts contacts as it likes, so that the first page of a night has not what changed last. */
const withOwnOrder = (world: World, { chance, pick }: Dice): World =>
  chance(0.1) ? { ...world, habits: { ...world.habits, contactSort: pick("created", "email") } } : world

/** Tables are too large for the memory of the loader: its batches look up the rows of some pages, of all, or of none. */
const withLargeTables = (world: World, { chance, pick }: Dice): World =>
  chance(0.25)
    ? {
        ...world,
        small: { load: { knownRows: pick(2, 6, 15, 200), smallKnownRows: pick(0, 1, 5), knownPages: pick(0, 1, 2) } }
      }
    : world

/** Of several locations, the token of one is revoked on some night, and again valid on the next. */
const withRefusedLocation = (world: World, { chance, int, pick }: Dice): World => {
  if (!chance(0.12)) return world
  const of = 1 + int(world.nights.length - 1)
  const nights = world.nights.map((night, index): Night =>
    index === of ? { ...night, refused: { place: pick(0, 1), at: pick(0, 0, 1 + int(60)) } } : night
  )
  return { ...world, twoLocations: true, nights }
}

/** The requests of a day do not suffice for a first reading: it pauses, and goes on when the next day has begun. */
const withScarceDays = (world: World, { chance, int }: Dice): World => {
  if (!chance(0.04)) return world
  const chosen = chosenFrom(["contacts", "notes"])
  const limits = { burst: 25, intervalMs: 2000, daily: 12 + int(12) }
  const nights = [calmNight, { ...calmNight, hoursAfter: 0.1 }, calmNight]
  const few = { contacts: 17, pageSize: 5, foreign: 0, target: false, formats: [], files: false }
  return { ...world, ...few, collections: chosen, limits, nights }
}

/** Dials that came later have dice of their own, so that those before them stay as they were for each seed. */
const later = [
  withMore,
  withWrongClock,
  withLongLists,
  withLies,
  withFiles,
  withOwnOrder,
  withLargeTables,
  withRefusedLocation,
  withAnyAnswers,
  withScarceDays,
  ...withSmallLimits
]

const drawn = (dice: Dice, seed: number): World => {
  const { chance, int, pick } = dice
  const isMass = chance(0.12)
  const all = !isMass && chance(0.08)
  const chosen = chosenFrom(
    all
      ? collections
      : isMass
        ? [pick("contacts", "redirects"), "notes"]
        : Array.from({ length: 1 + int(5) }, () => pick(...collections))
  )
  const nights: Array<Night> = []
  // The first night reads the account; it is calm as often as not, so that the others have something to change.
  for (let left = 2 + int(2); left > 0; left--) {
    const before = nights.at(-1)
    nights.push(before?.interruption && chance(0.6) ? continued(before) : nightOf(dice, chosen, nights.length === 0))
  }
  if (isMass) nights.splice(1, 0, massNight(dice, chosen))
  const restorable = chosen.filter((collection) => isPossible({ what: "restore", collection, count: 1 }))
  if (restorable.length > 0 && chance(0.2)) nights.push(...restoredNights(pick(...restorable)))
  // A day's requests suffice for a day's reading, or no number of days would do.
  return {
    seed,
    collections: chosen,
    contacts: isMass ? 45 : chance(0.1) ? 40 : 2 + int(16),
    scale: pick(0.1, 0.15, 0.3),
    pageSize: isMass ? 10 : pick(3, 5, 5, 10, 25),
    latencyMs: pick(2, 20, 100),
    limits: chance(0.6)
      ? { burst: pick(10, 25, 100), intervalMs: 2000, daily: chance(0.4) ? (all ? 250 : 40) + int(150) : 200_000 }
      : "off",
    ...(chance(0.4) && { retryAfter: 1 + int(20) }),
    windowKind: chance(0.15) ? "fixed" : "sliding",
    foreign: chance(0.1) ? 3 : 0,
    habits: { ...habitsOf(dice), dailyResetHeader: chance(0.5) },
    twoLocations: chance(0.12),
    formats: pick<World["formats"]>(
      [],
      [],
      [],
      [],
      ["duckdb"],
      ["csv"],
      ["parquet"],
      ["duckdb", "csv", "parquet", "ndjson"]
    ),
    target: false,
    files: false,
    deletionShareMax: 0.3,
    nights,
    verify: pick("no", "no", "no", "no", "replay", "damage")
  }
}

export interface Dice {
  readonly chance: (share: number) => boolean
  readonly int: (below: number) => number
  readonly pick: <A>(...choices: ReadonlyArray<A>) => A
}

/** The next run after an interruption, before anything else has changed. */
const continued = ({ full }: Night): Night => ({ ...calmNight, full, hoursAfter: 0.1 })

const nightOf = (dice: Dice, chosen: ReadonlyArray<string>, isFirst: boolean): Night => {
  const { chance, int, pick } = dice
  const full = chance(0.3)
  const faults = chance(0.25)
    ? pick<Night["faults"]>(0.03, 0.1, [{ kind: pick("hang", "slow"), rate: 0.02 }], refusals, [
        { kind: "repeat", rate: 0.05 }
      ])
    : 0
  const glitch = chance(isFirst ? 0.2 : 0.45) ? glitchOf(dice, chosen) : undefined
  const interruption = chance(0.45) ? interruptionOf(dice) : undefined
  return {
    full,
    hoursAfter: pick(0.02, 0.1, 5, 25, 25, 200),
    changes: isFirst ? (chance(0.3) ? changesOf(dice, chosen) : []) : changesOf(dice, chosen),
    faults,
    ...(glitch && isOn(`glitch ${glitch.name}`) && { glitch }),
    ...(chance(0.15) && { echoesToken: true }),
    ...(chance(0.2) && { churn: { perRequest: pick(0.1, 0.5, 1), deletes: pick(0, 0.1) } }),
    ...(interruption && { interruption }),
    ...(chance(0.1) && { clock: { at: 1 + int(200), byMs: pick(2 * hourMs, 9 * hourMs, -10 * 60_000, -3 * 60_000) } }),
    ...(chance(0.15) && { suspended: { every: pick(5, 11, 29, 97), ms: 150_000 } }),
    ...(!isFirst && chance(0.1) && { habits: habitsOf(dice) })
  }
}

/** A record is deleted, and the service restores it as it was. */
const restoredNights = (collection: string): ReadonlyArray<Night> =>
  (["delete", "restore"] as const).map((what) => ({ ...calmNight, changes: [{ what, collection, count: 1 }] }))

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const interruptionOf = ({ int, pick }: Dice): Interruption => ({
  kind: pick("kill", "kill", "power", "power", "stop", "disk full", "token"),
  at: 1 + int(pick(20, 120, 300))
})

/** Often exactly one kind of change, so that nothing else hides what becomes of it. */
const changesOf = ({ chance, int, pick }: Dice, chosen: ReadonlyArray<string>): ReadonlyArray<Change> =>
  Array.from({ length: pick(0, 1, 1, 1, 2, 4) }, () => ({
    what: chance(0.15)
      ? pick<Change["what"]>("spoil", "stray")
      : pick<Change["what"]>("add", "edit", "edit", "delete", "delete", "restore"),
    collection: pick(...chosen),
    count: pick(1, 1, 1, 2, 5) + int(2)
  })).filter(isPossible)

const glitchOf = ({ chance, int, pick }: Dice, chosen: ReadonlyArray<string>): Glitch => {
  const name = chance(0.6) ? pick(...drawnGlitches) : pick(...(Object.keys(glitchKinds) as ReadonlyArray<GlitchName>))
  return {
    name,
    of: pick(...glitchKinds[name].of),
    ...pick<object>({}, { collection: pick(...chosen) }),
    rate: pick(0.1, 0.5, 1, 1),
    ...(chance(0.5) && { seed: int(1e9) })
  }
}

/** Exactly as many records are deleted as one run may remove, or one more. See oracles/deletions.ts. */
const massNight = ({ pick }: Dice, chosen: ReadonlyArray<string>): Night => ({
  ...calmNight,
  full: true,
  changes: [
    {
      what: "delete",
      collection: pick(...chosen.filter((one) => ["contacts", "redirects"].includes(one)), "contacts"),
      count: pick(8, 9, 20, 21)
    }
  ]
})

const habitsOf = ({ chance, pick }: Dice): Variants => ({
  // With both, contacts could not be read at all, which a run reports correctly.
  ...pick<Variants>(
    {},
    {},
    {},
    { contactPaging: "page" },
    { contactDateFilter: "refused" },
    { contactDateFilter: "epoch" }
  ),
  ...(chance(0.1) && { opportunityFilters: pick("ignored", "refused") }),
  ...(chance(0.05) && { exportDates: "ignored" }),
  ...(chance(0.05) && { messageDateUpdated: false }),
  ...(chance(0.05) && { conversationDates: "epoch" }),
  ...(chance(0.05) && { contactDateUpdated: "once changed" }),
  ...(chance(0.05) && { unknownContactStatus: 400 })
})

const refusals: ReadonlyArray<FaultRule> = [
  { kind: "429-storm", rate: 0.01, ms: 15_000 },
  { kind: "429", rate: 0.02 }
]
