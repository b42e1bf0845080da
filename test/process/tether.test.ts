/** A process on a tether ends itself when its worker no longer says that it owns the location. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { finishedLine, tetherMessage, tetherMs } from "../../src/features/fleet/tether.ts"

const module = fileURLToPath(new URL("../../src/features/fleet/tether.ts", import.meta.url))

/** Runs a program on a tether; `extend` says that the location is owned for a time from now on. */
const start = (program: string, heldMs = tetherMs) => {
  const begun = Date.now()
  const text = `import { holdTether } from ${JSON.stringify(module)}; holdTether(${JSON.stringify(String(begun + heldMs))}); ${program}`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    stdio: ["pipe", "ignore", "pipe"]
  })
  let stderr = ""
  child.stderr.on("data", (chunk) => (stderr += chunk))
  child.stdin.on("error", () => {})
  return {
    child,
    extend: (ms = tetherMs) => void child.stdin.write(`${Date.now() + ms}\n`),
    ended: new Promise<{ code: number | null; signal: string | null; stderr: string; ms: number }>((resolve) =>
      child.once("close", (code, signal) => resolve({ code, signal, stderr, ms: Date.now() - begun }))
    )
  }
}
const forEver = "setInterval(() => {}, 1000)"

describe("a process on a tether", () => {
  it("ends itself when the worker closes it, as the kernel does for a killed one", async () => {
    const { child, ended } = start(forEver)
    setTimeout(() => child.stdin.end(), 500)
    const { ms, signal } = await ended
    assert.strictEqual(signal, "SIGKILL")
    assert.isBelow(ms, 2000)
  })

  it("ends itself when the worker says nothing, or only what is over", async () => {
    const silent = start(forEver, 1000)
    const late = start(forEver, 1000)
    const timer = setInterval(() => late.extend(-1), 100)
    for (const { ended } of [silent, late]) {
      const { ms, signal, stderr } = await ended
      assert.strictEqual(signal, "SIGKILL")
      assert.include(stderr, tetherMessage)
      assert.isBelow(ms, 3000)
    }
    clearInterval(timer)
  })

  it("lives as long as the worker extends it, also if it computes for longer than that", async () => {
    const program = `
      setTimeout(() => { const until = Date.now() + ${tetherMs + 1500}; while (Date.now() < until) {} }, 200)
      setTimeout(() => process.exit(7), ${tetherMs + 3000})`
    const { ended, extend } = start(program)
    const timer = setInterval(() => extend(), 500)
    assert.strictEqual((await ended).code, 7)
    clearInterval(timer)
  })

  it("runs what it is given one after the other, waits without an end, and ends with the first run that fails", async () => {
    const begun = Date.now()
    const text = `import { holdTether, runTethered } from ${JSON.stringify(module)}
      const exitCode = await runTethered(holdTether("${begun + tetherMs}"), async (args, { PLACE }) => {
        console.log(process.pid, PLACE, ...args)
        return args.includes("bad") ? 3 : 0
      })
      process.exit(exitCode)`
    const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    let stdout = ""
    child.stdout.on("data", (chunk) => (stdout += chunk))
    const ended = new Promise((resolve) => child.once("close", resolve))
    const begin = (place: string, arg: string) =>
      child.stdin.write(
        `${JSON.stringify({ args: ["sync", arg], environment: { PLACE: place }, until: Date.now() + tetherMs })}\n`
      )
    // The first one comes before the process is ready for it.
    begin("first", "good")
    // Longer than a run may be silent.
    await new Promise((resolve) => setTimeout(resolve, tetherMs + 1000))
    begin("second", "bad")
    assert.strictEqual(await ended, 3)
    assert.strictEqual(stdout, `${child.pid} first sync good\n${finishedLine}\n${child.pid} second sync bad\n`)
  })
})
