/**
 * The weight of the code: its lines by room, of which those that say something are neither blank, nor comments, imports, or
 * single brackets. More than the ceiling needs a reason, beside the number in `weight.json`; with each cut it falls.
 */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const { ceiling } = JSON.parse(readFileSync(join(root, "test/weight.json"), "utf8")) as { readonly ceiling: number }

/** The folder of a file below `src`, two levels deep, or `pipelines`. */
const roomOf = (path: string): string =>
  (path.startsWith("src/") ? path.split("/").slice(1, -1) : ["pipelines"]).slice(0, 2).join("/")

/** Lines without those of imports, of which one may take several. */
const saying = (text: string): number =>
  text
    .replaceAll(/^import\b[^;]*?from "[^"]+"$/gms, "")
    .replaceAll(/\/\*.*?\*\//gs, "")
    .split("\n")
    .filter((line) => /[A-Za-z0-9]/.test(line) && !/^\s*\/\//.test(line)).length

it("is below its ceiling", () => {
  const rooms = new Map<string, { lines: number; saying: number }>()
  for (const path of globSync(["src/**/*.*", "pipelines/**/*.*"], { cwd: root })) {
    const text = readFileSync(join(root, path), "utf8")
    const room = rooms.get(roomOf(path)) ?? { lines: 0, saying: 0 }
    rooms.set(roomOf(path), { lines: room.lines + text.split("\n").length - 1, saying: room.saying + saying(text) })
  }
  const lines = [...rooms.values()].reduce((sum, one) => sum + one.lines, 0)
  const table = [...rooms]
    .toSorted(([, one], [, other]) => other.lines - one.lines)
    .map(([room, one]) => `${String(one.lines).padStart(6)} ${String(one.saying).padStart(6)} ${room}`)
  console.log([` lines saying`, ...table, `${String(lines).padStart(6)} of at most ${ceiling}`].join("\n"))
  assert.isAtMost(lines, ceiling, "add a reason to test/weight.json, or take lines out elsewhere")
  assert.isAtLeast(lines, ceiling - 500, "the ceiling in test/weight.json falls with each cut")
})
