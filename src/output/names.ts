/**
 * The names that sluice gives to files, folders and objects. What others name is not a name: an id of the service becomes one by
 * `fileNameOf`, and what is read back from a manifest, a bucket or a table is one only if sluice makes such names.
 */
import * as Schema from "effect/Schema"
import { nodeCrypto } from "../values/node.ts"
import { maskingName, packageName, snapshotName } from "./paths.ts"

/** An id that is a file name on every system as it is, and begins no option of a program. */
const plain = /^(?!-)[A-Za-z0-9_-]{1,64}$/
/** Names that Windows and its file systems keep for devices. */
const device = /^(con|prn|aux|nul|conin|conout|clock|com\d|lpt\d)$/i
/** Follows every hash, so that no plain id is the name of another one. */
const hashed = ".id"

/** The name of a file or folder of something that others have named: a contact, a conversation, a location. */
export const fileNameOf = (id: string): string => (plain.test(id) && !device.test(id) ? id : hashOf(id))

/** The hash of JSON, in which texts that are no valid Unicode differ too. */
const hashOf = (what: unknown): string => nodeCrypto().hash("sha256", JSON.stringify(what)) + hashed

/** The names of several things of one folder. On some systems, names that differ in the case of letters are one. */
export const fileNamesOf = (
  all: ReadonlyArray<{ readonly id: string; readonly location: string }>
): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return all.map(({ id, location }) => {
    const own = fileNameOf(id)
    const name = taken.has(own.toLowerCase()) ? hashOf([location, id]) : own
    taken.add(name.toLowerCase())
    return name
  })
}

/** Whether a path leads down from the folder to which it is relative, on every system. */
export const leadsDown = (path: string): boolean =>
  !/[\\\0]|^[A-Za-z]:/.test(path) && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")

const releaseNames: ReadonlySet<string> = new Set([snapshotName, packageName, maskingName])

/** Whether sluice gives a file of a release this path: a document, or a file in the folder of its format. */
export const isReleasePath = (path: string): boolean =>
  releaseNames.has(path) || (leadsDown(path) && /^([a-z]+)\/(bi\/)?[^./][^/:\p{Cc}]*(\/part-\d+)?\.\1$/u.test(path))

/** Whether sluice gives an object with the content of a file this name. */
export const isObjectName = (name: string): boolean => /^objects\/[0-9a-f]{64}(\.[a-z]+)?$/.test(name)

/** A name in something that is read back: all of it is refused if sluice makes no such name. */
const nameWhich = (isOwn: (name: string) => boolean) =>
  Schema.String.check(Schema.makeFilter((name) => isOwn(name) || "it is no name that sluice makes"))
export const ReleasePath = nameWhich(isReleasePath)
export const ObjectName = nameWhich(isObjectName)
