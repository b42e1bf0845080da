/**
 * Plays worlds that are drawn from seeds, and makes those that fail smaller.
 *
 *     npm run simulate -- --seeds 10000        # 10,000 seeds from 1 on
 *     npm run simulate -- --seed 17            # one seed, with all that happened
 *     npm run simulate -- --from 500 --seeds 100
 *     npm run simulate -- --world '{"seed":17,…}'   # a world that was printed
 */
import { parseArgs } from "node:util"
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

const report = (found: Awaited<ReturnType<typeof play>>) => console.log(JSON.stringify(found, null, 1))

if (values.world !== undefined) {
  const world: World = { ...calmWorld, ...JSON.parse(values.world) }
  const found = await play(world)
  report(found)
  process.exit(found.wrong.length > 0 ? 1 : 0)
}
const [from, count] = values.seed === undefined ? [Number(values.from), Number(values.seeds)] : [Number(values.seed), 1]
const begun = performance.now()
let [failed, played] = [0, 0]
for (let seed = from; seed < from + count; seed++) {
  const found = await play(draw(seed))
  played++
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
process.exit(failed > 0 ? 1 : 0)
