/**
 * Work under faults: sequences that are drawn from a seed, of orders from two browsers, kills of processes and servers, restarts
 * and a full disk. A program of the shell keeps a diary on another disk; at the end, what the server knows agrees with it.
 */
import { afterAll, assert, describe, it, onTestFinished } from "@effect/vitest"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { isRunning } from "../../src/output/lock.ts"
import type { Job, Order } from "../../src/run/work.ts"
import { randomFrom } from "../support/random.ts"
import { smallDisk, unmount } from "../support/small-disk.ts"
import { newFolder } from "../support/sluice.ts"
import type { Asked, Said } from "./programs/work.ts"

type Known = Job["record"]
type Question = Asked extends infer One ? (One extends unknown ? Omit<One, "id"> : never) : never

/** What one piece of work does, and whose name is in its arguments. */
interface Piece {
  readonly name: string
  readonly task: string
  readonly isWriting: boolean
  readonly isPrivate: boolean
  readonly ms: number
  readonly exitCode: number
  readonly outBytes: number
  readonly logLines: number
  readonly ignoresSignals: boolean
}
type Action =
  | { readonly kind: "start" | "startTwice" | "startAndKill"; readonly piece: Piece; readonly ms: number }
  | { readonly kind: "stop" | "killProcess"; readonly which: number }
  | { readonly kind: "killServer" | "restart" | "fill" | "free" }
  | { readonly kind: "wait"; readonly ms: number }

const kinds =
  "start,start,start,start,startTwice,startTwice,startAndKill,stop,killProcess,killServer,restart,fill,free,free"
const drawn = (seed: number, count: number): ReadonlyArray<Action> => {
  const random = randomFrom(seed)
  const oneOf = <A>(choices: ReadonlyArray<A>): A => choices[Math.floor(random() * choices.length)]!
  const pieceOf = (index: number): Piece => ({
    name: `n${index}x`,
    ...oneOf([1, 2, 3, 4].map((task) => ({ task: `task-${task}`, isWriting: task < 3 }))),
    isPrivate: random() < 0.2,
    ms: oneOf([0, 0, 50, 300, 1500]),
    exitCode: oneOf([0, 0, 3, 75]),
    outBytes: oneOf([0, 100, 300_000, 2_000_000]),
    logLines: oneOf([0, 1, 20_000]),
    ignoresSignals: random() < 0.2
  })
  return Array.from({ length: count }, (_, index): Action => {
    const kind = oneOf([...kinds.split(","), "wait", "wait"]) as Action["kind"]
    switch (kind) {
      case "start":
      case "startTwice":
      case "startAndKill":
        return { kind, piece: pieceOf(index), ms: oneOf([0, 1, 3, 10, 30]) }
      case "stop":
      case "killProcess":
        return { kind, which: Math.floor(random() * 5) }
      case "wait":
        return { kind, ms: oneOf([20, 200, 600]) }
      default:
        return { kind }
    }
  })
}

const program = (diary: string) => {
  const path = join(newFolder(), "program")
  const said = `'{"schema":"sluice/events/1","time":"2027-01-01T00:00:00Z","event":"finished","exitCode":'$3',"result":{"schema":"s","exitCode":'$3',"data":"'`
  const script = `#!/bin/sh
if [ "$6" = true ]; then trap '' TERM; else trap 'echo "ended $1 143" >> ${diary}; exit 143' TERM; fi
echo "begun $1" >> ${diary}
yes 'level=info message="one of many lines"' | head -n $5 >&2
sleep $2 & wait $!
printf '%s' ${said}; head -c $4 /dev/zero | tr '\\0' x; echo '"}}'
echo "ended $1 $3" >> ${diary}
exit $3
`
  writeFileSync(path, script)
  chmodSync(path, 0o700)
  return path
}

/** Takes all that is left of a disk, where others may write meanwhile. */
const fill = (file: string) => {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(1_000_000), { flag: "a" })
  } catch {}
}

/** A process with the work of a folder. */
const opened = async (folder: string, path: string) => {
  const module = fileURLToPath(new URL("programs/work.ts", import.meta.url))
  const child: ChildProcess = fork(module, [folder, path], { execArgv: [] })
  const ends: Array<string> = []
  const waiting = new Map<number, (answer: unknown) => void>()
  let asked = 0
  child.on("message", (said: Said) => {
    if ("ended" in said) ends.push(said.ended)
    else waiting.get(said.id)?.(said.answer)
  })
  const exited = once(child, "exit")
  await new Promise((resolve) => waiting.set(0, resolve))
  /** Without an answer once the process is gone. */
  const ask = async (what: Question): Promise<unknown> => {
    const id = ++asked
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    child.send({ ...what, id }, () => {})
    return Promise.race([answered, exited.then(() => undefined)])
  }
  return {
    ends,
    start: (order: Order) => ask({ kind: "start", order }) as Promise<string | null | undefined>,
    all: async () => ((await ask({ kind: "all" })) ?? []) as ReadonlyArray<Known>,
    stop: (job: string) => ask({ kind: "stop", job }),
    close: () => ask({ kind: "close" }).then(() => exited),
    kill: () => {
      child.kill("SIGKILL")
      return exited
    },
    /** Its most memory so far, where the system says it. */
    megabytes: () => {
      const file = `/proc/${child.pid}/status`
      return existsSync(file) ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1024 : 0
    }
  }
}

const disk = smallDisk(120)
afterAll(() => disk && unmount(disk))

const orderOf = ({ exitCode, ignoresSignals, isPrivate, isWriting, logLines, ms, name, outBytes, task }: Piece) => ({
  task,
  title: task,
  by: "console" as const,
  isWriting,
  isPrivate,
  isPlanOnly: false,
  hasEvents: true,
  args: [name, ms / 1000, exitCode, outBytes, logLines, ignoresSignals].map(String)
})

/** Plays a sequence, and returns what does not hold. */
const played = async (actions: ReadonlyArray<Action>): Promise<ReadonlyArray<string>> => {
  const folder = disk === undefined ? newFolder() : join(disk, "console")
  rmSync(folder, { recursive: true, force: true })
  const filling = join(disk ?? newFolder(), "filling")
  const diary = join(newFolder(), "diary")
  writeFileSync(diary, "")
  const path = program(diary)
  const wrong: Array<string> = []
  const claim = (holds: boolean, text: string) => void (holds || wrong.push(text))
  const pieces = new Map<string, Piece>()
  /** Pieces that a signal may have ended, and those whose output the disk may have refused. */
  const [signalled, unwritten] = [new Set<string>(), new Set<string>()]
  let isFull = false
  let server = await opened(folder, path)

  const nameOf = ({ line }: Pick<Known, "line">) => line.split(" ")[1]!
  const running = async () => (await server.all()).filter(({ endedAt }) => endedAt === undefined)
  const isInTheWay = (one: Known, { isWriting, task }: Piece) => (isWriting ? one.isWriting : one.task === task)
  const isWhole = () => {
    claim(server.megabytes() < 200, `the server took ${server.megabytes()} MB`)
    claim(new Set(server.ends).size === server.ends.length, "an end was told twice")
  }
  const mark = async (set: Set<string>) => {
    for (const record of await running()) set.add(nameOf(record))
  }
  const again = async () => (server = await opened(folder, path))

  const act = async (action: Action): Promise<void> => {
    switch (action.kind) {
      case "start":
      case "startTwice":
      case "startAndKill": {
        const { piece } = action
        const isFree = !(await running()).some((one) => isInTheWay(one, piece))
        const browsers = action.kind === "startTwice" ? [piece, { ...piece, name: `${piece.name}y` }] : [piece]
        for (const one of browsers) {
          pieces.set(one.name, one)
          if (isFull) unwritten.add(one.name)
        }
        const started = Promise.all(browsers.map((one) => server.start(orderOf(one))))
        if (action.kind === "startAndKill") {
          await sleep(action.ms)
          isWhole()
          await server.kill()
          await again()
        } else if (isFree) {
          const accepted = (await started).filter(Boolean).length
          claim(accepted === 1 || (isFull && accepted > 0), `${accepted} of ${browsers.length} starts were accepted`)
        }
        await started
        return
      }
      case "stop":
      case "killProcess": {
        const record = (await running())[action.which]
        if (record === undefined) return
        signalled.add(nameOf(record))
        if (action.kind === "stop") await server.stop(record.id)
        else if (isRunning(record.pid, record.started)) {
          process.kill(record.pid, "SIGKILL")
          while (isRunning(record.pid, record.started)) await sleep(2)
          writeFileSync(diary, `gone ${nameOf(record)}\n`, { flag: "a" })
        }
        return
      }
      case "killServer":
        isWhole()
        await server.kill()
        await again()
        return
      case "restart":
        isWhole()
        await mark(signalled)
        await server.close()
        await again()
        return
      case "fill":
        if (disk === undefined) return
        isFull = true
        fill(filling)
        await mark(unwritten)
        return
      case "free":
        await mark(unwritten)
        isFull = false
        rmSync(filling, { force: true })
        return
      case "wait":
        return sleep(action.ms).then(() => {})
    }
  }
  // A server that stays would work in the folder of the next sequence.
  onTestFinished(async () => void (await server.kill()))
  for (const action of actions) await act(action)
  await act({ kind: "free" })
  await act({ kind: "killServer" })
  for (let tries = 0; tries < 400 && (await running()).length > 0; tries++) await sleep(50)
  claim((await running()).length === 0, "work does not end")
  await act({ kind: "killServer" })
  const known = await server.all()
  isWhole()
  await server.close()

  const lines = readFileSync(diary, "utf8").trim().split("\n").filter(Boolean)
  const at = new Set<string>()
  const ends = new Map<string, number>()
  for (const line of lines) {
    const [what, name = "", code] = line.split(" ")
    if (what !== "begun") at.delete(name)
    if (what === "ended") ends.set(name, Number(code))
    if (what !== "begun") continue
    const piece = pieces.get(name)!
    for (const other of [...at].map((one) => pieces.get(one)!))
      claim(!(piece.isWriting && other.isWriting) && piece.task !== other.task, `${name} ran beside ${other.name}`)
    at.add(name)
  }
  const begun = lines.filter((line) => line.startsWith("begun "))
  claim(new Set(begun).size === begun.length, "something was done twice")
  const byName = new Map(known.map((record) => [nameOf(record), record]))
  claim(byName.size === known.length, "something is known twice")
  for (const [name, { exitCode, isPrivate }] of pieces) {
    const found = byName.get(name)
    const hasBegun = begun.includes(`begun ${name}`)
    claim(!isPrivate || found === undefined, `${name} names a person, and is kept`)
    if (isPrivate) continue
    claim(found !== undefined || !hasBegun || unwritten.has(name), `${name} was done, and nobody knows it`)
    if (found === undefined) continue
    const end = ends.get(name)
    claim(found.exitCode !== 0 || end === 0, `${name} is said to be done, and is not`)
    const isDoubtful = signalled.has(name) || unwritten.has(name)
    claim(
      end === undefined || found.exitCode === end || isDoubtful,
      `${name} ended with ${end}, and is said to have ended with ${found.exitCode}`
    )
    claim(isDoubtful || !hasBegun || end === exitCode, `${name} has begun, and was ended by nobody`)
  }
  const ids = known.map(({ id }) => id)
  for (const file of readdirSync(folder))
    claim(
      ids.some((id) => file.startsWith(`job-${id}.`)),
      `${file} belongs to nothing`
    )
  return wrong
}

const agrees = async (seed: number, count: number) => {
  const actions = drawn(seed, count)
  const wrong = await played(actions)
  assert.deepStrictEqual(wrong, [], `seed ${seed}: ${JSON.stringify(actions)}`)
}

describe("work under faults", () => {
  it("agrees with its diary after a short sequence", () => agrees(1, 6))
  it.each(Array.from({ length: 12 }, (_, index) => 2 + index))(
    "agrees with its diary after the sequence of seed %i",
    { tags: ["slow"] },
    (seed) => agrees(seed, 30)
  )
})
