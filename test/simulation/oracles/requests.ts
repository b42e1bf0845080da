/** Which requests must not be sent, whatever the rows are afterwards. */
import { crc32 } from "node:zlib"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import type { Sent } from "../service.ts"
import type { Ran, Stage } from "../run.ts"
import type { Night } from "../world.ts"

const nameOf = ({ body, method, path }: Sent) => `${method} ${path}${body === "" ? "" : ` ${body}`}`
const shown = (text: string) => (text.length > 160 ? `${text.slice(0, 160)} …` : text)

/** The total of a list is asked for after each of its readings. */
const isForTotal = ({ body, path }: Sent) => /[?&]limit=1(&|$)/.test(path) || /"(pageL|l)imit":1[,}]/.test(body)

/** A machine whose clock seems wrong asks for the location a few times, to see whether all answers say so. */
const isForClock = ({ world }: Stage, { path }: Sent) =>
  /^\/locations\/[^/?]+$/.test(path) &&
  world.nights.some(({ clock, lies }) => clock !== undefined || lies !== undefined)

/** An answer that arrived whole and undisturbed was asked for again in the same run. */
export const nothingTwice = (stage: Stage): ReadonlyArray<string> =>
  stage.services.flatMap(({ sent }) => {
    const answered = new Set<string>()
    const twice: Array<string> = []
    for (const one of sent) {
      const name = nameOf(one)
      // The export does not name its position; its first page begins each reading.
      if (answered.has(name) && !isForTotal(one) && !isForClock(stage, one))
        twice.push(`requested twice: ${shown(name)}`)
      if (!one.isDisturbed && one.received?.status === 200) answered.add(name)
    }
    return twice.slice(0, 3)
  })

/** No record costs requests without end, whatever is answered for it: an answer is tried seven times at most, twice over. */
export const eachIsBounded = ({ services }: Stage): ReadonlyArray<string> =>
  services.flatMap(({ sent }) =>
    Map.groupBy(
      sent.filter(({ received, route }) => route?.namesRecord && received?.status !== 429),
      nameOf
    )
      .entries()
      .flatMap(([name, all]) => (all.length > 14 ? [`${all.length} times in a run: ${shown(name)}`] : []))
      .toArray()
      .slice(0, 3)
  )

/** Whoever is refused one list, while the location answers, is told nothing about the token. */
export const tokenIsNotBlamed = ({ night, ran }: { readonly night: Night; readonly ran: Ran }): ReadonlyArray<string> =>
  night.interruption?.kind !== "token" && night.refused === undefined && ran.exitCode === 77
    ? ["the token is blamed, although it is accepted"]
    : []

/** No cursor of an export is sent more than two minutes after it was made, however long its request has waited. */
export const cursorsAreFresh = ({ services }: Stage): ReadonlyArray<string> =>
  services.flatMap(({ sent }) => {
    const stale: Array<string> = []
    const madeAt = new Map<string, number>()
    for (const { at, path, received, sentAt } of sent) {
      if (!path.startsWith("/conversations/messages/export")) continue
      const cursor = new URL(path, "http://x").searchParams.get("cursor")
      const last = cursor === null ? undefined : madeAt.get(cursor)
      if (last !== undefined && sentAt - last > lifetimeMs)
        stale.push(`a cursor was used ${(sentAt - last) / 1000} s after it was made`)
      const next = received?.status === 200 ? /"nextCursor":"([^"]+)"/.exec(received.text)?.[1] : undefined
      if (next !== undefined) madeAt.set(next, at)
    }
    return stale.slice(0, 3)
  })
const lifetimeMs = 120_000

/** In no window of the documented length does one run send more requests than are allowed. */
export const limitIsKept = ({ services, world: { limits } }: Stage): ReadonlyArray<string> => {
  if (limits === "off") return []
  const { burst, intervalMs } = limits
  return services.flatMap(({ sent }) => {
    const times = sent.map(({ at }) => at).sort((one, other) => one - other)
    let fullest = 0
    for (let from = 0, to = 0; to < times.length; to++) {
      while (times[from]! <= times[to]! - intervalMs) from++
      fullest = Math.max(fullest, to - from + 1)
    }
    return fullest > burst ? [`${fullest} requests in a window of ${burst}`] : []
  })
}

/** After a 429, nothing is sent before the time that the service names is over; if it names none, that is a whole window. */
export const refusalsAreObeyed = ({ services, world: { limits, retryAfter } }: Stage): ReadonlyArray<string> => {
  const waitMs =
    retryAfter !== undefined ? retryAfter * 1000 : limits === "off" ? documentedWindowMs : limits.intervalMs
  return services.flatMap(({ sent }) =>
    sent
      .filter(({ received }) => received?.status === 429)
      .flatMap(({ receivedAt: at = 0 }) => sent.filter(({ sentAt }) => sentAt > at && sentAt < at + waitMs))
      .map(({ method, path }) => `sent before the wait after a 429 was over: ${method} ${shown(path)}`)
      .slice(0, 3)
  )
}
const documentedWindowMs = 10_000

/**
 * The service refuses nothing, unless others use the account too. At the end of a day, the first request of a run may find out
 * that an earlier one has used it up, and nobody knows whether the service has counted a request without an answer.
 */
export const nothingRefused = ({ services, world: { foreign, limits } }: Stage): ReadonlyArray<string> => {
  if (limits === "off" || foreign > 0) return []
  return services.flatMap(({ refused, sent }) =>
    refused > (limits.daily < 200_000 ? 1 + sent.filter(({ received }) => received === undefined).length : 0)
      ? [`${refused} requests were over the limit of the service`]
      : []
  )
}

/** A page in the vault. */
interface Page {
  readonly label: string
  /** Of a list that is read in several parts: which. */
  readonly partition: string
  readonly location: string
  readonly bytes: number
  readonly crc32: number
  readonly run: string
  readonly records: number
  /** Of the children of one parent: which, and whether it was the last page. */
  readonly parent: Asked | undefined
}

interface Kept {
  readonly pages: ReadonlyArray<Page>
  /** Readings, as location and label, that have ended since their last page, or with it: the next run reads what has changed. */
  readonly ended: ReadonlySet<string>
}

/** What is on the disk, by the headers of the frames: `stores/vault/frame.ts` describes them. */
export const keptIn = (folder: string): Kept => {
  const pages: Array<Page> = []
  const ended = new Set<string>()
  const names = readdirSync(folder)
    .filter((name) => /^\d{6}\.ndjson(\.zst)?$/.test(name))
    .sort()
  for (const name of names) {
    const content = readFileSync(join(folder, name))
    const segment = name.endsWith(".zst") ? zstdDecompressSync(content) : content
    for (let at = 0; at < segment.length;) {
      const end = segment.indexOf(10, at)
      if (end < 0) break
      const header = headerIn(segment.toString("utf8", at, end))
      if (header === undefined || end + 1 + header.bytes >= segment.length) break
      at = end + 1 + header.bytes + 1
      const { kind, location, parent, partition, resource, run } = header
      const label = parent === undefined ? resource : partition
      const reading = `${location} ${kind === "end" ? resource : label}`
      if (kind === "end") ended.add(reading)
      else if (kind === "page" || kind === "detail") {
        ended.delete(reading)
        if (partition === "all" && header.checkpoint?.done === true) ended.add(reading)
        const stored = recordsIn(segment.toString("utf8", end + 1, at - 1), header.records)
        const records = stored + (header.compacted ?? 0)
        pages.push({
          label,
          partition,
          location,
          bytes: header.bytes,
          crc32: header.crc32,
          records,
          run,
          parent
        })
      }
    }
  }
  return { pages, ended }
}

interface Header {
  readonly kind: string
  readonly location: string
  readonly resource: string
  readonly partition: string
  readonly records: string
  readonly run: string
  readonly bytes: number
  readonly crc32: number
  /** Records that are not stored again. */
  readonly compacted?: number
  readonly checkpoint?: { readonly done: boolean }
  readonly parent?: Asked
}

/** A parent, as it was when its children were requested. */
interface Asked {
  readonly id: string
  readonly version: string
  readonly done: boolean
}

const recordsIn = (body: string, path: string): number => {
  if (body === "") return 0
  const names = path.split(".").filter((name) => name !== "")
  const found = names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], JSON.parse(body))
  return Array.isArray(found) ? found.length : 1
}

const headerIn = (line: string): Header | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/**
 * Requests of the run that was just interrupted whose answers are on the disk, so that the next run, which continues it, must
 * not send them again: pages of lists between the first one and the page in flight, and all of children. The first page of a
 * list may be read anew, and the last one overlaps with the next.
 */
export const durableRequests = ({ machine, services }: Stage): ReadonlyArray<ReadonlySet<string>> => {
  const { ended, pages } = keptIn(join(machine.folder, "vault"))
  const lastRun = pages.at(-1)?.run
  return services.map(({ location, sent }) => {
    const byAnswer = new Map<string, string>()
    const repeated = new Set<string>()
    for (const one of sent) {
      if (one.received?.status !== 200) continue
      const answer = identity(Buffer.from(one.received.text))
      // Answers that look alike do not say which request they were for.
      if (byAnswer.has(answer) && byAnswer.get(answer) !== nameOf(one)) repeated.add(answer)
      byAnswer.set(answer, nameOf(one))
    }
    const own = pages.filter((page) => page.location === location && page.run === lastRun)
    const durable = new Set<string>()
    for (const of of Map.groupBy(own, (page) => `${page.label} ${page.partition}`).values()) {
      const { label } = of[0]!
      const isOfParents = of.some(({ parent }) => parent !== undefined)
      if (!isOfParents && ended.has(`${location} ${label}`)) continue
      // A page without records ends a reading of changes, and says nothing of those since then.
      const chosen = isOfParents
        ? of.filter(({ parent }) => parent?.done === true)
        : of.slice(1, -1).filter(({ records }) => records > 0)
      for (const page of chosen) {
        const answer = `${page.bytes} ${page.crc32}`
        const name = byAnswer.get(answer)
        if (name !== undefined && !repeated.has(answer)) durable.add(name)
      }
    }
    return durable
  })
}

const identity = (bytes: Buffer) => `${bytes.length} ${crc32(bytes)}`

/** `isReadAgain`: of a collection for which a strategy was given up, so that the next one reads its list from the beginning. */
export const nothingDurableAgain = (
  { machine, services }: Stage,
  durable: ReadonlyArray<ReadonlySet<string>>,
  isReadAgain: (collection: string) => boolean
): ReadonlyArray<string> => {
  const asked = keptIn(join(machine.folder, "vault")).pages.flatMap(({ label, parent }) =>
    parent ? [[`${label} ${parent.id}`, parent] as const] : []
  )
  // A parent that has changed since is asked for its children again.
  const changed = [...Map.groupBy(asked, ([place]) => place).values()].flatMap((of) =>
    new Set(of.map(([, { version }]) => version)).size > 1 ? [of[0]![1].id] : []
  )
  return services.flatMap(({ sent }, index) =>
    sent
      .filter(({ route }) => route === undefined || !isReadAgain(route.collection))
      .map(nameOf)
      .filter((name) => durable[index]!.has(name) && !changed.some((id) => name.includes(id)))
      .map((name) => `requested again, although the answer is on the disk: ${shown(name)}`)
      .slice(0, 3)
  )
}
