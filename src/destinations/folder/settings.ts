/** A folder of releases: it is a link to the newest one. */
import { resolve } from "node:path"
import { releasesOf } from "../../output/paths.ts"
import type { DestinationKind, DestinationPlace } from "../../settings/destination.ts"
import { type ItemOf, place, setting } from "../../values/setting.ts"

const settings = {
  folder: setting(place, {
    description: "Folder of the target; becomes a link to its newest release. Or s3://bucket/prefix.",
    example: "/srv/analysts/crm"
  })
}

export interface FolderDestination extends DestinationPlace {
  readonly kind: "folder"
}

export const folder = {
  gets: "releases",
  cannot: {},
  settings,
  named: "folder",
  unused: undefined,
  isNamedBy: ({ folder }) => folder !== undefined && !folder.startsWith("s3://"),
  read: ({ folder }) => ({ kind: "folder", place: resolve(folder!), secrets: [] }),
  problems: ({ folder }) =>
    /\?/.test(resolve(folder!))
      ? [{ key: "folder", value: folder!, why: "DuckDB cannot have a ? in the path of a file" }]
      : [],
  paths: ({ folder }) => [resolve(folder!), releasesOf(resolve(folder!))]
} as const satisfies DestinationKind<ItemOf<typeof settings>, FolderDestination>
