/** Bounds how many queries run at once. */
import { DatabaseError } from "./database.ts"

/** Runs at most `max` functions at once, and refuses others. */
export const slots = (max: number) => {
  let taken = 0
  return async <A>(run: () => Promise<A>): Promise<A> => {
    if (taken >= max) throw new DatabaseError("failed", `${max} queries are running. Stop one, or wait for its end.`)
    taken++
    try {
      return await run()
    } finally {
      taken--
    }
  }
}
