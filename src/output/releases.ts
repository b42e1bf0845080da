/** The names of releases: each is a folder beside the link to the current one. */
import { basename, dirname, join } from "node:path"

/** The folder of the releases, beside the link. */
export const releasesOf = (published: string): string => join(dirname(published), `.${basename(published)}`)

export const releaseNameOf = (number: number, run: string): string =>
  `${String(number).padStart(6, "0")}-${run.replace(/[^A-Za-z0-9_-]/g, "_")}`

/** Follows the name of a release that is being written. */
export const buildingEnd = ".building"

/** Whether it is the name of a complete release. */
export const isRelease = (name: string): boolean => /^\d{6,}-[A-Za-z0-9_-]*$/.test(name)

export const isBuilding = (name: string): boolean =>
  name.endsWith(buildingEnd) && isRelease(name.slice(0, -buildingEnd.length))

/** Whether it is the name of a release, or of what a crash has left of one. */
export const isOfRelease = (name: string): boolean => /^\d{6,}-.*$/.test(name)
