/** Runs sluice in a pseudo-terminal, and a model of what such a terminal shows. */
import { spawn } from "node:child_process"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Copies the terminal, which only Python has without a native module, to stdout and stdin to the terminal, as keys that a person presses; exits as the command does. */
const program = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[1]), int(sys.argv[2]), 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
sources = [terminal, 0]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b""
        if not data:
            sources.remove(source)
        elif source == 0:
            os.write(terminal, data)
        else:
            os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

export const launcher = fileURLToPath(new URL("../../sluice", import.meta.url))

export interface Session {
  readonly press: (keys: string) => void
  /** Waits until the output after the last match has a match. */
  readonly shows: (pattern: RegExp) => Promise<void>
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>
}

export const openTerminal = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  { columns, rows }: Size,
  cwd?: string
): Session => {
  const child = spawn("python3", ["-c", program, String(rows), String(columns), launcher, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env["PATH"], TERM: "xterm-256color", ...environment },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const chunks: Array<Buffer> = []
  child.stdout.on("data", (chunk) => chunks.push(chunk))
  let matched = 0
  return {
    shows: async (pattern) => {
      for (const end = Date.now() + 15_000; ;) {
        const output = Buffer.concat(chunks).toString()
        const match = pattern.exec(output.slice(matched))
        if (match) return void (matched += match.index + match[0].length)
        if (child.exitCode !== null || Date.now() > end) throw new Error(`there is no ${pattern} in ${output}`)
        await setTimeout(20)
      }
    },
    press: (keys) => void child.stdin.write(keys),
    ended: new Promise((resolve) =>
      child.once("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }))
    )
  }
}

const escape = "\u001b"
/** A control sequence, or a character. */
const parts = new RegExp(`${escape}\\[[\\d;]*[A-Za-z]|[^]`, "gu")

/** A terminal that understands what sluice writes, and fails on anything else. */
export class Screen {
  readonly #size: Size
  /** All lines since the beginning; the last `rows` of them are visible. */
  readonly lines: Array<string> = [""]
  #row = 0
  #column = 0

  constructor(size: Size) {
    this.#size = size
  }

  /** The first visible line. */
  get top(): number {
    return Math.max(0, this.lines.length - this.#size.rows)
  }

  get column(): number {
    return this.#column
  }

  write(output: string): this {
    for (const [part] of output.matchAll(parts)) this.#writePart(part)
    return this
  }

  #writePart(part: string): void {
    if (part === "\r") this.#column = 0
    else if (part === "\n") this.#down()
    else if (part.startsWith(`${escape}[`)) this.#control(part)
    else {
      if (part < " ") throw new Error(`unexpected control character ${JSON.stringify(part)}`)
      if (this.#column === this.#size.columns) {
        this.#column = 0
        this.#down()
      }
      const line = this.lines[this.#row]!.padEnd(this.#column)
      this.lines[this.#row] = line.slice(0, this.#column) + part + line.slice(this.#column + 1)
      this.#column++
    }
  }

  #down(): void {
    this.#row++
    if (this.#row === this.lines.length) this.lines.push("")
  }

  #control(sequence: string): void {
    const [count, kind] = [Number(sequence.slice(2, -1) || 1), sequence.at(-1)]
    if (kind === "m") return
    if (kind === "A") this.#row = Math.max(this.top, this.#row - count)
    else if (kind === "J") {
      this.lines[this.#row] = this.lines[this.#row]!.slice(0, this.#column)
      // The rows below stay, empty.
      for (let row = this.#row + 1; row < this.lines.length; row++) this.lines[row] = ""
    } else throw new Error(`unexpected control sequence ${JSON.stringify(sequence)}`)
  }
}
