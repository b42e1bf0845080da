/**
 * Plays worlds that are drawn from seeds, and makes those that fail smaller.
 *
 *     npm run simulate -- --seeds 10000        # 10,000 seeds from 1 on
 *     npm run simulate -- --seed 17            # one seed, with all that happened
 *     npm run simulate -- --from 500 --seeds 100
 *     npm run simulate -- --world '{"seed":17,…}'   # a world that was printed
 */
import { parseArgs } from "node:util"
import { crossings } from "./small-limits.ts"
import { play } from "./scenario.ts"
import { shrink } from "./shrink.ts"
import { type World, calmWorld, draw } from "./world.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    world: { type: "string" },
    /** Stop at the first that fails. */
    first: { type: "boolean", default: false },
    "no-shrink": { type: "boolean", default: false }
  }
})

const report = (found: Awaited<ReturnType<typeof play>>) =>
  console.log(JSON.stringify({ ...found, crossed: [...found.crossed] }, null, 1))

if (values.world !== undefined) {
  const world: World = { ...calmWorld, ...JSON.parse(values.world) }
  const found = await play(world)
  report(found)
  process.exit(found.wrong.length > 0 ? 1 : 0)
}
const [from, count] = values.seed === undefined ? [Number(values.from), Number(values.seeds)] : [Number(values.seed), 1]
/** So many worlds cross each limit. */
const seedsThatCross = 200
const begun = performance.now()
let [failed, played] = [0, 0]
const crossed: Array<ReadonlySet<string>> = []
for (let seed = from; seed < from + count; seed++) {
  const found = await play(draw(seed))
  played++
  crossed.push(found.crossed)
  if (found.wrong.length > 0) {
    failed++
    console.log(`seed ${seed} failed: ${found.wrong[0]}`)
    report(values["no-shrink"] ? found : await shrink(found, play))
    if (values.first) break
  } else if (count === 1) report(found)
  if (played % 100 === 0) console.error(`${played} seeds, ${failed} failed`)
}
const cpu = process.cpuUsage()
console.log(
  `${played} seeds, ${failed} failed; ${Math.round((performance.now() - begun) / played)} ms each, ${Math.round((cpu.user + cpu.system) / 1000 / played)} ms of CPU`
)
const counts = crossings(crossed.slice(-seedsThatCross))
const uncrossed = [...counts].flatMap(([name, count]) => (count === 0 ? [name] : []))
if (count > 1) {
  console.log(`how many of the last ${Math.min(played, seedsThatCross)} worlds have crossed each limit:`)
  for (const [name, count] of counts) console.log(`${String(count).padStart(6)}  ${name}`)
}
const isEnough = played >= seedsThatCross
if (isEnough && uncrossed.length > 0) console.log(`no world has crossed ${uncrossed.join(", ")}`)
process.exit(failed > 0 || (isEnough && uncrossed.length > 0) ? 1 : 0)
