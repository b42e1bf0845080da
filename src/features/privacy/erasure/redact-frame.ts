/** Removes the records of erased people from a frame of the vault, before it is written or when it is rewritten. */
import { Array as Arr } from "effect"
import { at as valueAt, parseExact } from "../../../catalog/json.ts"
import { type Resource, childRequestOf, transformed } from "../../../catalog/resource.ts"
import { decidedKeys } from "../../../stages/load/merge/deletions.ts"
import { type Target, targetsIn } from "../../../stages/load/normalise/normalise.ts"
import { givenBy } from "../../../stages/load/normalised-page.ts"
import { type Entry, type PageEntry, withoutDigest } from "../../../stores/vault/entry.ts"
import type { Frame } from "../../../stores/vault/frame.ts"
import type { Suppression } from "./suppression.ts"
import { namesErased, treatmentOf } from "./treatment.ts"
import { type ChildField, type ColumnField, isScalar, columnName } from "../../../catalog/fields.ts"
import { projected, removed } from "../../../catalog/project.ts"
import { Adjusted, converters, rejected } from "../../../catalog/convert.ts"

/**
 * The frame without these records, how many were removed, how many lost only their person, and `undefined` for a frame that
 * is about nothing else.
 */
export interface Redacted {
  readonly frame: Frame | undefined
  readonly removed: number
  readonly anonymised?: number
}

export type Redact = (frame: Frame) => Redacted

/** `ids`: texts to replace in cursors and parameters of requests, in which an id can only be a position. */
export const redactor = (
  resources: ReadonlyArray<Resource>,
  suppression: Suppression,
  ids: ReadonlyArray<string> = []
): Redact => {
  const targetsOf = targetsIn(resources)
  const parentTables = new Map(
    resources.flatMap((resource) => {
      const request = childRequestOf(resource)
      return request ? [[request.label, request.table] as const] : []
    })
  )
  const versions = new Map<string, string>()
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
        return withVersion(redactPage(frame, entry, targetsOf(entry.resource), suppression, versions), versions)
      }
      case "deleted":
      case "existing": {
        const keys = decidedKeys(String(frame.body))
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
    if (redacted.frame === undefined || ids.length === 0) return redacted
    const entry = withoutIds(redacted.frame.entry, ids)
    return entry === redacted.frame.entry
      ? redacted
      : { ...redacted, frame: { entry, body: redacted.frame.body }, removed: redacted.removed + 1 }
  }
}

/** Members of an entry that say what it is; an id may be any word, also one of theirs. */
const ownMembers: ReadonlySet<string> = new Set([
  "kind",
  "run",
  "location",
  "resource",
  "partition",
  "records",
  "parent"
])
/** A shorter id may be a word of a checkpoint. */
const surelyId = 10

/** The entry with other letters in the place of ids, where these stand alone in a text. The same entry if none does. */
const withoutIds = (entry: Entry, ids: ReadonlyArray<string>): Entry => {
  const text = (id: string) => new RegExp(`(?<![\\w-])${id.replaceAll(/[^\w\s]/g, "\\$&")}(?![\\w-])`, "g")
  const all = ids.filter((id) => id !== "").map((id) => ({ id, pattern: text(id) }))
  let isChanged = false
  const replaced = (value: unknown, known: typeof all): unknown => {
    if (typeof value === "string") {
      const other = known.reduce((text, { id, pattern }) => text.replaceAll(pattern, "x".repeat(id.length)), value)
      isChanged ||= other !== value
      return other
    }
    if (Array.isArray(value)) return value.map((one) => replaced(one, known))
    if (value === null || typeof value !== "object") return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, known)]))
  }
  const long = all.filter(({ id }) => id.length >= surelyId)
  const members = Object.entries(entry).map(([name, value]) => [
    name,
    ownMembers.has(name) ? value : replaced(value, name === "request" ? all : long)
  ])
  // It has the members of the entry, which TypeScript does not see.
  return isChanged ? (Object.fromEntries(members) as unknown as Entry) : entry
}

/** The response to a request for a record that lost its person names the record's version as it is now. */
const withVersion = (redacted: Redacted, versions: ReadonlyMap<string, string>): Redacted => {
  const { frame } = redacted
  if (frame?.entry.kind !== "page" && frame?.entry.kind !== "detail") return redacted
  const { parent } = frame.entry
  const version = parent && versions.get(parent.version)
  return parent === undefined || version === undefined
    ? redacted
    : { ...redacted, frame: { ...frame, entry: { ...frame.entry, parent: { ...parent, version } } } }
}

const redactPage = (
  frame: Frame,
  entry: PageEntry,
  targets: ReadonlyArray<Target>,
  suppression: Suppression,
  versions: Map<string, string>
): Redacted => {
  const relevant = targets.filter(({ resource }) => resource.person && (!entry.parent || !resource.embeddedIn))
  const sent = relevant.length === 0 ? "" : String(frame.body)
  if (sent === "") return { frame, removed: 0 }
  const body = parseExact(sent, entry.hasBigNumbers)
  let [removed, changed] = [0, 0]
  const pseudonym = (contact: string) =>
    suppression.has({ kind: "contact", location: entry.location, id: contact })
      ? suppression.pseudonym(entry.location, contact)
      : contact
  for (const { normalise, resource } of relevant) {
    const origin = { location: entry.location, given: givenBy(resource, entry) }
    /** The record as it is stored; `undefined` if it is not. */
    const stored = (record: unknown): unknown => {
      const hashes: Array<string> = []
      const treatments = transformed(resource, record).flatMap((one) => {
        const { hash, key, row } = normalise(one, origin)
        hashes.push(hash)
        return row === undefined ? [] : [treatmentOf(suppression, resource, entry.location, key, JSON.parse(row))]
      })
      const isUnread = treatments.length === 0 || treatments.length < hashes.length
      if (treatments.includes("removed") || (isUnread && namesErased(suppression, resource, entry.location, record))) {
        removed++
        return undefined
      }
      if (!treatments.includes("anonymised")) return record
      const kept = anonymised(resource, record, pseudonym)
      if (JSON.stringify(kept) === JSON.stringify(record)) return record
      changed++
      for (const [of, one] of Arr.zip(hashes, transformed(resource, kept)))
        versions.set(of, normalise(one, origin).hash)
      return kept
    }
    const path = resource.embeddedIn?.records ?? entry.records
    const found = valueAt(body, path)
    if (Array.isArray(found)) {
      const before = removed + changed
      const kept = found.map(stored).filter((record) => record !== undefined)
      if (removed + changed > before) found.splice(0, found.length, ...kept)
    } else if (found !== undefined && found !== null) {
      const kept = stored(found)
      if (kept === undefined) return { frame: undefined, removed }
      if (kept !== found) replaceObject(found, kept as object)
    }
  }
  if (removed + changed === 0) return { frame, removed }
  return { frame: { entry: withoutDigest(entry), body: JSON.stringify(body) }, removed, anonymised: changed }
}

/** Gives an object the members of another one. */
const replaceObject = (target: object, members: object): void => {
  for (const name of Object.keys(target)) Reflect.deleteProperty(target, name)
  Object.assign(target, members)
}

/** The pseudonym of an erased contact; any other id as it is. */
type Pseudonym = (contact: string) => string

/**
 * Removes the person from a record that the law requires to be kept: amounts, dates and states stay; fields about a person and
 * unknown fields are removed. It works on records as they were sent, so that a rebuild stores the same rows. Repeating it
 * changes nothing.
 */
export const anonymised = (resource: Resource, record: unknown, pseudonym: Pseudonym): unknown => {
  const column = (field: ColumnField, sent: unknown): unknown => {
    if (!isImpersonal(field)) return removed
    // What is no number or time may be any text.
    const read = converters[field.type](sent)
    if (read === rejected || (read instanceof Adjusted && read.value === rejected)) return removed
    return field.references === "contacts" && typeof sent === "string" ? pseudonym(sent) : sent
  }
  return projected(resource, record, { column, hasChild: hasImpersonalKey, transport: (sent) => sent })
}

const isImpersonal = ({ personal = "none" }: ColumnField): boolean => personal === "none" || personal === "financial"

/** A row cannot be without its key, and an item that is a plain value is nothing without it. */
const hasImpersonalKey = ({ fields, key, keyColumn, plain }: ChildField): boolean =>
  [
    ...(keyColumn ? [keyColumn.field] : []),
    ...(plain === undefined && !isScalar(fields) ? [] : [fields[plain ?? "value"]]),
    ...Object.entries(fields).flatMap(([name, field]) =>
      field.kind === "column" && key.includes(columnName("", name, field)) ? [field] : []
    )
  ].every((field) => field?.kind !== "column" || isImpersonal(field))
