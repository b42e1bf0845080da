/** Removes the records of erased people from a frame of the vault, before it is written or when it is rewritten. */
import { at as valueAt, parseExact } from "../catalog/json.ts"
import { type Resource, childRequestOf, transformed } from "../catalog/resource.ts"
import { type Normalise, normaliserOf } from "../load/normalise/normalise.ts"
import { givenBy } from "../load/staging-files.ts"
import type { Entry, PageEntry } from "../vault/entry.ts"
import type { Frame } from "../vault/frame.ts"
import { type Suppression, isSuppressed } from "./suppression.ts"

/** The frame without these records, how many they were, and `undefined` for a frame that is about nothing else. */
export interface Redacted {
  readonly frame: Frame | undefined
  readonly removed: number
}

export type Redact = (frame: Frame) => Redacted

/** `ids`: texts to replace in cursors and parameters of requests, in which an id can only be a position. */
export const redactor = (
  resources: ReadonlyArray<Resource>,
  suppression: Suppression,
  ids: ReadonlyArray<string> = []
): Redact => {
  const targets = new Map<string, ReadonlyArray<Target>>()
  const targetsOf = (table: string) => {
    const existing = targets.get(table)
    if (existing) return existing
    const found = resources
      .filter((resource) => resource.table === table || resource.embeddedIn?.table === table)
      .map((resource) => ({ resource, normalise: normaliserOf(resource) }))
    targets.set(table, found)
    return found
  }
  const parentTables = new Map(
    resources.flatMap((resource) => {
      const request = childRequestOf(resource)
      return request ? [[request.label, request.table] as const] : []
    })
  )
  const isErased = (table: string, location: string, key: string) =>
    suppression.has({ kind: "record", table, location, key })

  const redact: Redact = (frame) => {
    const { entry } = frame
    switch (entry.kind) {
      case "page":
      case "detail": {
        const parentTable = parentTables.get(entry.partition)
        if (entry.parent && parentTable !== undefined && isErased(parentTable, entry.location, entry.parent.id))
          return { frame: undefined, removed: 1 }
        return redactPage(frame, entry, targetsOf(entry.resource), suppression)
      }
      case "deleted": {
        const keys = JSON.parse(frame.body) as ReadonlyArray<string>
        const kept = keys.filter((key) => !isErased(entry.resource, entry.location, key))
        return kept.length === keys.length
          ? { frame, removed: 0 }
          : { frame: { entry, body: JSON.stringify(kept) }, removed: keys.length - kept.length }
      }
      default:
        return { frame, removed: 0 }
    }
  }
  return (frame) => {
    const redacted = redact(frame)
    const header = JSON.stringify(frame.entry)
    if (redacted.frame === undefined || !ids.some((id) => header.includes(id))) return redacted
    const entry = JSON.parse(ids.reduce((text, id) => text.replaceAll(id, "x".repeat(id.length)), header)) as Entry
    return { frame: { entry, body: redacted.frame.body }, removed: redacted.removed + 1 }
  }
}

interface Target {
  readonly resource: Resource
  readonly normalise: Normalise
}

const redactPage = (
  frame: Frame,
  entry: PageEntry,
  targets: ReadonlyArray<Target>,
  suppression: Suppression
): Redacted => {
  const relevant = targets.filter(({ resource }) => resource.person && (!entry.parent || !resource.embeddedIn))
  if (relevant.length === 0 || frame.body === "") return { frame, removed: 0 }
  const body = parseExact(frame.body, entry.hasBigNumbers)
  let removed = 0
  for (const { normalise, resource } of relevant) {
    const path = resource.embeddedIn?.records ?? entry.records
    const found = valueAt(body, path)
    const isOf = (record: unknown) => {
      const origin = { location: entry.location, given: givenBy(resource, entry) }
      return transformed(resource, record).some((one) => {
        const { key, row } = normalise(one, origin)
        return row !== undefined && isSuppressed(suppression, resource, entry.location, key, JSON.parse(row))
      })
    }
    if (Array.isArray(found)) {
      const kept = found.filter((record) => !isOf(record))
      removed += found.length - kept.length
      if (kept.length < found.length) found.splice(0, found.length, ...kept)
    } else if (found !== undefined && found !== null && isOf(found)) return { frame: undefined, removed: 1 }
  }
  return removed === 0 ? { frame, removed } : { frame: { entry, body: JSON.stringify(body) }, removed }
}
