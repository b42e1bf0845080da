/**
 * The time to load the same number of changed contacts into a small table and into one ten times as large.
 *
 *     node_modules/.bin/node bench/merge.ts [contacts of the small table] [changed]
 */
import { type Sandbox, dataOf, median, newFolder, run, startContacts } from "./measure.ts"

const small = Number(process.argv[2] ?? 20_000)
const changed = Number(process.argv[3] ?? small / 10)
const nights = 3

const change = async ({ url }: Sandbox, share: number, seed: number) => {
  const body = JSON.stringify({ contacts: share, opportunities: 0, conversations: 0, seed })
  const { ok, status } = await fetch(`${url}/__sandbox/change`, { method: "POST", body })
  if (!ok) throw new Error(`the sandbox refused the change: ${status}`)
}

const measure = async (contacts: number) => {
  const sandbox = await startContacts(contacts)
  try {
    const environment = { ...sandbox.environment, SLUICE_OUTPUT: newFolder(), SLUICE_FORMATS: "none" }
    await run(["sync", "--only", "contacts"], environment)
    const measured = []
    for (let night = 1; night <= nights; night++) {
      await change(sandbox, changed / contacts, night)
      const { stdout } = await run(["sync", "--only", "contacts", "--json"], environment)
      const { loadedMs, resources } = dataOf<"sync">(stdout)
      const { changedRows, newRows } = resources[0]!
      measured.push({ ms: loadedMs, rows: changedRows + newRows })
    }
    const ms = median(measured.map((one) => one.ms))
    const rows = median(measured.map((one) => one.rows))
    console.log(
      `${rows} changed of ${contacts}: ${(ms / 1000).toFixed(1)} s, ${((ms * 1000) / rows).toFixed(0)} us a row`
    )
    return ms / rows
  } finally {
    sandbox.stop()
  }
}

const [one, ten] = [await measure(small), await measure(small * 10)]
console.log(`a table ten times as large: ${(ten / one).toFixed(2)} times the time for a changed row`)
