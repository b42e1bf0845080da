/** The queries of docs/models.md. */
import { readFileSync } from "node:fs"

const text = readFileSync(new URL("../../docs/models.md", import.meta.url), "utf8")

export const questions: ReadonlyArray<string> = Array.from(
  text.slice(text.indexOf("## Ten questions"), text.indexOf("## Your own")).matchAll(/```sql\n(.*?)```/gs),
  ([, sql]) => sql!
)
