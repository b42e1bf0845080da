/** A PostgreSQL database: the tables of a release, brought up to date in one transaction. */
import * as Effect from "effect/Effect"
import type { Work } from "../contract.ts"
import { checkDatabase } from "./compare.ts"
import { guarded } from "../guarded.ts"
import { look, stage, withdraw } from "./deliver.ts"
import { probe } from "./load.ts"
import { connect, patiently } from "./server.ts"
import type { PostgresDestination } from "./settings.ts"

export const work: Work<PostgresDestination> = {
  part: "database",
  checkOf: () => "database",
  needs: "The server must answer; its user creates schemas, or has two schemas of its own: see docs/destinations.md.",
  probe: ({ destination, name }) =>
    patiently(name, Effect.scoped(Effect.flatMap(connect(destination), (server) => probe(server, destination.schema)))),
  deliver: guarded({
    words: ({ destination }) => ({ to: `the schema ${destination.schema}`, unit: "table" }),
    look,
    stage
  }),
  compare: checkDatabase,
  remove: (to, { isLast, output }) => (isLast ? withdraw(to, output) : Effect.void)
}
