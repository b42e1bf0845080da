/** Draws limits of the program so small that the world crosses them, and says which of them the worlds of some seeds have crossed. */
import { type SmallLimits, usualLimits } from "../../src/values/limits.ts"
import { withParents } from "./catalogue.ts"
import type { Dice, Night, World } from "./world.ts"

type Room = keyof SmallLimits

/** What takes one transaction, statement or question takes several, or the program turns to its other way. */
const withFew = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.5)) return world
  const all: SmallLimits = {
    load: {
      batchBytes: pick(1, 2000, 20_000),
      batchRecords: pick(1, 4, 20),
      batchTables: pick(1, 2),
      readBytes: pick(1, 3000),
      backlogBytes: pick(1, 5000)
    },
    extract: { parents: pick(1, 2, 7), firstParents: pick(1, 3), failuresInARow: pick(0, 1, 3) },
    publish: { changedKeys: pick(0, 2), compressedRows: pick(0, 20) }
  }
  return withSome(world, all, () => chance(0.4))
}

/** Of those that were drawn later. What no right answer can come through is drawn so that it still does. */
const withMore = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.6)) return world
  const all: SmallLimits = {
    api: {
      bodyBytes: pick(6000, 8000, 20_000),
      // A token is judged only after two refusals.
      attempts: pick(3, 4),
      clockSeconds: pick(4, 6)
    },
    extract: {
      pageRecords: pick(3, 8),
      controls: pick(1, 3),
      deletedRows: pick(0, 1, 3),
      reducedAttempts: 1,
      missedInARow: pick(0, 1),
      lastIds: pick(2, 4),
      vainReadings: pick(0, 1),
      fileRecords: pick(1, 3)
    },
    load: {
      nearBytes: pick(1, 3000),
      learntFields: pick(0, 1),
      scannedRows: pick(0, 1),
      enumValues: pick(0, 1)
    },
    vault: { segmentBytes: pick(1, 3000, 20_000), recentBytes: pick(0, 3000) },
    warehouse: {
      tablesTogether: pick(1, 3),
      smallRows: pick(0, 3),
      smallTables: pick(1, 4)
    },
    publish: { changedShare: pick(0, 0.1), replacedShare: pick(0, 0.05), growth: pick(0, 1.01) }
  }
  return withSome(world, all, () => chance(0.3))
}

/** Some answers are larger than the program reads: what has them is never complete, and says why. */
export const isCut = ({ small }: World): boolean =>
  small?.api?.bodyBytes !== undefined || small?.extract?.pageRecords !== undefined

const withSome = (world: World, drawn: SmallLimits, isChosen: () => boolean): World => {
  const chosen = (own: object) => Object.fromEntries(Object.entries(own).filter(isChosen))
  const small = Object.entries(drawn).map(([room, own]) => [room, { ...world.small?.[room as Room], ...chosen(own) }])
  return { ...world, small: { ...world.small, ...Object.fromEntries(small) } }
}

/** Limits that only a certain world crosses, each with that world. */
const certain: ReadonlyArray<{
  readonly small: SmallLimits
  readonly collections: ReadonlyArray<string>
  readonly night: Partial<Night>
  readonly world?: Partial<World>
}> = [
  { small: { extract: { repeats: 0 } }, collections: ["contacts"], night: { faults: [{ kind: "repeat", rate: 0.3 }] } },
  {
    small: { extract: { allRepeats: 1 } },
    collections: ["contacts"],
    night: { faults: [{ kind: "repeat", rate: 0.3 }] }
  },
  { small: { api: { throttledMs: 0 } }, collections: ["contacts"], night: { faults: [{ kind: "429", rate: 0.3 }] } },
  {
    small: { api: { waitMs: 5000 } },
    collections: ["contacts"],
    night: { faults: [{ kind: "429", rate: 0.3 }] },
    world: { retryAfter: 20 }
  },
  {
    small: { load: { drift: 0 } },
    collections: ["contacts", "orders"],
    night: { changes: [{ what: "spoil", collection: "contacts", count: 3 }] }
  },
  {
    small: { extract: { fileRecords: 1 } },
    collections: ["products"],
    night: { changes: [{ what: "picture", collection: "products", count: 5 }] },
    world: { files: true }
  }
]

const withCertain = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.1)) return world
  const { collections, night, small, world: more } = pick(...certain)
  const chosen = withParents(collections).map(({ collection }) => collection)
  const calm: Night = { full: true, hoursAfter: 25, changes: [], faults: 0 }
  const few = { contacts: 30, scale: 0.3, pageSize: 3, limits: "off", foreign: 0, target: false, files: false } as const
  return { ...world, ...few, ...more, collections: chosen, nights: [calm, { ...calm, ...night }, calm], small }
}

/**
 * The list whose cursors live for two minutes is stopped somewhere, once or twice, and begins again at its last record: its
 * total is then less than what was read.
 */
const withLongExport = (world: World, { chance, int, pick }: Dice): World => {
  if (!chance(0.04)) return world
  const chosen = withParents(["contacts", "messages"]).map(({ collection }) => collection)
  const calm: Night = { full: true, hoursAfter: 0.1, changes: [], faults: 0 }
  const stopped = (): Night => {
    const interruption = { kind: pick("kill", "power", "stop"), at: 60 + int(100) } as const
    return { ...calm, interruption }
  }
  const nights = [stopped(), ...(chance(0.3) ? [stopped()] : []), calm]
  const long = { collections: chosen, contacts: 50, pageSize: 10, latencyMs: 20, limits: "off", foreign: 0 } as const
  const few = { twoLocations: false, target: false, formats: [], files: false } as const
  return { ...world, ...long, ...few, nights, small: { extract: { excessPages: pick(0, 1) } } }
}

/** Each has dice of its own. */
/** The warehouse is slower than the service. */
const withSlowCommits = (world: World, { chance, pick }: Dice): World =>
  chance(0.25) ? { ...world, commitMs: pick(20, 200, 1500) } : world

export const withSmallLimits = [withFew, withMore, withCertain, withLongExport, withSlowCommits]

/** Rooms and limits that no world plays, with the tests that draw them small, or why none can. */
const unplayed: Readonly<Record<string, string>> = {
  pipe: "publish/every-format",
  serve: "serve/events, jobs, access",
  "api.fileAttempts": "no host of a world is silent: api/linked-statuses",
  "api.redirects": "none redirects: api/fetch-file",
  "api.hostWaitMs": "none asks to wait: api/linked-statuses",
  "extract.silentLinks": "no host of a world is silent: extract/files",
  "extract.firstIds": "no list of a world is read in parts that set columns: extract/partitions",
  "warehouse.rowsTogether": "few tables of a world are read together: warehouse/groups",
  "warehouse.keptChangedKeys": "each night of a world publishes, or none does: publish/changes",
  "extract.excessPages": "no total is less than half of its records, whatever is stopped: extract/paging",
  "load.sliceBytes": "no record has fields that no definition has: load/splits",
  "extract.stepsBack": "no list of a world loses records so fast: extract/steps",
  "extract.restarts": "no cursor of a world expires twice at one place: extract/page-loop",
  "extract.trialParents": "worlds have no list that no account has shown yet: extract/failing-parents",
  "extract.refusalForms": "no refusal of a world means that there is none: extract/failing-parents",
  "api.errorBytes": "an error that is cut says less: api/answers",
  "load.rowLength": "a record that is too long is none of the service's: load/row-text, scan",
  "warehouse.wideColumns": "worlds have no fields as columns: warehouse/wide-names, limits",
  "warehouse.wideRows": "the same: publish/wide-tables"
}

/** How many of the worlds have crossed each limit. */
export const crossings = (worlds: ReadonlyArray<ReadonlySet<string>>): ReadonlyMap<string, number> => {
  const names = Object.entries(usualLimits).flatMap(([room, own]) =>
    Object.keys(own).flatMap((name) => (room in unplayed || `${room}.${name}` in unplayed ? [] : [`${room}.${name}`]))
  )
  return new Map(names.map((name) => [name, worlds.filter((crossed) => crossed.has(name)).length]))
}
