/** A folder of releases, which are made there: nothing remains to be delivered. */
import * as Effect from "effect/Effect"
import { probeFolder } from "../../output/files.ts"
import type { Work } from "../contract.ts"
import { checkPublished } from "./compare.ts"
import type { FolderDestination } from "./settings.ts"

export const work: Work<FolderDestination> = {
  part: "published",
  checkOf: (name) => `folder ${name}`,
  needs: "This user must be able to write to the folder.",
  probe: ({ folder }) => probeFolder(folder),
  deliver: ({ folder }) => Effect.succeed({ to: folder, changed: 0, unit: "file" }),
  compare: ({ folder }) => checkPublished(folder),
  // Whoever removes earlier releases knows those of the output folder too.
  remove: () => Effect.void
}
