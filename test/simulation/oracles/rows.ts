/** The rows against the records of the service, wherever a reading says that it is complete. */
import { differing } from "../../support/compare.ts"
import { simulatedOf, tableOf } from "../catalogue.ts"
import { collectionOf, spoiltText } from "../changes.ts"
import type { Ran, Stage } from "../run.ts"
import { type State, lastRun } from "./state.ts"

export type Records = ReadonlyMap<string, Readonly<Record<string, unknown>>>
/** The records of each service, by collection. */
export type Account = ReadonlyArray<ReadonlyMap<string, Records>>

export const accountOf = ({ services, world }: Stage): Account =>
  services.map((service) => new Map(world.collections.map((name) => [name, service.records(name)])))

/** The type of a conversation is a text in the list and a number in a single read, as documented; columns are left out. */
const isExpected = (difference: string) =>
  /^conversations \w+\.type: \d+ became "TYPE_/.test(difference) ||
  difference.endsWith(": nowhere") ||
  difference.includes(spoiltText)

/** The differences of one table, of all locations. */
export const differencesOf = (
  { services }: Stage,
  state: State,
  collection: string,
  recordsOf: (location: number) => Iterable<Readonly<Record<string, unknown>>>
): ReadonlyArray<string> => {
  const { table } = simulatedOf(collection).resource
  const rows = [...state.rows.get(table)!.values()]
  return services.flatMap(({ location }, index) =>
    differing(
      table,
      rows.filter((one) => one.location === location).map(({ row }) => row),
      [...recordsOf(index)]
    ).filter((one) => !isExpected(one) && !isMarked(one))
  )

  /** A record that the service flagged as deleted, and then removed, is marked already. */
  function isMarked(difference: string): boolean {
    const [, id] = /^\w+ (\S+): not in the service$/.exec(difference) ?? []
    return id !== undefined && rows.some((row) => row.id === id && row.deleted !== null)
  }
}

/** The readings of a table in this run that have ended; empty if it was not read. */
const readingsOf = ({ synced }: Ran, table: string) =>
  (synced?.rows ?? []).filter(({ resource }) => resource === table || resource.startsWith(`${table}/`))

const isComplete = (ran: Ran, table: string): boolean => {
  const readings = readingsOf(ran, table)
  return readings.length > 0 && readings.every(({ status }) => status === "complete")
}

/** Whether a later run goes on with a reading of the table, instead of beginning a new one. */
export const goesOn = (ran: Ran, table: string): boolean => {
  const readings = readingsOf(ran, table)
  return readings.length === 0 || readings.some(({ status }) => !status.startsWith("complete"))
}

/** The records of a collection that are what they were before. */
const untouched = (before: Account, now: Account, location: number, collection: string) =>
  now[location]!.get(collection)!
    .entries()
    .filter(([id, record]) => JSON.stringify(before[location]!.get(collection)!.get(id)) === JSON.stringify(record))
    .map(([, record]) => record)

/** What is complete has every record that existed before the run and has not changed since, as it is. */
export const completeHasAll = (
  stage: Stage,
  before: Account,
  state: State,
  ran: Ran,
  /** `isTrusted`: the service has answered rightly since the last full sync, so nothing has hidden a change. */
  { isFull, isTrusted }: { readonly isFull: boolean; readonly isTrusted: boolean }
): ReadonlyArray<string> => {
  const now = accountOf(stage)
  // A list may have been complete before the token of its location was refused, and its details never read.
  const refused = new Set((ran.synced?.ended ?? []).flatMap((one) => (one.reason === "badToken" ? [one.location] : [])))
  return stage.world.collections.flatMap((collection) => {
    const { finds, resource } = simulatedOf(collection)
    if (!isComplete(ran, resource.table)) return []
    if (!isFull && (finds === "some" || (finds === "dated" && !isTrusted))) return []
    const expected = (location: number) =>
      refused.has(stage.services[location]!.location) ? [] : untouched(before, now, location, collection)
    return differencesOf(stage, state, collection, expected)
      .filter((one) => !one.endsWith("not in the service"))
      .map((one) => `complete, but ${one}`)
  })
}

/**
 * What no right answer has arrived for is not complete: the children of one parent that the service still has, or every
 * request for a list. `glitch` nights only: what a service that answers wrongly has kept back shows in no row.
 */
export const unansweredIsNotComplete = ({ services, world }: Stage, ran: Ran): ReadonlyArray<string> =>
  world.collections.flatMap((collection) => {
    const { childOf, table } = simulatedOf(collection).resource
    if (!isComplete(ran, table)) return []
    const parents = world.collections.find((name) => simulatedOf(name).resource.table === childOf?.table)
    return services.flatMap((service) =>
      (["list", "children"] as const).flatMap((kind) => {
        const present = kind === "children" && parents !== undefined ? [...service.records(parents).keys()] : [""]
        const own = service.sent.filter(
          ({ path, route }) =>
            route?.collection === collection && route.kind === kind && present.some((id) => path.includes(id))
        )
        const answers = Map.groupBy(own, ({ body, path }) => `${path} ${body}`).values()
        const unanswered = answers.map((all) => all.every(({ isDisturbed }) => isDisturbed)).toArray()
        const isMissing = kind === "list" ? !unanswered.includes(false) : unanswered.includes(true)
        return own.length > 0 && isMissing ? [`${collection}: complete, although its ${kind} had no right answer`] : []
      })
    )
  })

type Sent = Stage["services"][number]["sent"]

/** The requests for first pages of a list. A request for one record counts the list, unless all of its pages are so short. */
const firstPagesOf = (sent: Sent, isOf: (collection: string) => boolean): Sent => {
  const own = sent.filter(({ route }) => route?.kind === "list" && isOf(route.collection))
  const areSingle = own.every(({ body, path }) => singleRecord.test(path + body))
  return own.filter(({ body, path }) => !laterPage.test(path + body) && (areSingle || !singleRecord.test(path + body)))
}

/** Whether this run has requested the first page of a list. */
const isBegun = ({ sent }: Stage["services"][number], collection: string): boolean =>
  firstPagesOf(sent, (one) => one === collection).length > 0

/** A list that cannot be asked what has changed is complete as of its first page, whichever run has read it. */
export const resumedIsOfItsBeginning = (stage: Stage, { meta }: State): ReadonlyArray<string> => {
  const startedAt = String(lastRun(meta)?.["started_at"])
  // A clock that was moved back is not earlier than what it has said before.
  if (stage.world.nights.some(({ clock }) => clock !== undefined)) return []
  return stage.world.collections.flatMap((collection) => {
    const { resource } = simulatedOf(collection)
    const isOfPages = resource.kind === "list" && resource.full.some(({ paging }) => paging.kind !== "once")
    if (!isOfPages || resource.changes !== undefined) return []
    return stage.services.flatMap((service) => {
      const mark = meta.watermarks.find(
        (one) => one["location_id"] === service.location && one["resource"] === resource.table
      )
      const completeAt = String(mark?.["complete_at"] ?? "")
      return completeAt >= startedAt && !isBegun(service, collection)
        ? [`${collection}: complete as of ${completeAt}, and its first page was read before ${startedAt}`]
        : []
    })
  })
}

/** After a run in which nothing was disturbed, what it finds is there, and what is gone is not. */
export const equalsService = (
  stage: Stage,
  state: State,
  ran: Ran,
  /**
   * `resumes`: what was deleted since the reading began may be found by the next one. `account`: the records when it began, which
   * are those of a list whose first page an earlier run has read.
   */
  options: {
    readonly isFull: boolean
    readonly isTrusted: boolean
    readonly resumes: boolean
    readonly account: Account
  }
): ReadonlyArray<string> => {
  const now = accountOf(stage)
  // A refusal to delete has its own oracle.
  const hasRefused = (ran.synced?.rows ?? []).some(({ warnings }) => warnings.some((one) => /too many/.test(one)))
  return stage.world.collections.flatMap((collection) => {
    const { finds, resource } = simulatedOf(collection)
    if (!options.isFull && (finds === "some" || !options.isTrusted)) return []
    // An earlier run has read its first page, though runs that read nothing may have come between.
    const isOld = (location: number) =>
      (options.resumes || resource.kind === "list") && !isBegun(stage.services[location]!, collection)
    const resumes = options.resumes || stage.services.some((_, location) => isOld(location))
    const expected = (location: number) =>
      isOld(location) ? untouched(options.account, now, location, collection) : now[location]!.get(collection)!.values()
    return differencesOf(stage, state, collection, expected).filter(
      (one) =>
        (!hasRefused && !resumes && (options.isFull || finds === "everything")) || !one.endsWith("not in the service")
    )
  })
}

/** Each value that fits no column is listed with its row. A list that is resumed may have been read before it came. */
export const spoiltAreRejected = ({ services, world }: Stage, { meta }: State): ReadonlyArray<string> => {
  const rejected = new Set(
    meta.rejected_values
      .filter(({ value }) => String(value).includes(spoiltText))
      .map((row) => `${String(row["location_id"])} ${String(row["table_name"])} ${String(row["key"])}`)
  )
  return services.flatMap((service) =>
    world.collections
      .filter((collection) => ["contacts", "opportunities", "orders", "products"].includes(collection))
      .filter((collection) => isBegun(service, collection))
      .flatMap((collection) => {
        const { table } = simulatedOf(collection).resource
        return [...service.records(collection)]
          .filter(
            ([id, record]) =>
              JSON.stringify(record).includes(spoiltText) && !rejected.has(`${service.location} ${table} ${id}`)
          )
          .map(([id]) => `${table} ${id}: its value that fits no column is not listed`)
      })
  )
}

/** A list that has records without an id was read in full: it is listed that there are such. */
export const straysAreRejected = ({ services, world }: Stage, { meta }: State): ReadonlyArray<string> =>
  services.flatMap(({ location, service }) =>
    world.collections.flatMap((collection) => {
      const { table } = simulatedOf(collection).resource
      const hasStrays = collectionOf(service, collection)
        .orphans()
        .some(({ id }) => id === null)
      const isListed = meta.rejected_records.some(
        (row) => row["location_id"] === location && row["table_name"] === table
      )
      return hasStrays && !isListed ? [`${table}: no record without an id is listed`] : []
    })
  )

/** The tags of each live contact are those that the service has. */
export const tagsEqualService = (stage: Stage, state: State): ReadonlyArray<string> => {
  if (!stage.world.collections.includes("contacts")) return []
  return stage.services.flatMap((service) =>
    [...service.records("contacts")].flatMap(([id, record]) => {
      const tags = (record["tags"] as ReadonlyArray<string> | undefined) ?? []
      const [sent, stored] = [[...new Set(tags)].sort().join("\n"), state.tags.get(`${service.location} ${id}`) ?? ""]
      return sent === stored ? [] : [`contacts ${id}: the tags ${sent} became ${stored}`]
    })
  )
}

const allowed =
  /could not be used|over our limit|too many to be deleted|were not read individually|the parent table|have no key|values? (do|does) not fit|rejected|still named by the service|still exist|counts? \d+ records|returned more than|without/

/**
 * Warnings are expected if a strategy is not supported, if some parents are not read, if some record is spoilt, or if the day's
 * requests end before all missing rows were asked for.
 */
export const surprises = ({ world: { limits } }: Stage, { synced }: Ran): ReadonlyArray<string> => {
  const isScarce = limits !== "off" && limits.daily < 1000
  const isExpected = (warning: string) => allowed.test(warning) || (isScarce && /did not say whether/.test(warning))
  return (synced?.rows ?? [])
    .filter(({ status, warnings }) => status !== "complete" && !warnings.every(isExpected))
    .map(({ resource, status, warnings }) => `${resource} ${status}: ${warnings.join(", ")}`)
}

const laterPage = /searchAfter"|startAfter|cursor=|(offset|skip|page)"?[=:]"?([2-9]|1\d)/i
const singleRecord = /limit"?[=:]1\b/i

/**
 * No watermark is later than the first answer of the reading that has set it: what changed since then may have been read before
 * it changed. A reading that another run began may take two, of which the second is later.
 */
export const watermarksAreKnown = (
  { clock, services }: Stage,
  before: State,
  { meta }: State,
  resumes: boolean
): ReadonlyArray<string> =>
  meta.watermarks.flatMap(({ location_id, resource, watermark }) => {
    const isOld = before.meta.watermarks.some(
      (old) => old["location_id"] === location_id && old["resource"] === resource && old["watermark"] === watermark
    )
    if (watermark === null || isOld) return []
    const answers = services
      .filter(({ location }) => location === location_id)
      .flatMap(({ sent }) => firstPagesOf(sent, (collection) => tableOf(collection) === resource))
      .flatMap(({ receivedAt }) => receivedAt ?? [])
    // A list whose total differs is read again.
    const first = resumes || answers.length === 0 ? clock.now() : Math.max(...answers)
    return Date.parse(asIso(String(watermark))) > first + 1000
      ? [`${String(resource)}: the watermark ${String(watermark)} is later than the beginning of its reading`]
      : []
  })

/** What is complete has a watermark that is not before the last change which it has read: else each night would read it again. */
export const watermarksReachAll = (
  { services, world }: Stage,
  account: Account,
  { meta }: State,
  ran: Ran
): ReadonlyArray<string> =>
  world.collections.flatMap((collection) => {
    const { finds, resource } = simulatedOf(collection)
    const changes = resource.kind === "list" ? resource.changes : undefined
    const readings = readingsOf(ran, resource.table)
    if (finds !== "dated" || changes === undefined) return []
    if (readings.length === 0 || readings.some(({ status }) => status !== "complete")) return []
    return services.flatMap(({ location }, index) => {
      const dates = [...account[index]!.get(collection)!.values()].flatMap((record) => {
        const date = record[changes.field]
        return typeof date === "string" && !Number.isNaN(Date.parse(date)) ? Date.parse(date) : []
      })
      const row = meta.watermarks.find((one) => one["location_id"] === location && one["resource"] === resource.table)
      const watermark = Date.parse(asIso(String(row?.["watermark"])))
      return dates.length > 0 && !(watermark >= Math.max(...dates) - 1000)
        ? [`${resource.table}: the watermark ${String(row?.["watermark"])} is before the last change`]
        : []
    })
  })

const asIso = (text: string) => text.replace(" ", "T").replace(/\+00$/, "Z")
