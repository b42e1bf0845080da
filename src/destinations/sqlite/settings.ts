/** A SQLite file with the tables and the models, which is replaced as a whole. */
import { resolve } from "node:path"
import type { DestinationKind, DestinationPlace } from "../../settings/destination.ts"
import { type ItemOf, place, setting } from "../../values/setting.ts"

const settings = {
  sqlite: setting(place, {
    alternative: true,
    description: "Instead of a folder, a SQLite file. See docs/destinations.md.",
    example: "/srv/analysts/crm.sqlite"
  })
} as const

export interface SqliteDestination extends DestinationPlace {
  readonly kind: "sqlite"
}

export const sqlite = {
  gets: "tables",
  cannot: { formats: "a database has tables instead of files" },
  settings,
  named: "sqlite",
  unused: undefined,
  isNamedBy: ({ sqlite }) => sqlite !== undefined,
  read: ({ sqlite }) => ({ kind: "sqlite", place: resolve(sqlite!), secrets: [] }),
  problems: () => [],
  paths: ({ sqlite }) => [resolve(sqlite!)]
} as const satisfies DestinationKind<ItemOf<typeof settings>, SqliteDestination>
